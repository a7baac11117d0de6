"""Increasing functions that give each feature of mapped people the target group's distribution.

In one dimension the cheapest coupling of two distributions is the increasing one: it sends every quantile to
the same quantile.
"""

from __future__ import annotations

import numpy as np

_LEVELS = 4096  # quantiles told apart: distributions agree to 1 / 4,096


def fit_marginals(
    z: np.ndarray, y: np.ndarray, a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Learn step functions from the features of `z` (n, d) to those of `y` (m, d), weighted by `a`, `b`.

    Returns
    -------
    edges, values : arrays (d, k), (d, k + 1)
        ``values[:, i]`` are taken between ``edges[:, i - 1]`` (included) and ``edges[:, i]``; they occur in
        `y`. Features of at most two values in `y` get NaN: rounding them is the decoder's work.
    """
    count = min(_LEVELS, len(z))
    edges, values = np.full((z.shape[1], count - 1), np.nan), np.full((z.shape[1], count), np.nan)
    for k in range(z.shape[1]):
        if len(np.unique(y[:, k])) > 2:
            edges[k] = _quantiles(z[:, k], a, np.arange(1, count) / count)
            values[k] = _quantiles(y[:, k], b, (np.arange(count) + 0.5) / count)
    return edges, values


def restore(z: np.ndarray, edges: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Send `z` (n, d) through the step functions; in place."""
    for k in np.flatnonzero(~np.isnan(values[:, 0])):
        z[:, k] = values[k].take(np.searchsorted(edges[k], z[:, k], side="right"))
    return z


def _quantiles(column: np.ndarray, weights: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Smallest values whose cumulative weight exceeds each of `levels`."""
    order = np.argsort(column, kind="stable")
    total = np.cumsum(weights[order])
    # a level that falls on a step up to rounding belongs beyond it
    place = np.searchsorted(total / total[-1], levels + 1e-12, side="right")
    return column[order[np.minimum(place, len(order) - 1)]]
