"""How many flips chance alone gives: group membership permuted, people matched again (section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audits.progress import Progress
from audits.transport import exact_coupling

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
    cost: str,
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
        first, second = _draw(pool.x_size, n, rng), _draw(pool.y_size, m, rng)
        features = np.vstack([pool.x[first], pool.y[second]])
        decisions = np.concatenate([pool.x_decision[first], pool.y_decision[second]]).astype(float)
        drawn.append((len(first), features, decisions))
    n_source = sum(n for n, _, _ in drawn)
    n_target = sum(len(features) - n for n, features, _ in drawn)

    def shares(shuffle: bool) -> np.ndarray:
        flips = np.zeros(2)
        for n, features, decisions in drawn:
            order = rng.permutation(len(features)) if shuffle else np.arange(len(features))
            ours, theirs = order[:n], order[n:]
            plan = exact_coupling(features[ours], features[theirs], cost=cost, feature_weights=weights).plan
            h, g = decisions[ours], plan @ decisions[theirs] * n  # g: favourable share of the counterparts
            flips += [np.sum(h * (1 - g)), np.sum((1 - h) * g)]
        return np.clip(flips, 0, None) / n_source

    observed = shares(shuffle=False)
    null = np.empty((permutations, 2))
    for b in range(permutations):
        progress(b / permutations, f"Counting flips by chance: permutation {b + 1} of {permutations}")
        null[b] = shares(shuffle=True)
    return NullFlips(n_source, n_target, observed, null)


def _draw(sizes: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Row of each of `n` people drawn without replacement; a row stands for `sizes` people."""
    if (sizes == 1).all():
        rows = np.arange(len(sizes))
        return rows if len(rows) <= n else np.sort(rng.choice(rows, n, replace=False))
    whole = np.maximum(np.rint(sizes), 1).astype(np.int64)
    counts = rng.multivariate_hypergeometric(whole, n, method="marginals") if whole.sum() > n else whole
    return np.repeat(np.arange(len(sizes)), counts)
