"""Verdicts on groups: each follows from the one interval that is stated, corrected for all comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from audits.data import named_with
from audits.data.values import MISSING
from audits.groups.metrics import METRICS
from audits.groups.result import AmountRow, Difference, GroupRow, GroupsResult
from audits.stats import EVIDENCE, INSUFFICIENT, Judgment, judge_conditions
from audits.stats.intervals import cautious_difference, cautious_p, share_ratio
from audits.stats.power import times_to_settle
from audits.stats.ratios import MIN_REFERENCE
from audits.stats.text import people_in
from audits.stats.verdicts import (
    FOUR_FIFTHS,
    VERDICTS,
    Condition,
    exceeds,
    on_ratio,
    outlasts_run,
    place_of_evidence,
)

Row = TypeVar("Row", GroupRow, AmountRow)

_NOBODY = "there is nobody to compare in one of the two groups"

MIN_COVERED = 50
"""People from which a group counts for an all-clear, even if it is less than 2% of all."""

RATIO = "ratio"
"""What decides where the ratio keeps a verdict open that the difference alone would settle."""


ASKED_FIRST = {
    "equal_rates": ("selection_rate",),
    "equal_errors": ("true_positive_rate", "false_positive_rate"),
    "calibration": ("precision",),
}
"""Rates that a measure asked for is about: they lead."""


@dataclass(frozen=True, kw_only=True)
class GroupLimit:
    """What is immaterial: a difference, a ratio of the two rates, or only what is both."""

    difference: float
    on_difference: bool = True
    on_ratio: bool = False

    @classmethod
    def of(cls, material: float, material_on: str, *, overall: float | None, decisions: bool) -> GroupLimit:
        """Return the limit of a rate whose value over all groups is `overall`; ratios are of decisions."""
        ratio = decisions and on_ratio(material_on, overall)
        return cls(difference=material, on_difference=material_on != "ratio" or not ratio, on_ratio=ratio)


def judge_difference(
    first: tuple[float, float],
    second: tuple[float, float],
    people: float,
    *,
    limit: GroupLimit,
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
    most = limit.difference if limit.on_difference else math.inf
    conditions = [Condition(name="average", interval=gap, immaterial=(-most, most))]
    ratio = None
    if limit.on_ratio:
        ratio = share_ratio(*first, *second, level=level)
        immaterial = (FOUR_FIFTHS, 1 / FOUR_FIFTHS)
        condition = Condition(name=RATIO, interval=ratio, immaterial=immaterial, none=1.0, accuses=False)
        conditions.append(condition)
    judged = judge_conditions(conditions, level=level, reason=_NOBODY if gap.value is None else "")
    if judged.verdict == INSUFFICIENT and not judged.reason:
        times = times_needed(first, second, limit=limit, level=level)
        judged = replace(judged, people_needed=None if times is None else math.ceil(times * people))
    return Difference(
        gap,
        judged.verdict,
        judged.people_needed,
        judged.material,
        judged.reason,
        ratio=ratio,
        decided_by=judged.decided_by,
        limit=None if limit.on_difference or not second[1] else (1 - FOUR_FIFTHS) * second[0] / second[1],
        outlasts_run=judged.verdict == EVIDENCE and outlasts_run(cautious_p(*first, *second), level),
    )


def times_needed(
    first: tuple[float, float], second: tuple[float, float], *, limit: GroupLimit, level: float
) -> float | None:
    """Return how many times as many people of the same rates settle it; None where none would."""

    def length(times: float) -> float:
        (a, n), (b, m) = first, second
        counts = times * a, times * n, times * b, times * m
        gap = cautious_difference(*counts, level=level)
        if gap.low is None or gap.high is None:
            return math.inf
        found = (gap.high - gap.low) / limit.difference if limit.on_difference else 0.0
        if limit.on_ratio:
            ratio = share_ratio(*counts, level=level)
            if not ratio.low or ratio.high is None:
                return math.inf
            found = max(found, math.log(ratio.high / ratio.low) / -math.log(FOUR_FIFTHS))
        return found

    return times_to_settle(length, 1.0)


def judged_of(gap: Difference, material: float) -> Judgment:
    """Return all that the verdict on a difference follows from."""
    by_ratio = gap.decided_by == RATIO and gap.ratio is not None
    low, high = (-material, material) if gap.limit is None else (-gap.limit, gap.limit / FOUR_FIFTHS)
    ends = gap.estimate.low, gap.estimate.high
    open_ratio = gap.ratio is not None and gap.material is None and gap.limit is None and None not in ends
    open_ratio = open_ratio and not any(exceeds(abs(end or 0.0), material) for end in ends)
    return Judgment(
        verdict=gap.verdict,
        interval=gap.ratio if by_ratio and gap.ratio is not None else gap.estimate,
        none_low=1.0 if by_ratio else 0.0,
        none_high=1.0 if by_ratio else 0.0,
        immaterial_low=FOUR_FIFTHS if by_ratio else low,
        immaterial_high=1 / FOUR_FIFTHS if by_ratio else high,
        material=gap.material,
        people_needed=gap.people_needed,
        reason=gap.reason,
        decided_by=gap.decided_by,
        limit_name=f"ratio of {FOUR_FIFTHS:g}" if open_ratio else "",
    )


def judge_row(differences: dict[str, Difference], material: float) -> Judgment:
    """Return what the verdict on a group rests on, among its rates (further metrics have their own)."""
    return judged_of(min(differences.values(), key=_rank), material)


def judge_audit(
    table: Sequence[GroupRow], material: float, looks: int, measure: str | None = None
) -> Judgment:
    """Return what the audit's verdict rests on: the difference that `most_telling` names.

    Its p-value is the smallest error rate of the audit, of all its `looks` together, at which the interval
    leaves out 0.
    """
    row, reference, rate = most_telling(table, measure)
    counts, sides = [], []
    for group in (row, reference):
        share = group.metric(rate)
        assert share is not None  # noqa: S101  (judged rates are always counted)
        counts += [(share.value or 0.0) * share.n, share.n]
        sides.append((share.n, f"{people_in(named_with(group.attribute, group.group))}{METRICS[rate].about}"))
    p = cautious_p(*counts)
    judged = replace(judged_of(row.differences[rate], material), p_value=p and min(1.0, looks * p))
    return settled_by(judged, sides, row.n)


def settled_by(judged: Judgment, sides: Sequence[tuple[float, str]], people: float) -> Judgment:
    """Return the judgment with how many of the smaller of two `sides` settle it, not of all `people`."""
    n, who = min(sides, key=lambda side: side[0])
    needed = judged.people_needed and math.ceil(round(judged.people_needed / people * n, 6))
    return replace(judged, people_needed=needed, people_of=who)


def most_telling(table: Sequence[GroupRow], measure: str | None = None) -> tuple[GroupRow, GroupRow, str]:
    """Return group, reference and rate that the audit's verdict rests on: the first of `by_importance`."""
    row, name = next(by_importance(table, measure))
    return row, reference_among(table, row), name


