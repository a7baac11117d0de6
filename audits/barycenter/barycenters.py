"""The barycenter of several groups as the points at which their people meet, and flips from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from audits.flipset.counterparts.matching import Group, clean
from audits.progress import Progress, silent
from audits.transport import Cost, exact_coupling, pairwise_cost, plan_for_costs
from audits.transport.atoms import Atoms
from audits.transport.sizes import DENSE_PAIRS

_SLIVER = 1e-13  # of the mass: what rounding leaves between ends that are equal
_STILL = 1e-3  # relative: a round that brings less is the last


@dataclass(frozen=True, eq=False)
class Barycenter:
    """Points of the barycenter, and who meets there.

    Attributes
    ----------
    points : array (s, d)
    mass : array (s,)
        Sums to 1.
    plans : list of csr arrays (s, a)
        Mass of each group's atoms at each point; every row sums to the point's mass.
    spread : float
        Mean squared distance of people from where they meet, over groups by their shares: what a barycenter
        keeps least.
    rounds : int
        Rounds in which points moved.
    """

    points: np.ndarray
    mass: np.ndarray
    plans: list[sparse.csr_array]
    spread: float
    rounds: int

    def distances(self, groups: Sequence[Group]) -> np.ndarray:
        """Root mean square distance of each group's people from their points, (k,)."""
        found = []
        for plan, group in zip(self.plans, groups, strict=True):
            entries = plan.tocoo()
            at, who = entries.coords
            apart = ((self.points[at] - group.x[who]) ** 2).sum(axis=1)
            found.append(np.sqrt(entries.data @ apart))
        return np.array(found)

    def others(
        self, groups: Sequence[Group], decided: Sequence[np.ndarray], shares: np.ndarray
    ) -> list[np.ndarray]:
        """Favorable share of each atom's counterparts, a group an array (a,).

        Parameters
        ----------
        decided : list of arrays (a,)
            Favorable share of each atom's people.
        """
        here = [plan @ own / self.mass for plan, own in zip(self.plans, decided, strict=True)]
        every = sum(share * each for share, each in zip(shares, here, strict=True))
        return [
            clean(plan.T @ ((every - share * own) / (1 - share)) / group.weights)
            for plan, group, own, share in zip(self.plans, groups, here, shares, strict=True)
        ]


def meet(
    groups: Sequence[Group],
    shares: np.ndarray,
    *,
    rounds: int,
    cost: Cost = "l2_squared",
    progress: Progress = silent,
) -> Barycenter:
    """Find the barycenter of `groups`, weighted by `shares` (k,), which sum to 1.

    Two groups are matched at any `cost`, as a flipset's are; more meet at least squared Euclidean distance.
    Exact for two groups and in one dimension; else the fixed-point iteration from there, which never moves
    away from the least spread, ends after `rounds`.
    """
    pivot = int(np.argmax([group.people.sum() for group in groups]))
    first = groups[pivot]
    plans = []
    for k, group in enumerate(groups):
        progress(0.3 * k / len(groups), "Matching every group with the largest")
        own = sparse.csr_array(sparse.diags_array(first.weights))
        plans.append(
            own if k == pivot else _cheapest_plan(first.x, group.x, first.weights, group.weights, cost)
        )
    found = _glue_plans(groups, plans, shares)
    if len(groups) == 2 or first.x.shape[1] == 1:
        return found
    for k in range(rounds):
        progress(0.3 + 0.7 * k / rounds, f"Moving the barycenter: round {k + 1} of at most {rounds}")
        plans = [_cheapest_plan(found.points, group.x, found.mass, group.weights) for group in groups]
        moved = _move_to_means(groups, plans, shares, found.rounds + 1)
        if moved.spread >= found.spread:
            break
        still = moved.spread > (1 - _STILL) * found.spread
        found = moved
        if still:
            break
    return found


def least_spread(groups: Sequence[Group], shares: np.ndarray, progress: Progress = silent) -> float:
    """Spread that no barycenter can be below: that of the groups' exact distances from each other.

    People who meet at a point are spread about their mean as they are apart from each other, and no two
    groups can be matched nearer than exactly.
    """
    total, pairs, done = 0.0, len(groups) * (len(groups) - 1) / 2, 0
    for k, one in enumerate(groups):
        for other, share in zip(groups[:k], shares[:k], strict=True):
            progress(done / pairs, "How near the barycenter could be")
            plan = _cheapest_plan(one.x, other.x, one.weights, other.weights).tocoo()
            i, j = plan.coords
            apart = float(plan.data @ ((one.x[i] - other.x[j]) ** 2).sum(axis=1))
            total += float(shares[k] * share) * apart
            done += 1
    return total


