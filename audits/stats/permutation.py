"""Permutation p-values, and corrections for many of them."""

from __future__ import annotations

import numpy as np


def p_value(observed: float, null: np.ndarray) -> float:
    """Share of permutations, the observed one included, at least as extreme as `observed`.

    With B permutations it never falls below 1 / (B + 1): its resolution.

    References
    ----------
    Phipson, Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9:39.

    Examples
    --------
    >>> p_value(3.0, np.array([1.0, 2.0, 4.0]))
    0.5
    >>> p_value(np.inf, np.array([1.0, np.inf, 4.0]))
    0.5
    """
    # equal up to rounding counts as equal, or a constant statistic would look extreme; infinity less itself
    # would be less than nothing
    slack = 1e-12 * max(1.0, abs(observed)) if np.isfinite(observed) else 0.0
    return float((1 + np.count_nonzero(np.asarray(null) >= observed - slack)) / (1 + len(null)))


def holm(p_values: np.ndarray) -> np.ndarray:
    """Holm-adjusted p-values (k,): the family-wise error rate stays at the level compared with.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    p_values = np.asarray(p_values, dtype=float)
    k = len(p_values)
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(k)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * (k - np.arange(k))), 1.0)
    return adjusted
