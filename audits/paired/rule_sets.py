"""Two models' treatment of the same groups: every group that either leaderboard names, under both."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from audits.paired.moved import Moved, People, apart, mean_moved, share_moved
from audits.paired.pairing import Kind, Pairing, Row, other_people, same_people
from audits.rule_sets.leaders.query import members
from audits.rule_sets.measures.values import WORDS, values_of
from audits.rule_sets.result import LeaderRow, MeasureResult, MeasureRow, RuleSetsResult
from audits.stats import Estimate
from audits.stats.intervals import cautious_difference

__all__ = ["paired"]


def paired(first: RuleSetsResult, second: RuleSetsResult, subjects: Any = None) -> Pairing:
    """Return how groups' differences from everyone else moved; see `audits.paired.pairing`.

    A group is on a leaderboard because it looked worst of all: the correction is for all groups looked at, by
    every measure. Measures of error are taken of each person again, where both subjects are at hand.
    """
    same = same_people(first.people, second.people) and first.people["cell"].equals(second.people["cell"])
    if not same:
        return other_people()
    sizes = _sizes(first)
    if sizes is None:
        return Pairing(why={"": "people stand for others, and the table does not say for how many each"})
    people = People.counted(sizes)
    rows: list[Row] = []
    seen: set[str] = set()
    for result in (first, second):
        for row in result.leaderboard:
            if row.rule_set not in seen:
                seen.add(row.rule_set)
                rows += _rows(row, members(result, row.number), (first, second), people, sizes)
    looked_at = max(first.n_distinct, second.n_distinct, 1)
    why = {"": "see how the difference of each group moved"}
    for before in first.measures:
        after = next((each for each in second.measures if each.measure == before.measure), None)
        values = None if after is None else _values(before.measure, (first, second), subjects)
        if after is None or values is None:
            why[f"measures[{before.name}]"] = _NO_VALUES
            continue
        looked_at += max(before.family, after.family)
        rows += _measured((before, after), values, (first, second), people)
    return Pairing(tuple(rows), looked_at=looked_at, why=why)


_NO_VALUES = "what the measure is of each person is not kept: run both models in one run"


def _values(
    name: str, both: tuple[RuleSetsResult, RuleSetsResult], subjects: Any
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a measure of every person with either model (n,), NaN for those whom it is not about."""
    if subjects is None or name not in WORDS:
        return None
    if not all(
        subject.data.frame.index.equals(result.people.index)
        for subject, result in zip(subjects, both, strict=True)
    ):
        return None
    first, second = (np.asarray(values_of(each, name), dtype=float) for each in subjects)
    return first, second


def _measured(
    measures: tuple[MeasureResult, MeasureResult],
    values: tuple[np.ndarray, np.ndarray],
    both: tuple[RuleSetsResult, RuleSetsResult],
    people: People,
) -> Iterator[Row]:
    """Yield how far each group that either leaderboard of a measure names moved, beside everyone else."""
    second = measures[1]
    kind: Kind = "gap" if second.share else "number"
    # a loss has no scale on which a size that matters could be known
    scaled = second.share or second.measure == "calibration_error"
    material = float(both[1].options["material"]) if scaled else 0.0
    seen: set[str] = set()
    for result, measure in zip(both, measures, strict=True):
        for row in measure.leaderboard:
            if row.rule_set in seen:
                continue
            seen.add(row.rule_set)
            inside = members(result, row.number)
            parts = {"inside": inside, "outside": ~inside}
            moved = {
                key: _mean_moved(people, part, values, share=second.share) for key, part in parts.items()
            }
            place = f"measures[{second.name}].leaderboard[{row.rule_set}]"
            who, what = f"people with {row.rule_set}", second.name[0].lower() + second.name[1:]
            words = f"gap in {what} between {who} and everyone else"
            first, after = (
                _stated_gap(each, row.rule_set, people, inside, side)
                for each, side in zip(measures, values, strict=True)
            )
            gap = apart(moved["outside"], moved["inside"], people)
            yield Row(f"{place}.difference", words, first, after, gap, kind, material=material)
            of: Kind = "share" if second.share else "number"
            for key, words in (("inside", f"{what} of {who}"), ("outside", f"{what} of everyone but {who}")):
                first, after = (
                    _stated_mean(each, row.rule_set, key, people, parts[key], side)
                    for each, side in zip(measures, values, strict=True)
                )
                yield Row(f"{place}.{key}", words, first, after, moved[key], of, judged=False)