def against_everybody(
    groups: Sequence[Group], decided: Sequence[np.ndarray], shares: np.ndarray, cost: Cost = "l2_squared"
) -> list[np.ndarray]:
    """Favorable share of each atom's counterparts among everyone, a group an array (a,).

    Each group is matched, at least cost, with the people of all groups together, its own too, who count as
    in the barycenter.

    Parameters
    ----------
    decided : list of arrays (a,)
        Favorable share of each atom's people.
    """
    points = np.concatenate([group.x for group in groups])
    mass = np.concatenate([share * group.weights for share, group in zip(shares, groups, strict=True)])
    merged = Atoms.merge(points, mass)
    there = np.bincount(merged.of, mass * np.concatenate(list(decided))) / merged.weights
    weights = merged.weights / merged.weights.sum()
    plans = (_cheapest_plan(each.x, points[merged.first], each.weights, weights, cost) for each in groups)
    return [clean(plan @ there / each.weights) for plan, each in zip(plans, groups, strict=True)]


def _cheapest_plan(
    x: np.ndarray, y: np.ndarray, a: np.ndarray, b: np.ndarray, cost: Cost = "l2_squared"
) -> sparse.csr_array:
    """Cheapest plan between atoms or points, whose rows sum to `a`."""
    if x.shape[1] > 1 and len(x) * len(y) <= DENSE_PAIRS:
        return plan_for_costs(pairwise_cost(x, y, cost), a, b).tocsr()
    return exact_coupling(x, y, cost=cost, a=a, b=b).plan


def _glue_plans(groups: Sequence[Group], plans: Sequence[sparse.csr_array], shares: np.ndarray) -> Barycenter:
    """Points at which one atom of every group meets: plans with the same rows, each row cut in one order.

    Within a row people are in the order of the direction in which all people vary most, so that in one
    dimension the largest meet the largest.
    """
    along = _widest(groups)
    ends, atoms = [], []
    for plan, group in zip(plans, groups, strict=True):
        entries = plan.tocoo()
        row, atom = entries.coords
        order = np.lexsort((group.x[atom] @ along, row))
        held = np.cumsum(entries.data[order])
        ends.append(held / held[-1])
        atoms.append(atom[order])
    cuts = np.unique(np.concatenate(ends))
    cuts = cuts[np.diff(cuts, prepend=0.0) > _SLIVER]
    mass = np.diff(cuts, prepend=0.0)
    middle = cuts - mass / 2
    mass /= mass.sum()
    who = [
        atom[np.minimum(np.searchsorted(end, middle), len(atom) - 1)]
        for end, atom in zip(ends, atoms, strict=True)
    ]
    places = np.arange(len(mass))
    glued = [
        sparse.csr_array((mass, (places, atom)), shape=(len(mass), len(group.x)))
        for atom, group in zip(who, groups, strict=True)
    ]
    return _move_to_means(groups, glued, shares, 0)


def _move_to_means(
    groups: Sequence[Group], plans: Sequence[sparse.csr_array], shares: np.ndarray, rounds: int
) -> Barycenter:
    """Move every point to the mean of the people who meet there."""
    mass = np.asarray(plans[0].sum(axis=1))
    means = [plan @ group.x / mass[:, None] for plan, group in zip(plans, groups, strict=True)]
    points = np.asarray(sum(share * mean for share, mean in zip(shares, means, strict=True)))
    found = Barycenter(points, mass, list(plans), 0.0, rounds)
    spread = float(shares @ found.distances(groups) ** 2)
    return Barycenter(points, mass, list(plans), spread, rounds)


def _widest(groups: Sequence[Group]) -> np.ndarray:
    """Direction in which all people vary most, (d,)."""
    every = np.concatenate([group.x for group in groups])
    if every.shape[1] == 1:
        return np.ones(1)
    _, vectors = np.linalg.eigh(np.cov(every.T))
    return np.asarray(vectors[:, -1])
