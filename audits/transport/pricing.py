"""Which of all pairs are worth giving to the network simplex: three passes over blocks of reduced costs.

A pair is written as one number, ``i * m + j``. What is kept of a row depends on that row alone, in the atoms'
own order, and draws nothing at random.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from audits.transport.blocks import CostBlocks

_NEAREST = 12  # pairs of smallest reduced cost kept of each row
_SPREAD = 12  # further pairs kept, spread evenly over the band of ...
_BAND = 120  # ... about this many of smallest reduced cost
_ADDED = 20  # pairs that one row may add in a round
_LOOKED_AT = 1024  # columns from which a row's band is estimated


def lowest(blocks: CostBlocks, v: np.ndarray, pool: ThreadPoolExecutor) -> np.ndarray:
    """Return the c-transform of `v` (m,): ``min_j c_ij - v_j`` for each row, (n,)."""
    return np.concatenate(blocks.each(lambda _, costs: np.subtract(costs, v, out=costs).min(axis=1), pool))


def promising(blocks: CostBlocks, v: np.ndarray, pool: ThreadPoolExecutor) -> tuple[np.ndarray, np.ndarray]:
    """Return the c-transform of `v` (m,), and the pairs of each row of smallest reduced cost.

    Of the band of smallest reduced costs the very smallest are kept and then every so-manieth: the duals are
    good only up to a sampling error that varies slowly over space, so that the best pairs of neighboring
    rows are the same few columns, and a plan needs others too.
    """
    m = len(v)
    step = max(1, m // _LOOKED_AT)
    last = min(len(range(0, m, step)) - 1, -(-_BAND // step))

    def work(start: int, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        costs -= v
        edge = np.partition(costs[:, ::step], last, axis=1)[:, last]
        row, column = _thin(costs <= edge[:, None], 2 * _BAND)
        order = np.lexsort((costs[row, column], row))
        row, column = row[order], column[order]
        size, rank = _positions(row, len(costs))
        band = (size - _NEAREST)[row]
        kept = (rank < _NEAREST) | (((rank - _NEAREST) * _SPREAD) % np.maximum(band, 1) < _SPREAD)
        return costs.min(axis=1), (start + row[kept]) * m + column[kept]

    parts = blocks.each(work, pool)
    return np.concatenate([low for low, _ in parts]), np.concatenate([pairs for _, pairs in parts])


def improving(
    blocks: CostBlocks, u: np.ndarray, v: np.ndarray, threshold: float, pool: ThreadPoolExecutor
) -> tuple[np.ndarray, np.ndarray]:
    """Return the c-transform of `v` (m,), and pairs of reduced cost under `u`, `v` below ``-threshold``.

    Of a row with many such pairs some are returned, spread evenly over its columns, and the smallest.
    """
    m = len(v)

    def work(start: int, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        costs -= v
        low = costs.min(axis=1)
        limit = u[start : start + len(costs)] - threshold
        found = np.flatnonzero(low < limit)
        if not found.size:
            return low, np.empty(0, dtype=np.intp)
        costs, limit = costs[found], limit[found]
        row, column = _thin(costs < limit[:, None], _ADDED)
        row = np.concatenate([row, np.arange(len(found))])
        column = np.concatenate([column, costs.argmin(axis=1)])
        return low, (start + found[row]) * m + column

    parts = blocks.each(work, pool)
    return np.concatenate([low for low, _ in parts]), np.concatenate([pairs for _, pairs in parts])


def _thin(wanted: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of the True cells of `wanted` (n, m), at most `most` a row, evenly spaced."""
    row, column = np.nonzero(wanted)
    size, rank = _positions(row, len(wanted))
    size = size[row]
    kept = (rank * most + row) % np.maximum(size, 1) < most
    return row[kept], column[kept]


def _positions(row: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many entries each of `n` rows has, (n,), and each entry's place in its row (sorted)."""
    size = np.bincount(row, minlength=n)
    return size, np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
