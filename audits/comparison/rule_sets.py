"""Two models' treatment of the same groups: every group that either leaderboard names, under both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from audits.comparison.intervals import Moved, People, mean_moved, share_moved
from audits.comparison.pairs import Kind, Pairing, Pairs, limit_on_rates, other_people, same_people
from audits.rule_sets.leaders.query import members
from audits.rule_sets.measures.values import WORDS, values_of
from audits.rule_sets.result import LeaderRow, MeasureResult, RuleSetsResult
from audits.rule_sets.text import GroupNames
from audits.stats import Estimate, wilson
from audits.stats.intervals import cautious_difference

_NO_VALUES = "each person's value is not kept: run both models in one run"
_Results = tuple[RuleSetsResult, RuleSetsResult]
_Values = tuple[np.ndarray, np.ndarray]


def compare(first: RuleSetsResult, second: RuleSetsResult, subjects: Any = None) -> Pairing:
    """Return how groups' differences from everyone else moved; see `audits.comparison.pairs`.

    A group is on a leaderboard because it looked worst of all: the correction is for all groups looked at, by
    every measure. Measures of error are taken of each person again, where both subjects are at hand.
    """
    if not (same_people(first.people, second.people) and first.people["cell"].equals(second.people["cell"])):
        return other_people()
    sizes = _sizes(first)
    if sizes is None:
        return Pairing(why={"": "people represent others, and the table does not say how many"})
    both, names = (first, second), GroupNames(second)
    favored = [result.people["favorable"].to_numpy(dtype=bool) for result in both]
    pairs = Pairs(People.counted(sizes), **limit_on_rates(second.options, sizes, favored))
    for row, inside in _groups_of_both(both, (first.leaderboard, second.leaderboard)):
        _pair_decisions(pairs, (row.rule_set, names(row.rule_set)), inside, both, sizes)
    looked_at = max(first.n_distinct, second.n_distinct, 1)
    why = {"": "see the change in each group's difference"}
    for before in first.measures:
        after = next((each for each in second.measures if each.measure == before.measure), None)
        values = None if after is None else _values(before.measure, both, subjects)
        if after is None or values is None:
            why[f"measures[{before.name}]"] = _NO_VALUES
            continue
        looked_at += max(before.family, after.family)
        for row, inside in _groups_of_both(both, (before.leaderboard, after.leaderboard)):
            group = row.rule_set, names(row.rule_set)
            _pair_measure(pairs, (before, after), group, inside, values, second.options["material"])
    return pairs.pairing(looked_at=looked_at, why=why)


def _groups_of_both(
    both: _Results, boards: Sequence[Sequence[Any]]
) -> Iterator[tuple[LeaderRow, np.ndarray]]:
    """Yield every group that either leaderboard names, once, and who is in it (n,)."""
    seen = set[str]()
    for result, board in zip(both, boards, strict=True):
        for row in board:
            if row.rule_set not in seen:
                seen.add(row.rule_set)
                yield row, members(result, row.number)


def _pair_decisions(
    pairs: Pairs, group: tuple[str, str], inside: np.ndarray, both: _Results, sizes: np.ndarray
) -> None:
    """Pair a group's favorable share, and how far it lies from everyone else's, named in two ways."""
    rule_set, who = group
    favored = [result.people["favorable"].to_numpy(dtype=bool) for result in both]
    own, rest = (share_moved(pairs.people, *((part, side) for side in favored)) for part in (inside, ~inside))
    gaps, shares = zip(*(_group_estimates(result, rule_set, inside, sizes) for result in both), strict=True)
    place = f"leaderboard[{rule_set}]"
    words = f"gap in favorable decisions between {who} and everyone else"
    pairs.gap(f"{place}.difference", words, gaps, rest, own)
    pairs.add(f"{place}.favorable_in", f"favorable share of {who}", shares, own, "share")


def _group_estimates(
    result: RuleSetsResult, rule_set: str, inside: np.ndarray, sizes: np.ndarray
) -> tuple[Estimate, Estimate]:
    """Return a group's difference and favorable share as a result states them, or measured here."""
    for row in result.leaderboard:
        if row.rule_set == rule_set:
            return row.difference, row.favorable_in
    favored = result.people["favorable"].to_numpy(dtype=bool)
    counts = [float(sizes[part].sum()) for part in (inside & favored, inside, ~inside & favored, ~inside)]
    level = float(result.options["level"])
    return cautious_difference(*counts, level=level), wilson(counts[0], counts[1], level=level)


