"""How many flips chance alone gives: group membership permuted, people matched again (section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.errors import InputError
from audits.flipset.inventing import Inventor
from audits.flipset.matching import atoms
from audits.progress import Progress
from audits.stats import apportion, draw_counts
from audits.transport import Cost, pairwise_cost, plan_for_costs
from audits.transport.maps import MAPS, OPTIONS, LinearMap, UnbalancedMap

__all__ = ["NullFlips", "Pool", "permute", "permute_maps"]

_REFITTED = {"linear": "a linear", "entropic": "an entropic", "unbalanced": "an unbalanced"}


@dataclass(frozen=True, eq=False)
class Pool:
    """The two groups of one stratum: features (n, d), decisions (n,), people a row (n,)."""

    x: np.ndarray
    x_decision: np.ndarray
    x_size: np.ndarray
    y: np.ndarray
    y_decision: np.ndarray
    y_size: np.ndarray


@dataclass(frozen=True, eq=False)
class NullFlips:
    """Shares (positive, negative) of the subsample: observed (2,) and permuted (permutations, 2).

    `method` says how counterparts were found.
    """

    n_source: int
    n_target: int
    observed: np.ndarray
    null: np.ndarray
    method: str


def permute(
    pools: list[Pool],
    *,
    cost: Cost,
    weights: np.ndarray,
    permutations: int,
    people: int,
    rng: np.random.Generator,
    progress: Progress,
) -> NullFlips:
    """Flip shares when group membership carries no information, people matched exactly.

    Every draw keeps the group sizes and, with several strata, permutes within each. Observed and permuted
    shares come from the same subsample of at most `people` a group, so their comparison is a valid
    permutation test; a smaller subsample flips more by chance and sees less.
    """
    sizes = _sample_sizes([(pool.x_size.sum(), pool.y_size.sum()) for pool in pools], people)
    drawn = [_Sample.draw(pool, n, m, cost, weights, rng) for pool, (n, m) in zip(pools, sizes, strict=True)]
    return _permute(drawn, permutations, "matched exactly", rng, progress)


def permute_maps(
    strata: list[tuple[np.ndarray, np.ndarray]],
    inventor: Inventor,
    decisions: np.ndarray,
    sizes: np.ndarray,
    *,
    kind: str,
    options: Any,
    permutations: int,
    people: int,
    rng: np.random.Generator,
    progress: Progress,
) -> NullFlips:
    """As `permute`, with counterparts invented by a map that is fitted anew to every permutation.

    That is the map of this `kind` with its `options`, but a linear one in place of networks: training a GAN
    a hundred times would take hours. The linear map has fewer ways to err, so a map with more of them flips
    more people by chance than this says.

    Parameters
    ----------
    strata : list of (source, target)
        Positions of people in the audited data.
    """
    if kind not in _REFITTED:
        kind, options = LinearMap.kind, OPTIONS[LinearMap.kind]()
    seed = int(rng.integers(2**32))
    wanted = _sample_sizes([(sizes[s].sum(), sizes[t].sum()) for s, t in strata], people)
    drawn = []
    for (source, target), (n, m) in zip(strata, wanted, strict=True):
        ours, theirs = source[_draw(sizes[source], n, rng)], target[_draw(sizes[target], m, rng)]
        rows = np.concatenate([ours, theirs])
        drawn.append(_MapSample(len(ours), rows, inventor, decisions, kind, options, seed))
    return _permute(drawn, permutations, f"{_REFITTED[kind]} map refitted each time", rng, progress)


def _sample_sizes(totals: list[tuple[float, float]], people: int) -> list[tuple[int, int]]:
    """People to draw from both groups of each stratum, at most `people` a group in all."""
    ours, theirs = (
        apportion(np.maximum(np.rint([total[side] for total in totals]), 1), people, least=1)
        for side in (0, 1)
    )
    if not (ours.all() and theirs.all()):
        raise InputError(
            "flipset.noise_people",
            f"must be at least the number of strata, {len(totals)}",
            people,
            "raise it, or set permutations to 0",
        )
    return list(zip(ours.tolist(), theirs.tolist(), strict=True))


def _permute(
    drawn: Sequence[_Sample | _MapSample],
    permutations: int,
    method: str,
    rng: np.random.Generator,
    progress: Progress,
) -> NullFlips:
    n_source = sum(sample.n for sample in drawn)

    def shares(shuffle: bool) -> np.ndarray:
        flips = sum(
            sample.flips(rng.permutation(sample.size) if shuffle else np.arange(sample.size))
            for sample in drawn
        )
        return np.clip(flips, 0, None) / n_source

    observed = shares(shuffle=False)
    null = np.empty((permutations, 2))
    for b in range(permutations):
        progress(b / permutations, f"Counting flips by chance: permutation {b + 1} of {permutations}")
        null[b] = shares(shuffle=True)
    return NullFlips(n_source, sum(sample.size - sample.n for sample in drawn), observed, null, method)


@dataclass(frozen=True, eq=False)
class _Sample:
    """People of one stratum, the first `n` of the source: their atom, decision, and costs between atoms."""

    n: int
    atom: np.ndarray
    decision: np.ndarray
    costs: np.ndarray  # (atoms, atoms)

    @property
    def size(self) -> int:
        """People of both groups."""
        return len(self.atom)

    @classmethod
    def draw(
        cls, pool: Pool, n: int, m: int, cost: Cost, weights: np.ndarray, rng: np.random.Generator
    ) -> _Sample:
        first, second = _draw(pool.x_size, n, rng), _draw(pool.y_size, m, rng)
        points, atom = atoms(np.vstack([pool.x[first], pool.y[second]]))
        decision = np.concatenate([pool.x_decision[first], pool.y_decision[second]]).astype(float)
        return cls(len(first), atom, decision, pairwise_cost(points, points, cost, weights))

    def flips(self, order: np.ndarray) -> np.ndarray:
        """Positive and negative flips, in people, when the first `n` of `order` are the source."""
        ours, theirs = order[: self.n], order[self.n :]
        people, favored = zip(*(self._count(side) for side in (ours, theirs)), strict=True)
        here, there = np.flatnonzero(people[0]), np.flatnonzero(people[1])
        plan = plan_for_costs(self.costs[np.ix_(here, there)], people[0][here], people[1][there])
        h = (favored[0][here] / people[0][here])[plan.coords[0]]
        g = (favored[1][there] / people[1][there])[plan.coords[1]]
        return self.n * np.array([plan.data @ (h * (1 - g)), plan.data @ ((1 - h) * g)])

    def _count(self, side: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        k = len(self.costs)
        return np.bincount(self.atom[side], minlength=k).astype(float), np.bincount(
            self.atom[side], self.decision[side], k
        )


@dataclass(frozen=True, eq=False)
class _MapSample:
    """People of one stratum, the first `n` of the source: their positions in the audited data."""

    n: int
    rows: np.ndarray
    inventor: Inventor
    decisions: np.ndarray
    kind: str
    options: Any
    seed: int

    @property
    def size(self) -> int:
        """People of both groups."""
        return len(self.rows)

    def flips(self, order: np.ndarray) -> np.ndarray:
        """Positive and negative flips, in people, when the first `n` of `order` are the source."""
        ours, theirs = self.rows[order[: self.n]], self.rows[order[self.n :]]
        values, weights = self.inventor.encoded.values, self.inventor.encoded.weights
        fitted = MAPS[self.kind].fit(
            values[ours], values[theirs], feature_weights=weights, options=self.options, rng=self.seed
        )
        g = self.inventor.invent(fitted.transform(values[ours]), theirs).decisions
        h = self.decisions[ours]
        found = np.ones(len(ours))
        if isinstance(fitted, UnbalancedMap):
            found = np.minimum(fitted.matched_share(values[ours]), 1.0)
        return np.array([found @ (h & ~g), found @ (~h & g)])


def _draw(sizes: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Row of each of `n` people drawn without replacement; a row stands for `sizes` people."""
    if (sizes == 1).all():
        rows = np.arange(len(sizes))
        return rows if len(rows) <= n else np.sort(rng.choice(rows, n, replace=False))
    whole = np.maximum(np.rint(sizes), 1)
    counts = whole.astype(np.int64) if whole.sum() <= n else draw_counts(whole, n, rng)
    return np.repeat(np.arange(len(sizes)), counts)
