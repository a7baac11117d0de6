"""Which whole numbers occur, and the place of each row's among them, without sorting rows."""

from __future__ import annotations

import numpy as np

__all__ = ["ranked"]

_ROOM = 16  # places a row, up to which all numbers between the ends have one


def ranked(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what `np.unique` does with the inverse; rows are sorted only if their numbers lie far apart.

    Examples
    --------
    >>> ranked(np.array([7, 5, 7]))
    (array([5, 7]), array([1, 0, 1]))
    """
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if high - low > _ROOM * len(values):
        found, at = np.unique(values, return_inverse=True)
        return found, at
    seen = np.zeros(high - low + 1, dtype=bool)
    seen[values - low] = True
    return np.flatnonzero(seen) + low, (np.cumsum(seen) - 1)[values - low]
