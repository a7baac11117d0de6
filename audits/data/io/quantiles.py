"""Values of a column by their place in order, of a table that is read in batches: two passes, little memory.

The first counts values in a million narrow bins between the column's ends, the second holds the different
values of those bins that a wanted place lies in, and how often each occurs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from audits.data.io.batches import Batches

__all__ = ["known_numbers", "values_at"]

_BINS = 2**20


def values_at(batches: Batches, column: str, places: np.ndarray) -> np.ndarray | None:
    """Return the values at `places` (k,), from 0, among the known numbers of a column in rising order.

    None where the column holds no finite number.
    """
    ends = batches.ends(column)
    if ends is None:
        return None
    low, width = ends[0], (ends[1] - ends[0]) / _BINS
    if width == 0:
        return np.full(len(places), low)
    counts = np.zeros(_BINS, dtype=np.int64)
    for values in _numbers(batches, column):
        counts += np.bincount(_bin(values, low, width), minlength=_BINS)
    upto = np.cumsum(counts)
    wanted = np.searchsorted(upto, places, side="right")
    inside = np.zeros(_BINS, dtype=bool)
    inside[wanted] = True
    held: dict[float, int] = {}
    for values in _numbers(batches, column):
        some, times = np.unique(values[inside[_bin(values, low, width)]], return_counts=True)
        for value, count in zip(some.tolist(), times.tolist(), strict=True):
            held[value] = held.get(value, 0) + count
    known = np.array(sorted(held))
    ranks = np.cumsum([held[value] for value in known.tolist()])
    before = np.cumsum(np.where(inside, counts, 0)) - np.where(inside, counts, 0)  # held, in bins below
    shifted = places - (upto[wanted] - counts[wanted]) + before[wanted]
    found: np.ndarray = known[np.searchsorted(ranks, shifted, side="right")]
    return found


def known_numbers(batches: Batches, column: str) -> int:
    """Return how many rows of a column hold a finite number."""
    return sum(len(values) for values in _numbers(batches, column))


def _numbers(batches: Batches, column: str) -> Iterator[np.ndarray]:
    for batch in batches.read([column]):
        values = batch.column(0)
        if isinstance(values, pa.DictionaryArray):
            values = values.dictionary_decode()
        numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        yield numbers[np.isfinite(numbers)]


def _bin(values: np.ndarray, low: float, width: float) -> np.ndarray:
    return np.clip(((values - low) / width).astype(np.int64), 0, _BINS - 1)
