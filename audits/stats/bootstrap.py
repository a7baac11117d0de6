"""Bootstrap of many weighted means at once, with intervals that hold for all of them together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtrit

_BLOCK = 4_000_000  # entries of one block of bootstrap weights: 32 MB
_MANY = 20_000  # rows from which drawing them one by one saves time that is felt


@dataclass(frozen=True)
class RatioMeans:
    """Means (k,) and the ends of their intervals (k,)."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def ratio_means(
    totals: np.ndarray,
    weights: np.ndarray,
    rng: np.random.Generator,
    *,
    people: np.ndarray | None = None,
    draws: int = 500,
    level: float = 0.05,
) -> RatioMeans:
    """Means ``sum(totals) / sum(weights)`` per column with bootstrap intervals over people.

    Parameters
    ----------
    totals : array (n, k)
        Per row (a person, or people with the same features) the weighted total of each quantity.
    weights : array (n,) or (n, k)
        Per row the weight behind it; every column's sum must be positive.
    people : array (n,), optional
        People each row stands for, positive; one by default.
    draws : int
        Bootstrap draws of as many people, with replacement.
    level : float
        Error rate for all k intervals together (the max-t bootstrap).

    Notes
    -----
    People are resampled, so a person's several counterparts stay together. Draws in which a column has
    no weight at all are left out of that column's spread.

    References
    ----------
    Efron, Tibshirani (1993), An Introduction to the Bootstrap; Westfall, Young (1993), max-t.
    """
    n, k = totals.shape
    weights = np.broadcast_to(weights[:, None] if weights.ndim == 1 else weights, (n, k))
    value = totals.sum(0) / weights.sum(0)
    # centered, so that a draw's deviation is a sum of small terms and not a difference of large ones
    deviation = totals - weights * value
    # everyone alike but for rounding: rounding that all draws share would look like a sure deviation
    deviation = np.where(np.abs(deviation) > 1e-12 * np.abs(totals).max(0), deviation, 0.0)
    moves = np.empty((draws, k))
    block = max(1, _BLOCK // max(n, 1))
    people = np.ones(n) if people is None else np.asarray(people, dtype=float)
    total = max(round(people.sum()), 1)
    for start in range(0, draws, block):
        size = min(block, draws - start)
        counts = _counts(people, total, size, rng)
        base = counts @ weights
        with np.errstate(invalid="ignore", divide="ignore"):
            moves[start : start + size] = np.where(base > 0, (counts @ deviation) / base, 0.0)
    spread = moves.std(0)
    ratio = np.abs(moves) / np.where(spread > 0, spread, 1.0)
    # a bootstrap spread is too small in small samples: widen as Student's t does
    carried = np.einsum("nk,n->k", weights**2, 1 / people)
    freedom = np.maximum(weights.sum(0) ** 2 / carried - 1, 1.0)
    normal = np.quantile(ratio.max(1), 1 - level)
    reach = -stdtrit(freedom, ndtr(-normal)) * spread * np.sqrt((freedom + 1) / freedom)
    return RatioMeans(value, value - reach, value + reach)


def _counts(people: np.ndarray, total: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw how often each row stands in each of `size` samples of `total` people, (size, n)."""
    n = len(people)
    if n < _MANY or total != n or (people != 1).any():
        drawn: np.ndarray = rng.multinomial(total, people / people.sum(), size) / people
        return drawn
    # the same law, a seventh of the time
    return np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(size)]).astype(float)
