"""Two models' treatment of the same groups: those on either leaderboard, and those that change most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import norm

from audits.comparison.intervals import Moved, People, mean_moved, share_moved
from audits.comparison.pairs import Kind, Pairing, Pairs, limit_on_rates, other_people, same_people
from audits.rule_sets.leaders.query import row_of
from audits.rule_sets.leaders.tables import read_counted, read_rules, words_of
from audits.rule_sets.measures.values import WORDS, values_of
from audits.rule_sets.result import MeasureResult, RuleSetsResult
from audits.rule_sets.text import GroupNames
from audits.stats import Estimate
from audits.subgroups.cells import Cells, memberships
from audits.subgroups.sums import GroupSums

_MORE = 5
_NO_VALUES = "each person's value is not kept: run both models in one run"
_Results = tuple[RuleSetsResult, RuleSetsResult]
_Values = tuple[np.ndarray, np.ndarray]


def compare(first: RuleSetsResult, second: RuleSetsResult, subjects: Any = None) -> Pairing:
    """Return how groups' differences from those they are compared with moved; see `audits.comparison.pairs`.

    A group is shown because it is on a leaderboard, or changed most of all: the correction is for all groups
    looked at, by every measure. Measures of error are taken of each person again, where both subjects are at
    hand.
    """
    if not (same_people(first.people, second.people) and first.people["cell"].equals(second.people["cell"])):
        return other_people()
    sizes = _sizes(first)
    if sizes is None:
        return Pairing(why={"": "people represent others, and the table does not say how many"})
    both, names = (first, second), GroupNames(second)
    favored = [result.people["favorable"].to_numpy(dtype=bool) for result in both]
    pairs = Pairs(People.counted(sizes), **limit_on_rates(second.options, sizes, favored))
    measured = _measured(both, subjects)
    looked_at = max(first.n_distinct, second.n_distinct, 1)
    looked_at += sum(max(each.family for each in pair) for pair, _ in measured)
    level = float(second.options["level"]) / looked_at
    changed = favored[1].astype(float) - favored[0]
    own = first.leaderboard, second.leaderboard
    for number in _groups_of_both(both, own, sizes, changed, level, in_context=True):
        _pair_decisions(pairs, number, names, both)
    why = {"": "see the change in each group's difference"}
    why |= {f"measures[{each.name}]": _NO_VALUES for each in first.measures}
    for pair, values in measured:
        why.pop(f"measures[{pair[0].name}]")
        boards = pair[0].leaderboard, pair[1].leaderboard
        for number in _groups_of_both(both, boards, sizes, values[1] - values[0], level):
            rule_set, inside, _ = _sides(both, number)
            group = rule_set, names(rule_set)
            _pair_measure(pairs, pair, group, inside, values, second.options["material"])
    return pairs.pairing(looked_at=looked_at, why=why)


def _measured(both: _Results, subjects: Any) -> list[tuple[_Measures, _Values]]:
    """Return the measures that both results have, with every person's values."""
    found = []
    for before in both[0].measures:
        after = next((each for each in both[1].measures if each.measure == before.measure), None)
        values = None if after is None else _values(before.measure, both, subjects)
        if after is not None and values is not None:
            found.append(((before, after), values))
    return found


def _groups_of_both(
    both: _Results,
    boards: Sequence[Sequence[Any]],
    sizes: np.ndarray,
    changed: np.ndarray,
    level: float,
    *,
    in_context: bool = False,
) -> list[int]:
    """Return the numbers of the rule sets that are compared: those on either leaderboard, and further ones.

    Of all groups, those whose difference changed most surely, and those where it may have changed most: none
    changes unseen because neither model treats it worst.

    Parameters
    ----------
    changed : array (n,)
        How much each row's value changed; NaN where it is not known.
    """
    cells, table = read_counted(both[1]), both[1].rule_sets
    known = np.where(np.isfinite(changed), sizes, 0.0)
    each = [known * np.nan_to_num(changed) ** power for power in (0, 1, 2)]
    sums = np.column_stack([np.bincount(cells.row_cell, part, len(cells.n)) for part in each])
    rules = read_rules(table)
    patterns, place = np.unique(_context(cells, rules, all_free=not in_context), axis=0, return_inverse=True)
    inside, whole = GroupSums(cells, rules).of(sums), GroupSums(cells, patterns).of(sums)[place.reshape(-1)]
    moved, spread = np.zeros(len(table)), np.zeros(len(table))
    for sign, part in ((1.0, inside), (-1.0, whole - inside)):
        n, total, squares = np.maximum(part.T, [[1e-9], [-np.inf], [0.0]])
        moved += sign * total / n
        spread += ((squares + 1.0) / n - (total / n) ** 2) / n  # that nobody changed does not say none would
    reach = float(norm.isf(level / 2)) * np.sqrt(np.maximum(spread, 0.0))
    most = [np.argsort(-(np.abs(moved) + sign * reach), kind="stable")[:_MORE] for sign in (-1.0, 1.0)]
    named = [row.number for board in boards for row in board]
    return list(dict.fromkeys([*named, *table.index[np.concatenate(most)].tolist()]))


