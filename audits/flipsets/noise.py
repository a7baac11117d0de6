"""How many flips chance alone gives: group membership permuted, people matched again (section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audits.flipsets.matching import atoms
from audits.progress import Progress
from audits.transport import Cost, pairwise_cost, plan_for_costs

__all__ = ["NullFlips", "Pool", "permute"]


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
    """Shares (positive, negative) of the subsample: observed (2,) and permuted (permutations, 2)."""

    n_source: int
    n_target: int
    observed: np.ndarray
    null: np.ndarray


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
    """Flip shares when group membership carries no information.

    Every draw keeps the group sizes and, with several strata, permutes within each. Observed and permuted
    shares come from the same subsample of at most `people` a group, so their comparison is a valid
    permutation test; a smaller subsample flips more by chance and sees less.
    """
    totals = [(pool.x_size.sum(), pool.y_size.sum()) for pool in pools]
    shrink = [min(1.0, people / max(sum(total[side] for total in totals), 1.0)) for side in (0, 1)]
    drawn = []
    for pool, total in zip(pools, totals, strict=True):
        n, m = (max(1, round(total[side] * shrink[side])) for side in (0, 1))
        drawn.append(_Sample.draw(pool, n, m, cost, weights, rng))
    n_source = sum(sample.n for sample in drawn)

    def shares(shuffle: bool) -> np.ndarray:
        flips = sum(
            sample.flips(rng.permutation(len(sample.atom)) if shuffle else np.arange(len(sample.atom)))
            for sample in drawn
        )
        return np.clip(flips, 0, None) / n_source

    observed = shares(shuffle=False)
    null = np.empty((permutations, 2))
    for b in range(permutations):
        progress(b / permutations, f"Counting flips by chance: permutation {b + 1} of {permutations}")
        null[b] = shares(shuffle=True)
    return NullFlips(n_source, sum(len(sample.atom) - sample.n for sample in drawn), observed, null)


@dataclass(frozen=True, eq=False)
class _Sample:
    """People of one stratum, the first `n` of the source: their atom, decision, and costs between atoms."""

    n: int
    atom: np.ndarray
    decision: np.ndarray
    costs: np.ndarray  # (atoms, atoms)

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


def _draw(sizes: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Row of each of `n` people drawn without replacement; a row stands for `sizes` people."""
    if (sizes == 1).all():
        rows = np.arange(len(sizes))
        return rows if len(rows) <= n else np.sort(rng.choice(rows, n, replace=False))
    whole = np.maximum(np.rint(sizes), 1).astype(np.int64)
    counts = rng.multivariate_hypergeometric(whole, n, method="marginals") if whole.sum() > n else whole
    return np.repeat(np.arange(len(sizes)), counts)
