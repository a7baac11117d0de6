"""Verdicts on groups: each follows from the one interval that is stated, corrected for all comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from audits.groups.metrics import METRICS
from audits.groups.result import Difference, GroupRow
from audits.stats import INSUFFICIENT, Estimate, Judged, judge, worst_of
from audits.stats.intervals import cautious_difference, cautious_p
from audits.stats.power import times_to_settle

__all__ = ["judge_audit", "judge_difference", "judge_row", "most_telling", "times_needed"]

_NOBODY = "there is nobody to compare in one of the two groups"


def judge_difference(
    first: tuple[float, float],
    second: tuple[float, float],
    people: float,
    *,
    material: float,
    level: float,
) -> Difference:
    """Judge a group's rate minus its reference's.

    Parameters
    ----------
    first, second : (float, float)
        People counted, and of how many, in the group and in the reference.
    people : float
        Everyone in the group: `people_needed` is as many of them.
    level : float
        Error rate of this interval, corrected for all that are looked at.
    """
    gap = cautious_difference(*first, *second, level=level)
    judged = judge(gap, immaterial=(-material, material), level=level, reason=_reason(gap))
    if judged.verdict == INSUFFICIENT and not judged.reason:
        times = times_needed(first, second, material=material, level=level)
        judged = replace(judged, people_needed=None if times is None else math.ceil(times * people))
    return Difference(gap, judged.verdict, judged.people_needed, judged.material, judged.reason)


def _reason(gap: Estimate) -> str:
    return _NOBODY if gap.value is None else ""


def times_needed(
    first: tuple[float, float], second: tuple[float, float], *, material: float, level: float
) -> float | None:
    """Return how many times as many people of the same rates settle it; None where none would."""

    def length(times: float) -> float:
        (a, n), (b, m) = first, second
        gap = cautious_difference(times * a, times * n, times * b, times * m, level=level)
        return math.inf if gap.low is None or gap.high is None else gap.high - gap.low

    return times_to_settle(length, material)


def judged_of(gap: Difference, material: float) -> Judged:
    """Return all that the verdict on a difference follows from."""
    return Judged(
        verdict=gap.verdict,
        interval=gap.estimate,
        immaterial_low=-material,
        immaterial_high=material,
        material=gap.material,
        people_needed=gap.people_needed,
        reason=gap.reason,
    )


def judge_row(differences: dict[str, Difference], material: float) -> Judged:
    """Return what the verdict on a group rests on, among its rates."""
    return worst_of(judged_of(gap, material) for gap in differences.values())


def judge_audit(table: Sequence[GroupRow], material: float, looks: int) -> Judged:
    """Return what the audit's verdict rests on: the difference that `most_telling` names.

    Its p-value is the smallest error rate of the audit, of all its `looks` together, at which the interval
    leaves out 0.
    """
    row, reference, rate = most_telling(table)
    counts = []
    for group in (row, reference):
        share = group.metric(rate)
        assert share is not None  # noqa: S101  (judged rates are always counted)
        counts += [(share.value or 0.0) * share.n, share.n]
    p = cautious_p(*counts)
    judged = judged_of(row.differences[rate], material)
    return replace(judged, p_value=None if p is None else min(1.0, looks * p))


def most_telling(table: Sequence[GroupRow]) -> tuple[GroupRow, GroupRow, str]:
    """Return the group and the rate that the audit's verdict rests on, and the reference.

    Selection rates come first; another rate is told where it alone has that verdict.
    """
    parts = [
        (row, name, judged_of(gap, 1.0))
        for row in table
        if not row.is_reference
        for name, gap in row.differences.items()
    ]
    worst = worst_of(judged for *_, judged in parts)
    first = next(metric.name for metric in METRICS if metric.judged)
    plain = worst_of(judged for _, name, judged in parts if name == first)
    if (plain.verdict, plain.material) == (worst.verdict, worst.material):
        worst = plain
    row, name = next((row, name) for row, name, judged in parts if judged is worst)
    reference = next(item for item in table if item.is_reference and item.attribute == row.attribute)
    return row, reference, name