def lower_first(result: GroupsResult) -> tuple[GroupRow, GroupRow]:
    """Return the pair of `most_telling` as its sentence names it: first who has the lower rate."""
    row, reference, rate = most_telling(result.table, result.options.get("measure"))
    gap = row.differences[rate].estimate.value
    return (row, reference) if gap is None or gap <= 0 else (reference, row)


def by_importance(table: Sequence[GroupRow], measure: str | None = None) -> Iterator[tuple[GroupRow, str]]:
    """Yield groups with their rates: evidence first, by size against the limit, then by certainty.

    Where a `measure` is asked for, its rates stand before others of the same verdict. Of evidence, that which
    outlasts a run's correction comes first, or the audit would lose its verdict though other groups differ
    beyond doubt. Evidence of one size (outside the limit, inside it, neither) begins with decisions, before
    errors. Among what is insufficient
    the one nearest to evidence comes first, among no material differences the one nearest to the limit. Of a
    group too small to be covered only evidence counts. People whose group is missing are a group like others,
    behind those of the same verdict and size.
    """
    asked = ASKED_FIRST.get(measure or "", ())
    metrics = {metric.name: metric for metric in METRICS}
    told = [name for name, metric in metrics.items() if metric.judged or name in asked]

    def rank(name: str, gap: Difference, small: bool, missing: bool) -> tuple[float, ...] | None:
        if name not in told:
            return None
        behind = bool(asked) and name not in asked
        place = _rank(gap, small=small, second=metrics[name].needs_label, behind=behind, missing=missing)
        return *place, told.index(name)

    return ordered_by(table, rank)


def ordered_by(
    table: Sequence[Row], rank: Callable[[str, Difference, bool, bool], tuple[float, ...] | None]
) -> Iterator[tuple[Row, str]]:
    """Yield groups with what they are compared in.

    Parameters
    ----------
    rank : callable
        ``rank(name, difference, small, missing)`` returns the place of a difference among others, or None
        where it has none; `small` says whether its group is too small to be covered, `missing` whether it is
        of people whose group is not known.
    """
    people = {
        row.attribute: sum(each.n for each in table if each.attribute == row.attribute) for row in table
    }
    parts = []
    for row in table:
        small = row.n < min(MIN_COVERED, MIN_REFERENCE * people[row.attribute])
        for name, gap in row.differences.items():
            place = rank(name, gap, small, MISSING in row.group)
            if place is not None:
                parts.append(((place, -row.n), row, name))
    parts.sort(key=lambda part: part[0])
    yield from ((row, name) for _, row, name in parts)


def reference_among(table: Sequence[Row], row: Row) -> Row:
    """Return the group that another one of its attribute is compared with."""
    return next(each for each in table if each.is_reference and each.attribute == row.attribute)


def _rank(
    gap: Difference,
    *,
    small: bool = False,
    second: bool = False,
    behind: bool = False,
    missing: bool = False,
) -> tuple[float, ...]:
    """Order of differences: verdict, size against the limit, certainty."""
    low, high = gap.estimate.low, gap.estimate.high
    verdict = VERDICTS.index(gap.verdict)
    if low is None or high is None:
        return (len(VERDICTS) if small else verdict), behind, missing, True, math.inf, math.inf
    beyond = max(low, -high)  # of 0
    if gap.verdict == EVIDENCE:
        size = place_of_evidence(gap.material, outlasts=gap.outlasts_run)
        return verdict, behind, size, missing, second, -abs(gap.estimate.value or 0.0), -beyond
    withheld = bool(gap.reason) and beyond <= 0  # it would be no material difference: behind what is open
    if gap.verdict == INSUFFICIENT and withheld and not small:
        return verdict + 0.5, behind, missing, False, -max(high, -low), 0.0
    if gap.verdict == INSUFFICIENT:
        ratio = gap.decided_by == RATIO
        return len(VERDICTS) if small else verdict, behind, missing, ratio, -beyond, 0.0
    return verdict, behind, missing, False, -max(high, -low), 0.0
