"""How people who flip differ from those whom they flip towards: FlipTest's Definition 2, group by group.

Every pair of a person and a counterpart who meet counts by its mass; of pairs that flip one way the mean of
the difference, and of its sign, is taken by feature. Intervals are of the people, given who meets whom.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from audits.barycentre.meeting import Group, Meeting
from audits.barycentre.people import Compared, Line
from audits.barycentre.result import FeatureDifference, Way
from audits.stats import Estimate, ratio_means, sign_balance
from audits.stats.intervals import percent_level

__all__ = ["transparency"]

_DRAWS = 200
_FEWEST = 10  # people below which a bootstrap interval would pretend to know
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
    rng: np.random.Generator,
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
        atoms = np.arange(starts[k], starts[k + 1])
        people = groups[k].weights * float(compared.n[k])
        for way, pairs in zip(_WAYS, _flipping(compared, groups, met, own, k, starts), strict=True):
            told = _told(pairs, compared.lines, points, atoms, people, compared.options.level, rng)
            rows = [FeatureDifference(name, way, *each) for each in told]
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
    pairs: _Pairs,
    lines: Sequence[Line],
    points: np.ndarray,
    atoms: np.ndarray,
    people: np.ndarray,
    level: float,
    rng: np.random.Generator,
) -> Iterator[tuple[str, str, Estimate, Estimate, float, float]]:
    """Yield each line: names, mean difference, mean sign, the former in deviations, and what one is."""
    size = float(pairs.people.sum())
    if size <= 1e-9 or not lines:
        return
    totals, masses = np.zeros((2, len(atoms), len(lines)))
    up, down = np.zeros((2, len(lines)))
    row = pairs.mine - atoms[0]
    for place, line in enumerate(lines):
        gap = points[pairs.mine, line.index] - points[pairs.theirs, line.index]
        weight = pairs.people
        if line.missing is not None:
            unknown = (points[pairs.mine, line.missing] > 0) | (points[pairs.theirs, line.missing] > 0)
            weight = np.where(unknown, 0.0, weight)
        totals[:, place] = np.bincount(row, weight * gap * line.unit, len(atoms))
        masses[:, place] = np.bincount(row, weight, len(atoms))
        up[place], down[place] = weight[gap > 0].sum(), weight[gap < 0].sum()
    known, carrying = masses.sum(0) > 0, masses.any(1)
    low, high = np.full((2, len(lines)), np.nan)
    enough = size >= _FEWEST
    if enough and known.any():
        means = ratio_means(
            totals[np.ix_(carrying, known)], masses[np.ix_(carrying, known)], rng, people=people[carrying],
            draws=_DRAWS, level=level,
        )  # fmt: skip
        low[known], high[known] = means.low, means.high
    method = f"max-t bootstrap {percent_level(level)}, {_DRAWS} draws, given who meets whom"
    for place, line in enumerate(lines):
        mass = float(masses[:, place].sum())
        if mass <= 0:
            nothing = Estimate(None, None, None, 0.0, "missing in every flip")
            yield line.name, line.column, nothing, nothing, 0.0, line.deviation
            continue
        value = float(totals[:, place].sum()) / mass
        difference = (
            Estimate(value, float(low[place]), float(high[place]), mass, method)
            if enough
            else Estimate(value, None, None, mass, f"no interval below {_FEWEST} people")
        )
        signs = sign_balance(float(up[place]), float(down[place]), mass, level=level / len(lines))
        signs = replace(signs, method=f"{signs.method}, given who meets whom")
        deviations = value / line.deviation if line.deviation > 0 else 0.0
        yield line.name, line.column, difference, signs, deviations, line.deviation
