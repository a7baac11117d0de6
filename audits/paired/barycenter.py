"""Two models' flips through one barycenter: how each group's rate, and its gap from all others, moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from audits.barycenter.result import BarycenterResult, GroupFlips
from audits.paired.moved import Moved, People, apart, linear_moved, share_moved
from audits.paired.pairing import Pairing, Row, beside, other_people, people_of, same_people
from audits.stats import Estimate
from audits.stats.words import people_in

__all__ = ["paired"]

_WHY = {
    "": "see how the gap between the group and all the others moved",
    "reference_rate": "see how each group's share moved",
    "nearness": "it is the same for both models, which have no part in where groups meet",
}
_SHARED = (
    "of flips both ends can change, the person and the counterparts, who are others' counterparts too: the "
    "gap between the group and all the others is what flips one way less the other add up to"
)
_CHANCE = "chance is drawn anew for each model"


def paired(first: BarycenterResult, second: BarycenterResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return how rates and net flips moved; see `audits.paired.pairing`.

    By Proposition 2 of FlipTest a group's net flips are its rate less the others', whoever meets whom.
    """
    tables = first.people, second.people
    if not same_people(*tables) or not tables[0]["group"].equals(tables[1]["group"]):
        return other_people()
    people, sizes = people_of(tables[1]), _sizes(second)
    sides = [table["decision"].to_numpy(dtype=bool) for table in tables]
    group = tables[1]["group"].to_numpy()
    inside = {each.group: group == each.group for each in second.groups}
    moved = {name: share_moved(people, *((mask, side) for side in sides)) for name, mask in inside.items()}
    counts = {each.group: each.share for each in second.groups}
    by_people = all(
        np.isclose(each.share, sizes[inside[each.group]].sum() / sizes.sum(), rtol=1e-6)
        for each in second.groups
    )
    rows: list[Row] = []
    then = {each.group: each for each in first.groups}
    material = float(second.options["material"])
    for each in second.groups:
        name, who, before = each.group, people_in(each.group), then[each.group]
        place = f"groups[{name}]"
        rest = ~inside[name]
        if by_people:
            gap = apart(share_moved(people, *((rest, side) for side in sides)), moved[name], people)
        else:
            gap = _weighted(people, name, inside, counts, sides)
        words = f"gap in favorable decisions between {who} and the other groups"
        rows.append(Row(f"{place}.net", words, before.net, each.net, gap, "gap", material=material))
        words = f"favorable share of {who}"
        rows.append(Row(f"{place}.rate", words, before.rate, each.rate, moved[name], "share", judged=False))
        rows += _beside(place, who, before, each)
    return Pairing(tuple(rows), why=_WHY)


def _beside(place: str, who: str, before: GroupFlips, after: GroupFlips) -> Iterator[Row]:
    """Yield what stands side by side only."""
    for key, words in (
        ("only_self", f"{who} favored only as themselves"),
        ("only_counterpart", f"{who} favored only as their counterparts"),
    ):
        first, second = (
            Estimate(getattr(each, key), None, None, each.people, "") for each in (before, after)
        )
        yield beside(f"{place}.{key}", words, (first, second), "share", _SHARED)
    words = f"flips of {who} above chance"
    yield beside(f"{place}.excess", words, (before.excess, after.excess), "share", _CHANCE)


def _weighted(
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


def _sizes(result: BarycenterResult) -> np.ndarray:
    return result.people["people"].to_numpy(dtype=float)