def _stated_gap(
    measure: MeasureResult, rule_set: str, people: People, inside: np.ndarray, values: np.ndarray
) -> Estimate:
    """Return a group's difference as the leaderboard states it, or measured here where it is not on it."""
    row = _measure_row(measure, rule_set)
    if row is not None:
        return row.difference
    own, rest = (_mean(people, part, values) for part in (inside, ~inside))
    value = None if own.value is None or rest.value is None else own.value - rest.value
    return dataclasses.replace(own, value=value)


def _stated_mean(
    measure: MeasureResult, rule_set: str, key: str, people: People, part: np.ndarray, values: np.ndarray
) -> Estimate:
    row = _measure_row(measure, rule_set)
    found: Estimate = _mean(people, part, values) if row is None else getattr(row, key)
    return found


def _mean(people: People, part: np.ndarray, values: np.ndarray) -> Estimate:
    """Return the mean of a measure in a part of the people, without an interval."""
    sizes = np.bincount(people.rows, people.design.weights, len(values))
    known = part & ~np.isnan(values)
    n = float(sizes[known].sum())
    value = float(sizes[known] @ values[known]) / n if n else None
    return Estimate(value, None, None, n, "not on this model's leaderboard")


def _mean_moved(
    people: People, part: np.ndarray, values: tuple[np.ndarray, np.ndarray], *, share: bool
) -> Moved:
    """How the mean of a measure moved in a part of the people; it can be about others with either model."""
    known = [part & ~np.isnan(each) for each in values]
    held = [np.where(mask, each, 0.0) for mask, each in zip(known, values, strict=True)]
    if share:
        return share_moved(people, (known[0], held[0]), (known[1], held[1]))
    return mean_moved(people, known[0] & known[1], *held)


def _measure_row(measure: MeasureResult, rule_set: str) -> MeasureRow | None:
    return next((row for row in measure.leaderboard if row.rule_set == rule_set), None)


def _rows(
    row: LeaderRow,
    inside: np.ndarray,
    both: tuple[RuleSetsResult, RuleSetsResult],
    people: People,
    sizes: np.ndarray,
) -> Iterator[Row]:
    before, after = (result.people["favorable"].to_numpy(dtype=bool) for result in both)
    own, rest = (share_moved(people, (part, before), (part, after)) for part in (inside, ~inside))
    place = f"leaderboard[{row.rule_set}]"
    stated = [_stated(result, row.rule_set, inside, sizes) for result in both]
    who = f"people with {row.rule_set}"
    words = f"gap in favorable decisions between {who} and everyone else"
    material = float(both[1].options["material"])
    moved = apart(rest, own, people)
    yield Row(f"{place}.difference", words, stated[0][0], stated[1][0], moved, "gap", material=material)
    yield Row(
        f"{place}.favorable_in", f"favorable share of {who}", stated[0][1], stated[1][1], own, "share",
        judged=False,
    )  # fmt: skip


def _stated(
    result: RuleSetsResult, rule_set: str, inside: np.ndarray, sizes: np.ndarray
) -> tuple[Estimate, Estimate]:
    """Return a group's difference and favourable share as a result states them, or measured here."""
    from audits.stats import wilson

    for row in result.leaderboard:
        if row.rule_set == rule_set:
            return row.difference, row.favorable_in
    favored = result.people["favorable"].to_numpy(dtype=bool)
    counts = [float(sizes[part].sum()) for part in (inside & favored, inside, ~inside & favored, ~inside)]
    level = float(result.options["level"])
    return cautious_difference(*counts, level=level), wilson(counts[0], counts[1], level=level)


def _sizes(result: RuleSetsResult) -> np.ndarray | None:
    """How many people each row stands for; None where that is not told."""
    if abs(result.n - len(result.people)) < 0.5:
        return np.ones(len(result.people))
    if "people" in result.people:
        return result.people["people"].to_numpy(dtype=float)
    return None
