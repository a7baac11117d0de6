"""What each condition of a rule set adds to its difference, and the broader and narrower groups around it.

The difference of a rule set is shared out among its conditions by their Shapley values: a condition's share
is the mean change of the difference when it joins the others, over all orders in which they can join. Shares
add up to the difference, a condition that never changes anything has none, and all subsets are counted, so
nothing is drawn.

References
----------
Shapley (1953), A value for n-person games; Pastor, de Alfaro, Baralis (2021), Looking for Trouble: Analyzing
Classifier Behavior via Pattern Divergence, SIGMOD, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb, factorial

import numpy as np
import pandas as pd

from audits.results import frame_of
from audits.rule_sets.leaders.tables import read_counted, read_rules
from audits.rule_sets.result import Contribution, RuleSetsResult
from audits.subgroups.attributes import rule_words
from audits.subgroups.cells import Cells
from audits.subgroups.scores import differences
from audits.subgroups.sums import GroupSums

MAX_CONDITIONS = 12  # 4,096 subsets
_MAX_BROADER = 15
_MAX_NARROWER = 5


def contributions(cells: Cells, rule_set: np.ndarray) -> np.ndarray:
    """Return what each condition of a rule set adds to its difference from everyone else, (k,).

    Parameters
    ----------
    cells : Cells
        Of any measure: people it is about, and sums of its values.
    rule_set : int array (m,)
        Rule of each attribute, -1 where it is free; the shares are of those that it has, in order.

    Returns
    -------
    array (k,)
        They add up to the difference; empty for more than 12 conditions.
    """
    used = np.flatnonzero(rule_set >= 0)
    k = len(used)
    if k > MAX_CONDITIONS:
        return np.empty(0)
    members = (np.arange(2**k)[:, None] >> np.arange(k)) & 1 > 0  # (2^k, k)
    worth = _differences(cells, _subsets(rule_set, used, members))
    size = members.sum(1)
    weight = np.array([factorial(s) * factorial(k - s - 1) / factorial(k) for s in range(k)])
    found = np.empty(k)
    for place in range(k):
        without = np.flatnonzero(~members[:, place])
        found[place] = weight[size[without]] @ (worth[without | 1 << place] - worth[without])
    return found


def stated_contributions(cells: Cells, rule_set: np.ndarray) -> tuple[Contribution, ...]:
    """Return what each condition of a rule set adds to its difference, in words and numbers."""
    shares = contributions(cells, rule_set)
    used = np.flatnonzero(rule_set >= 0)[: len(shares)]
    return tuple(
        Contribution(cells.attributes[place].words[rule_set[place]], float(value))
        for place, value in zip(used, shares, strict=True)
    )


def contributions_of(result: RuleSetsResult, number: int, measure: str | None = None) -> pd.DataFrame:
    """Return each condition of row `number` of the rule-set table and its share of the difference."""
    chosen = read_rules(result.rule_sets.loc[[number]])[0]
    found = stated_contributions(read_counted(result, measure), chosen)
    return frame_of(found, {"condition": "condition", "contribution": "value"})


def lattice(result: RuleSetsResult, number: int, measure: str | None = None) -> pd.DataFrame:
    """Return the broader and narrower groups around row `number` of the rule-set table.

    Parameters
    ----------
    measure : str, optional
        One of the result's measures; favorable decisions where it is left out.

    Returns
    -------
    DataFrame
        From broad to narrow: ``rule_set``, ``conditions``, ``step`` ("broader", "this group", "narrower"),
        ``n_in`` (people inside whom the measure is about), ``difference`` from everyone else, and
        ``broader``: positions of the rows that leave out one of its conditions. Of a rule set of many
        conditions only the nearest and the broadest are kept; narrower ones are those with one condition
        more that differ most.
    """
    cells = read_counted(result, measure)
    chosen = read_rules(result.rule_sets.loc[[number]])[0].astype(np.int64)
    used = np.flatnonzero(chosen >= 0)
    rows = [*_broader(chosen, used), chosen, *_narrower(result, cells, chosen)]
    table = np.array(rows)
    n = GroupSums(cells, table).of(cells.n[:, None])[:, 0]
    held = [{(place, rule) for place, rule in enumerate(row) if rule >= 0} for row in table.tolist()]
    steps = ["broader" if len(each) < len(used) else "narrower" for each in held]
    steps[len(rows) - 1 - sum(len(each) > len(used) for each in held)] = "this group"
    return pd.DataFrame(
        {
            "rule_set": rule_words(cells.attributes, table),
            "conditions": [len(each) for each in held],
            "step": steps,
            "n_in": n,
            "difference": _differences(cells, table),
            "broader": [
                [place for place, other in enumerate(held) if other < each and len(each) - len(other) == 1]
                for each in held
            ],
        }
    )


def _broader(chosen: np.ndarray, used: np.ndarray) -> list[np.ndarray]:
    """Rule sets with some of the conditions, fewest first; the middle is left out where there are many."""
    sizes = list(range(1, len(used)))
    while sum(comb(len(used), size) for size in sizes) > _MAX_BROADER and len(sizes) > 2:
        sizes.pop(len(sizes) // 2)
    return [_only(chosen, kept) for size in sizes for kept in combinations(used, size)]


def _only(chosen: np.ndarray, kept: Sequence[int]) -> np.ndarray:
    rules = np.full(len(chosen), -1, dtype=np.int64)
    rules[list(kept)] = chosen[list(kept)]
    return rules


def _narrower(result: RuleSetsResult, cells: Cells, chosen: np.ndarray) -> list[np.ndarray]:
    """Rule sets of the table with one condition more, those that differ most first."""
    rules = read_rules(result.rule_sets).astype(np.int64)
    used = chosen >= 0
    more = (rules[:, used] == chosen[used]).all(1) & ((rules >= 0).sum(1) == used.sum() + 1)
    found = rules[more]
    if not len(found):
        return []
    order = np.argsort(-np.abs(_differences(cells, found)), kind="stable")
    return list(found[order[:_MAX_NARROWER]])


def _subsets(rule_set: np.ndarray, used: np.ndarray, members: np.ndarray) -> np.ndarray:
    rules = np.full((len(members), len(rule_set)), -1, dtype=np.int64)
    rules[:, used] = np.where(members, rule_set[used], -1)
    return rules


def _differences(cells: Cells, rules: np.ndarray) -> np.ndarray:
    """Mean inside minus mean outside, (S,); 0 where nobody is inside, or outside: there is no one else."""
    n, total = GroupSums(cells, rules).of(np.column_stack([cells.n, cells.favorable])).T
    gaps = differences(n, total, cells.total, float(cells.favorable.sum()))
    return np.where((n > 1e-9) & (cells.total - n > 1e-9), gaps, 0.0)
