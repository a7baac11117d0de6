"""How people who flip differ from those whom they flip towards: FlipTest's Definition 2, group by group.

Every pair of a person and a counterpart who meet counts by its mass; of pairs that flip one way the mean of
the difference, and of its sign, is taken by feature. No interval is stated: one of the people, given who
meets whom, does not hold the mean over samples, as among other people others meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from audits.barycentre.meeting import Group, Meeting
from audits.barycentre.people import Compared, Line
from audits.barycentre.result import FeatureDifference, Way
from audits.stats import Estimate

__all__ = ["transparency"]

_NO_INTERVAL = "no interval: among other people, others would meet"
_WAYS: tuple[Way, Way] = ("only_self", "only_counterpart")


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of one group that flip one way: places of both among all atoms, and people of the group, (p,)."""

    mine: np.ndarray
    theirs: np.ndarray
    people: np.ndarray


def transparency(
    compared: Compared,
    groups: Sequence[Group],
    met: Meeting,
    own: Sequence[np.ndarray],
) -> tuple[FeatureDifference, ...]:
    """Report every group, both ways of flipping, the features that lie farthest apart first.

    Parameters
    ----------
    own : list of arrays (a,)
        Favourable share of each atom's people.
    """
    points = np.concatenate([group.x for group in groups])
    starts = np.cumsum([0, *(len(group.x) for group in groups)])
    found: list[FeatureDifference] = []
    for k, name in enumerate(compared.names):
        for way, pairs in zip(_WAYS, _flipping(compared, groups, met, own, k, starts), strict=True):
            rows = [FeatureDifference(name, way, *each) for each in _told(pairs, compared.lines, points)]
            found += sorted(rows, key=lambda row: (-abs(row.standardized_difference), row.feature))
    return tuple(found)


def _flipping(
    compared: Compared,
    groups: Sequence[Group],
    met: Meeting,
    own: Sequence[np.ndarray],
    k: int,
    starts: np.ndarray,
) -> tuple[_Pairs, _Pairs]:
    """Pairs of group `k` that flip either way, over the other groups by their shares."""
    mine, theirs, ours, there = [], [], [], []
    onto = met.plans[k].T @ sparse.diags_array(1 / met.mass)
    for other in range(len(groups)):
        if other == k:
            continue
        together = sparse.csr_array(onto @ met.plans[other]).tocoo()
        i, j = together.coords
        share = compared.shares[other] / (1 - compared.shares[k])
        mass = together.data * share * float(compared.n[k])
        h, g = own[k][i], own[other][j]
        mine.append(starts[k] + i)
        theirs.append(starts[other] + j)
        ours.append(mass * h * (1 - g))
        there.append(mass * (1 - h) * g)
    one, two = np.concatenate(mine), np.concatenate(theirs)
    first, second = (_pairs(one, two, np.concatenate(each)) for each in (ours, there))
    return first, second


def _pairs(mine: np.ndarray, theirs: np.ndarray, people: np.ndarray) -> _Pairs:
    kept = people > 0
    return _Pairs(mine[kept], theirs[kept], people[kept])


def _told(
    pairs: _Pairs, lines: Sequence[Line], points: np.ndarray
) -> Iterator[tuple[str, str, Estimate, Estimate, float, float]]:
    """Yield each line: names, mean difference, mean sign, the former in deviations, and what one is."""
    if float(pairs.people.sum()) <= 1e-9:
        return
    for line in lines:
        gap = points[pairs.mine, line.index] - points[pairs.theirs, line.index]
        weight = pairs.people
        if line.missing is not None:
            unknown = (points[pairs.mine, line.missing] > 0) | (points[pairs.theirs, line.missing] > 0)
            weight = np.where(unknown, 0.0, weight)
        mass = float(weight.sum())
        if mass <= 0:
            nothing = Estimate(None, None, None, 0.0, "missing in every flip")
            yield line.name, line.column, nothing, nothing, 0.0, line.deviation
            continue
        value, sign = (float(weight @ each) / mass for each in (gap * line.unit, np.sign(gap)))
        deviations = value / line.deviation if line.deviation > 0 else 0.0
        told = (Estimate(each, None, None, mass, _NO_INTERVAL) for each in (value, sign))
        yield line.name, line.column, *told, deviations, line.deviation  # type: ignore[misc]  # two estimates