def _values(name: str, both: _Results, subjects: Any) -> _Values | None:
    """Return a measure of every person with either model (n,), NaN for those whom it is not about."""
    if subjects is None or name not in WORDS:
        return None
    found = np.full((2, len(both[0].people)), np.nan)
    for values, subject, result in zip(found, subjects, both, strict=True):
        if not subject.data.everyone.frame.index.equals(result.people.index):
            return None
        known = values_of(subject, name)
        values[: len(known)] = known  # people without a label come last
    return found[0], found[1]


_Measures = tuple[MeasureResult, MeasureResult]


def _pair_measure(
    pairs: Pairs,
    both: _Measures,
    group: tuple[str, str],
    inside: np.ndarray,
    values: _Values,
    material: float,
) -> None:
    """Pair a measure within a group and outside it, and how far the two lie apart."""
    second, (rule_set, who) = both[1], group
    # a loss has no scale on which a size that matters could be known
    scaled = second.share or second.measure == "calibration_error"
    place = f"measures[{second.name}].leaderboard[{rule_set}]"
    what = second.name[0].lower() + second.name[1:]
    kind: Kind = "share" if second.share else "number"
    parts = {"inside": inside, "outside": ~inside}
    moved = {key: _mean_moved(pairs.people, part, values, share=second.share) for key, part in parts.items()}
    rows = [next((own for own in each.leaderboard if own.rule_set == rule_set), None) for each in both]
    told: dict[str, list[Estimate]] = {
        key: [
            _mean(pairs.people, part, side) if own is None else getattr(own, key)
            for own, side in zip(rows, values, strict=True)
        ]
        for key, part in parts.items()
    }
    gaps = [
        _apart(within, rest) if own is None else own.difference
        for own, within, rest in zip(rows, told["inside"], told["outside"], strict=True)
    ]
    how: dict[str, Any] = {"kind": "gap" if second.share else "number", "judged": True}
    how["material"] = material if scaled else 0.0
    words = f"gap in {what} between {who} and everyone else"
    pairs.gap(f"{place}.difference", words, gaps, moved["outside"], moved["inside"], **how)
    for key, whose in (("inside", who), ("outside", f"everyone but {who}")):
        pairs.add(f"{place}.{key}", f"{what} of {whose}", told[key], moved[key], kind)


def _apart(own: Estimate, rest: Estimate) -> Estimate:
    """Return a group's difference, without an interval, where the leaderboard does not state it."""
    value = None if own.value is None or rest.value is None else own.value - rest.value
    return replace(own, value=value)


def _mean(people: People, part: np.ndarray, values: np.ndarray) -> Estimate:
    """Return the mean of a measure in a part of the people, without an interval."""
    sizes = np.bincount(people.rows, people.design.weights, len(values))
    known = part & ~np.isnan(values)
    n = float(sizes[known].sum())
    value = float(sizes[known] @ values[known]) / n if n else None
    return Estimate(value, None, None, n, "not on this model's leaderboard")


def _mean_moved(people: People, part: np.ndarray, values: _Values, *, share: bool) -> Moved:
    """How the mean of a measure moved in a part of the people; it can be about others with either model."""
    known = [part & ~np.isnan(each) for each in values]
    held = [np.where(mask, each, 0.0) for mask, each in zip(known, values, strict=True)]
    if share:
        return share_moved(people, (known[0], held[0]), (known[1], held[1]))
    return mean_moved(people, known[0] & known[1], *held)


def _sizes(result: RuleSetsResult) -> np.ndarray | None:
    """How many people each row stands for; None where that is not told."""
    if abs(result.n - len(result.people)) < 0.5:
        return np.ones(len(result.people))
    return result.people["people"].to_numpy(dtype=float) if "people" in result.people else None
