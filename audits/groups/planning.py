"""What a group comparison could see among groups of given sizes, from its own verdicts in simulated worlds.

Rows with their scores, decisions and labels are drawn with replacement from the people compared, and groups
are dealt out at random, so that they differ by luck alone. Then a difference is planted: in one group so many
people lose (or, where too few have it, gain) the favourable decision. `audits.runs.planning` does the same
for any audit of a spec; this one needs nothing but a result, so a page can call it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.checks import build
from audits.errors import InputError
from audits.groups.audit import groups_from_people
from audits.groups.options import GroupsOptions
from audits.groups.result import GroupsResult
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL, Estimate, wilson

__all__ = ["PlannedGroups", "plan_groups"]


@dataclass(frozen=True)
class PlannedGroups:
    """How often the comparison gives each verdict in worlds of one planted difference.

    Attributes
    ----------
    difference : float
        Planted, as a share of the last group's people; where it is 0, evidence is a false alarm.
    evidence, no_material, insufficient : Estimate
        Share of worlds with each verdict.
    """

    difference: float
    evidence: Estimate
    no_material: Estimate
    insufficient: Estimate


def plan_groups(
    result: GroupsResult,
    sizes: Sequence[int],
    differences: Sequence[float],
    *,
    worlds: int = 40,
    seed: int = 0,
) -> tuple[PlannedGroups, ...]:
    """Return what the comparison could see among groups of these sizes, a row a planted difference.

    Parameters
    ----------
    sizes : sequence of int
        People in each group, two groups at least; the difference is planted in the last one.
    differences : sequence of float
        Shares of its people, in [0, 1).

    Raises
    ------
    InputError
        If a number is out of range, or rows are not one independent person each.
    """
    people = result.people
    if "cluster" in people:
        raise InputError("people", "must be independent of each other, a row each", advice="plan by persons")
    if len(sizes) < 2 or min(sizes) < 2:
        raise InputError("sizes", "must be two or more groups of two people or more", list(sizes))
    if not all(0 <= each < 1 for each in differences):
        raise InputError("differences", "must be shares from 0 to below 1", list(differences))
    asked = build(GroupsOptions, result.options, "groups")
    options = dataclasses.replace(asked, by=("group",), reference=None, by_probability={}, bootstrap=0)
    kept = people[[name for name in people if not str(name).startswith(("group: ", "chance: "))]]
    chance = kept["people"].to_numpy(dtype=float)
    chance = chance / chance.sum()
    own = np.repeat([f"group {k + 1}" for k in range(len(sizes))], sizes)
    found = []
    for difference in differences:
        verdicts: Counter[str] = Counter()
        for world in range(worlds):
            rng = np.random.default_rng([seed, world, round(1e6 * difference)])
            drawn = _world(kept, chance, own, sizes[-1], difference, rng)
            verdicts[groups_from_people(drawn, ("group",), options, "", len(drawn), world).verdict] += 1
        shares = (wilson(verdicts[each], worlds) for each in (EVIDENCE, NO_MATERIAL, INSUFFICIENT))
        found.append(PlannedGroups(difference, *shares))
    return tuple(found)


def _world(
    people: pd.DataFrame,
    chance: np.ndarray,
    own: np.ndarray,
    last: int,
    difference: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    rows = rng.choice(len(people), len(own), p=chance)
    drawn = people.iloc[rows].reset_index(drop=True).assign(people=1.0)
    decided = drawn["decision"].to_numpy(dtype=bool).copy()
    mine, changed = np.arange(len(own) - last, len(own)), round(difference * last)
    value = bool(decided[mine].sum() >= changed)
    decided[rng.permutation(mine[decided[mine] == value])[:changed]] = not value
    return drawn.assign(decision=decided, **{"group: group": own})