def _context(cells: Cells, rules: np.ndarray, *, all_free: bool = False) -> np.ndarray:
    """Return the rules (S, m) of those among whom a group is compared: its own by ordinary columns."""
    return np.where([all_free or each.protected for each in cells.attributes], -1, rules)


def _sides(both: _Results, number: int) -> tuple[str, np.ndarray, np.ndarray]:
    """Return a group's rules in words, who is in it, and who else is in its context, bool (n,) each."""
    result = next(each for each in both if number in each.rule_sets.index)
    cells, row = read_counted(result), result.rule_sets.loc[[number]]
    rules = read_rules(row)
    inside, whole = (memberships(cells, each)[0][cells.row_cell] for each in (rules, _context(cells, rules)))
    return words_of(cells.attributes, row)[0], inside, whole & ~inside


def _pair_decisions(pairs: Pairs, number: int, names: GroupNames, both: _Results) -> None:
    """Pair a group's favorable share, and how far it lies from that of those it is compared with."""
    rule_set, inside, others = _sides(both, number)
    favored = [result.people["favorable"].to_numpy(dtype=bool) for result in both]
    own, rest = (share_moved(pairs.people, *((part, side) for side in favored)) for part in (inside, others))
    told = [_group_estimates(pairs.people, result, number, inside, others) for result in both]
    gaps, shares = zip(*told, strict=True)
    place, who = f"leaderboard[{rule_set}]", names(rule_set)
    whom = "everyone else" if (inside | others).all() else "the others in the same context"
    words = f"gap in favorable decisions between {who} and {whom}"
    pairs.gap(f"{place}.difference", words, gaps, rest, own)
    pairs.add(f"{place}.favorable_in", f"favorable share of {who}", shares, own, "share")


def _group_estimates(
    people: People, result: RuleSetsResult, number: int, inside: np.ndarray, others: np.ndarray
) -> tuple[Estimate, Estimate]:
    """Return a group's difference and favorable share as a result states them, or measured here."""
    if number in result.rule_sets.index:
        row = row_of(result, number)
        return row.difference, row.favorable_in
    favored = result.people["favorable"].to_numpy(dtype=float)
    own, rest = (_mean(people, part, favored) for part in (inside, others))
    return _apart(own, rest), own


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
    own, rest = (_mean_moved(pairs.people, part, values, share=second.share) for part in (inside, ~inside))
    told = [
        _measure_estimates(pairs.people, each, rule_set, inside, side)
        for each, side in zip(both, values, strict=True)
    ]
    gaps, within, outside = zip(*told, strict=True)
    how: dict[str, Any] = {"kind": "gap" if second.share else "number", "judged": True}
    how["material"] = material if scaled else 0.0
    words = f"gap in {what} between {who} and everyone else"
    pairs.gap(f"{place}.difference", words, gaps, rest, own, **how)
    pairs.add(f"{place}.inside", f"{what} of {who}", within, own, kind)
    pairs.add(f"{place}.outside", f"{what} of everyone but {who}", outside, rest, kind)


def _measure_estimates(
    people: People, result: MeasureResult, rule_set: str, inside: np.ndarray, values: np.ndarray
) -> tuple[Estimate, Estimate, Estimate]:
    """Return a group's difference, and the means in it and outside, as its leaderboard or measured here."""
    row = next((row for row in result.leaderboard if row.rule_set == rule_set), None)
    if row is not None:
        return row.difference, row.inside, row.outside
    own, rest = (_mean(people, part, values) for part in (inside, ~inside))
    return _apart(own, rest), own, rest


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
