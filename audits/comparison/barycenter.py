"""Two models' flips through one barycenter: how each group's rate, and its gap from all others, moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from audits.barycenter.result import BarycenterResult
from audits.comparison.intervals import Moved, People, apart, linear_moved, share_moved
from audits.comparison.pairs import (
    Pairing,
    Pairs,
    common,
    estimates_of,
    limit_on_rates,
    other_people,
    people_of,
    same_people,
    without_interval,
)
from audits.stats import Estimate
from audits.stats.text import people_in

_WHY = {
    "": "see the change in the gap between the group and all the others",
    "reference_rate": "see the change in each group's share",
    "nearness": "it is the same for both models, because it does not depend on them",
}
_SHARED = (
    "both the person's and the counterparts' decisions can change, and counterparts are shared; see the "
    "gap, which equals flips one way minus the other"
)
_CHANCE = "chance is simulated separately for each model"


def compare(first: BarycenterResult, second: BarycenterResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return how rates and net flips moved; see `audits.comparison.pairs`.

    By Proposition 2 of FlipTest a group's net flips are its rate less the others', whoever meets whom.
    """
    tables = first.people, second.people
    if not same_people(*tables) or not tables[0]["group"].equals(tables[1]["group"]):
        return other_people()
    people, group = people_of(tables[1]), tables[1]["group"].to_numpy()
    sides = [table["decision"].to_numpy(dtype=bool) for table in tables]
    sizes = tables[1]["people"].to_numpy(dtype=float)
    inside = {each.group: group == each.group for each in second.groups}
    counts = {each.group: each.share for each in second.groups}
    by_people = all(
        np.isclose(share, sizes[inside[name]].sum() / sizes.sum(), rtol=1e-6)
        for name, share in counts.items()
    )
    pairs = Pairs(people, **limit_on_rates(second.options, sizes, sides))
    for both in common(first.groups, second.groups, "group"):
        name = both[1].group
        who, place, mask = people_in(name), f"groups[{name}]", inside[name]
        own, rest = (share_moved(people, *((part, side) for side in sides)) for part in (mask, ~mask))
        gap = apart(rest, own, people) if by_people else _weighted_change(people, name, inside, counts, sides)
        words = f"gap in favorable decisions between {who} and the other groups"
        pairs.add(f"{place}.net", words, estimates_of(both, "net"), gap, "gap")
        pairs.add(f"{place}.rate", f"favorable share of {who}", estimates_of(both, "rate"), own, "share")
        for key, alone in (("only_self", "themselves"), ("only_counterpart", "their counterparts")):
            flips = [Estimate(getattr(each, key), None, None, each.people, "") for each in both]
            moved = without_interval((flips[0], flips[1]), _SHARED)
            pairs.add(f"{place}.{key}", f"{who} favored only as {alone}", flips, moved, "share")
        excess = estimates_of(both, "excess")
        moved = without_interval(excess, _CHANCE)
        pairs.add(f"{place}.excess", f"flips of {who} above chance", excess, moved, "share")
    return pairs.pairing(why=_WHY)


def _weighted_change(
    people: People,
    name: str,
    inside: Mapping[str, np.ndarray],
    counts: Mapping[str, float],
    sides: list[np.ndarray],
) -> Moved:
    """How a group's rate less the others' by their shares of the barycenter moved."""
    worth = np.bincount(people.rows, people.design.weights, len(sides[0]))
    changed = sides[1].astype(float) - sides[0].astype(float)
    value, parts = 0.0, np.zeros(len(changed))
    for other, mask in inside.items():
        weight = 1.0 if other == name else -counts[other] / (1 - counts[name])
        n = float(worth[mask].sum())
        mean = float(worth[mask] @ changed[mask]) / n
        value += weight * mean
        parts += np.where(mask, weight * (changed - mean) / n, 0.0)
    return linear_moved(people, np.ones(len(changed), dtype=bool), value, parts)
