"""Score intervals of many shares and differences of shares at once: arrays in, arrays out."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri


def wilson_ends(
    count: np.ndarray, n: np.ndarray, *, level: float | np.ndarray = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of Wilson's score interval of `count` / `n`, elementwise; `n` must be positive.

    Examples
    --------
    >>> low, high = wilson_ends(np.array([37.0]), np.array([120.0]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.233], [0.396])
    """
    count, n = np.asarray(count, dtype=float), np.asarray(n, dtype=float)
    p = count / n
    z = -ndtri(np.asarray(level, dtype=float) / 2)
    center = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(np.maximum(p * (1 - p), 0) / n + z * z / (4 * n * n))
    # rounding must not push the interval off its own estimate at 0 and 1
    return np.clip(np.minimum(p, center - half), 0, 1), np.clip(np.maximum(p, center + half), 0, 1)


def newcombe_ends(
    first_count: np.ndarray,
    first_n: np.ndarray,
    second_count: np.ndarray,
    second_n: np.ndarray,
    *,
    level: float | np.ndarray = 0.05,
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of Newcombe's interval of first minus second share, elementwise; all n must be positive.

    Examples
    --------
    >>> ends = newcombe_ends(*(np.array([x]) for x in (56.0, 70.0, 48.0, 80.0)))
    >>> [end.round(4).tolist() for end in ends]
    [[0.0524], [0.3339]]
    """
    first, second = np.asarray(first_count) / first_n, np.asarray(second_count) / second_n
    first_low, first_high = wilson_ends(first_count, first_n, level=level)
    second_low, second_high = wilson_ends(second_count, second_n, level=level)
    gap = first - second
    low = gap - np.hypot(first - first_low, second_high - second)
    return low, gap + np.hypot(first_high - first, second - second_low)
