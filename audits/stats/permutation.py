"""Permutation p-values, and corrections for many of them."""

from __future__ import annotations

import numpy as np

from audits.stats.sampling import as_people

__all__ = ["benjamini_hochberg", "holm", "means_p_values", "p_value"]

_AT_ONCE = 4_000_000
_SHUFFLED = 4000  # people up to whom everybody is shuffled; of more, a small group is drawn with replacement


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


def means_p_values(
    values: np.ndarray,
    weights: np.ndarray,
    groups: np.ndarray,
    rng: np.random.Generator,
    *,
    draws: int = 999,
) -> np.ndarray:
    """Two-sided p-values of groups' means against everyone's, group membership permuted, (k,).

    Exact however few people a group has and whatever the values look like, where nobody's value depends on
    membership. Of more than 4,000 people in all, a group is drawn with replacement: as good as without for
    groups of a few hundred.

    Parameters
    ----------
    values, weights : array (n,)
        Values, and how many people each stands for.
    groups : bool array (k, n)
        Members of each group, at least one.

    Examples
    --------
    >>> values, alike = np.arange(8.0), np.ones(8)
    >>> lowest_two = values[None] < 2
    >>> bool(abs(means_p_values(values, alike, lowest_two, np.random.default_rng(0))[0] - 2 / 28) < 0.02)
    True
    """
    rows, each = as_people(np.asarray(weights, dtype=float))
    mass = np.asarray(values, dtype=float)[rows] * each
    inside = groups[:, rows]
    sizes = inside.sum(axis=1)
    observed = (inside @ mass) / (inside @ each)
    total = len(rows)
    first = np.arange(min(total, _SHUFFLED))[:, None] < sizes  # so many of a shuffled row are the group
    null = np.empty((draws, len(sizes)))
    at_once = max(1, _AT_ONCE // max(min(total, _SHUFFLED), int(sizes.max())))
    for start in range(0, draws, at_once):
        stop = min(start + at_once, draws)
        if total <= _SHUFFLED:
            order = rng.permuted(np.broadcast_to(np.arange(total), (stop - start, total)), axis=1)
            null[start:stop] = (mass[order] @ first) / (each[order] @ first)
            continue
        for place, size in enumerate(sizes):
            drawn = rng.integers(0, total, (stop - start, size))
            null[start:stop, place] = mass[drawn].sum(axis=1) / each[drawn].sum(axis=1)
    upper = [p_value(seen, column) for seen, column in zip(observed, null.T, strict=True)]
    lower = [p_value(-seen, -column) for seen, column in zip(observed, null.T, strict=True)]
    both: np.ndarray = np.minimum(2 * np.minimum(upper, lower), 1.0)
    return both


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


def benjamini_hochberg(p_values: np.ndarray) -> np.ndarray:
    """Benjamini-Hochberg adjusted p-values (k,): the expected share of false ones among those found.

    References
    ----------
    Benjamini, Hochberg (1995), Journal of the Royal Statistical Society B 57:289-300.

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.04, 0.04]
    """
    p_values = np.asarray(p_values, dtype=float)
    k = len(p_values)
    order = np.argsort(p_values, kind="stable")[::-1]
    adjusted = np.empty(k)
    adjusted[order] = np.minimum.accumulate(np.minimum(p_values[order] * k / (k - np.arange(k)), 1.0))
    return adjusted
