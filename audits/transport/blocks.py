"""All pairs' costs, a few rows at a time: fast, with bounded memory, on every core.

An L1 cost is no matrix product, but the part of it that two-valued columns contribute is one: for a column
that takes only `low` and `high`, ``|x - y| = (high - low) * (p + q - 2 p q)`` with ``p, q`` in {0, 1}.
One-hot columns, most of a tabular data set, so cost next to nothing. Only columns whose step is a short
binary fraction (1, 0.5, ...) are handled so: their sums are exact, whatever order and number of threads BLAS
uses.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from audits.transport.costs import Cost, gathered_cost, inner_metric, outer

T = TypeVar("T")

_BLOCK = 1 << 17  # pairs a block: 1 MB of costs, which stays in a core's cache
_SHORT = 20  # bits: a column's step is "short" if it is a whole number of (largest power of two) / 2**20


@contextmanager
def threads() -> Iterator[ThreadPoolExecutor]:
    """Give a pool with a thread for each core that this process may use, at most four.

    Meanwhile BLAS keeps to one thread a call: more would wait for each other, spinning.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(min(cores, 4), "transport") as pool:
        yield pool


@dataclass(frozen=True, eq=False)
class CostBlocks:
    """Costs between the rows of `x` (n, d) and of `y` (m, d), already weighted.

    `x_rest`, `y_rest` hold the columns that are no two-valued ones, (n, r) and (m, r); `x_two` (n, t) and
    `y_two` (t, m) multiply to minus twice the shared part of the two-valued ones, `x_sum` and `y_sum` are
    their own parts, (n,) and (m,).
    """

    x: np.ndarray
    y: np.ndarray
    cost: Cost
    x_rest: np.ndarray
    y_rest: np.ndarray
    x_two: np.ndarray
    y_two: np.ndarray
    x_sum: np.ndarray
    y_sum: np.ndarray

    @classmethod
    def build(cls, x: np.ndarray, y: np.ndarray, cost: Cost) -> CostBlocks:
        """Sort the columns into two-valued ones and the rest."""
        low = np.minimum(x.min(axis=0), y.min(axis=0))
        high = np.maximum(x.max(axis=0), y.max(axis=0))
        step = high - low if inner_metric(cost) == "cityblock" else (high - low) ** 2
        two = ((x == low) | (x == high)).all(axis=0) & ((y == low) | (y == high)).all(axis=0)
        two &= np.fmod(step, _unit(step[two])) == 0
        p, q, step = (x[:, two] > low[two]).astype(float), (y[:, two] > low[two]).astype(float), step[two]
        rest = ~two
        return cls(
            x=x,
            y=y,
            cost=cost,
            x_rest=np.ascontiguousarray(x[:, rest]),
            y_rest=np.ascontiguousarray(y[:, rest]),
            x_two=p * (-2 * step),
            y_two=np.ascontiguousarray(q.T),
            x_sum=p @ step,
            y_sum=q @ step,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points (n, m)."""
        return len(self.x), len(self.y)

    def transposed(self) -> CostBlocks:
        """Return the same costs with source and target swapped."""
        return CostBlocks.build(self.y, self.x, self.cost)

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return the costs of rows `start` to `stop` against all of `y`, (stop - start, m), newly made."""
        if self.x_rest.shape[1]:
            block = cdist(self.x_rest[start:stop], self.y_rest, inner_metric(self.cost))
        else:
            block = np.zeros((stop - start, len(self.y)))
        if len(self.y_two):
            block += self.x_two[start:stop] @ self.y_two
            block += self.x_sum[start:stop, None]
            block += self.y_sum
        return outer(block, self.cost)

    def pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return the costs of the pairs ``(i, j)``, (p,)."""
        return gathered_cost(self.x, self.y, i, j, self.cost)

    def matrix(self) -> np.ndarray:
        """Return all costs, (n, m)."""
        return self.rows(0, len(self.x))

    def each(self, work: Callable[[int, np.ndarray], T], pool: ThreadPoolExecutor) -> list[T]:
        """Return ``work(start, costs of a few rows)`` for all rows, in order."""
        n, m = self.shape
        step = max(1, _BLOCK // m)

        def run(start: int) -> T:
            return work(start, self.rows(start, min(start + step, n)))

        return list(pool.map(run, range(0, n, step)))


def _unit(step: np.ndarray) -> float:
    """Return the power of two of which every short step is a multiple."""
    largest = step.max(initial=0.0)
    return 2.0 ** (np.floor(np.log2(largest)) - _SHORT) if largest > 0 else 1.0
