"""Quantiles of any distribution with intervals that assume nothing about its shape."""

from __future__ import annotations

import numpy as np

from audits.stats.estimate import Estimate
from audits.stats.intervals import percent_level


def quantile(
    values: np.ndarray, share: float, weights: np.ndarray | None = None, *, level: float = 0.05
) -> Estimate:
    """Smallest value that at least `share` of the people do not exceed, with an interval from ranks.

    Parameters
    ----------
    values : (n,) float
        Finite; nobody gives no quantile.
    share : float in (0, 1)
        0.95 is the value that at most 5% exceed.
    weights : (n,), optional
        People that each row represents, counted as rows.
    level : float
        Error rate. An end that lies beyond the smallest or largest value is None: too few people.

    References
    ----------
    David, Nagaraja (2003), Order Statistics, section 7.1: the ranks are binomial quantiles.

    Examples
    --------
    >>> found = quantile(np.arange(1.0, 101.0), 0.5)
    >>> found.value, found.low, found.high
    (50.0, 40.0, 61.0)
    """
    method = f"order statistics {percent_level(level)}"
    if not len(values):
        return Estimate(None, None, None, 0.0, method)
    order = np.argsort(values, kind="stable")
    ranked = np.asarray(values, dtype=float)[order]
    counts = np.ones(len(ranked)) if weights is None else np.asarray(weights, dtype=float)[order]
    reached = np.cumsum(counts)
    n = float(reached[-1])
    whole = max(round(n), 1)

    def at(rank: float) -> float:
        # rounding of sums of counts must not push a rank to the next value
        place = int(np.searchsorted(reached, rank * n / whole - 1e-9 * n))
        return float(ranked[min(place, len(ranked) - 1)])

    from scipy.stats import binom  # late: it takes half a second to import

    first = binom.ppf(level / 2, whole, share)
    last = binom.ppf(1 - level / 2, whole, share) + 1
    return Estimate(
        at(share * whole), at(first) if first >= 1 else None, at(last) if last <= whole else None, n, method
    )
