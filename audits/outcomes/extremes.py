"""Smallest and largest mean of a function of pairs over flows on given pairs: a transport problem each way.

Large problems are solved on some of the pairs at first; those that the duals price as improving are added
until none is left (column generation), as in `audits.transport.restricted`. Feasible duals of all pairs bound
the value from outside, so that stopping early still gives a range that holds every flow's value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from audits.transport.atoms import supplies
from audits.transport.simplex import Basis, solve_pairs

__all__ = ["Ends", "extreme"]

_AT_ONCE = 300_000  # pairs that are solved all together
_LARGE = 1_000_000  # pairs from which a few rounds have to do
_ROUNDS, _FEW_ROUNDS = 30, 5
_CHEAP = 12  # pairs of each row and column to start with, and as many at random
_CLOSED = 1e-7  # of the values' range: a gap between both bounds that counts as none
_ADDED = 0.5  # pairs are added if they improve at least so much as the best one of their row or column


class Ends(NamedTuple):
    """Smallest and largest mean per unit of mass; not `exact`: bounds from outside."""

    low: float
    high: float
    exact: bool


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs sorted by row, then column; `by_column` sorts them by column. Whole `supply` and `demand`."""

    i: np.ndarray
    j: np.ndarray
    supply: np.ndarray
    demand: np.ndarray
    by_column: np.ndarray
    row_start: np.ndarray
    column_start: np.ndarray

    @classmethod
    def build(cls, supply: np.ndarray, demand: np.ndarray, i: np.ndarray, j: np.ndarray) -> _Pairs:
        by_column = np.argsort(j, kind="stable")
        starts = [
            np.searchsorted(sorted_, np.arange(size))
            for sorted_, size in ((i, len(supply)), (j[by_column], len(demand)))
        ]
        return cls(i, j, supply, demand, by_column, starts[0], starts[1])


def extreme(
    supply: np.ndarray,
    demand: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
    values: np.ndarray,
    *,
    start: np.ndarray | None = None,
) -> Ends | None:
    """Bound ``sum(flow * values)`` per unit of mass over all flows on the pairs ``(i, j)``, (p,), sorted.

    Parameters
    ----------
    supply, demand : arrays (n,), (m,)
        Above 0, with sums that agree; every row and column has a pair.
    values : array (p,)
    start : array of rows (n,), optional
        An order of rows in which matching rows and columns in turn uses given pairs only; needed where there
        are too many pairs to be solved at once.

    Returns
    -------
    Ends or None
        None if there is no such flow, or the network simplex finds none.
    """
    whole, other = supplies(supply, demand)
    low, high = float(values.min()), float(values.max())
    if low == high:
        return Ends(low, high, True)
    at_once = len(i) <= _AT_ONCE
    pairs = None if at_once else _Pairs.build(whole, other, i, j)
    first = None if pairs is None or start is None else _in_turn(pairs, start)
    if not at_once and first is None:
        return None
    ends, exact = [], True
    for costs, sign, shift in ((values - low, 1.0, low), (high - values, -1.0, high)):
        if pairs is None or first is None:
            found = _all_pairs(whole, other, i, j, costs)
        else:
            found = _rounds(pairs, costs, first, _FEW_ROUNDS if len(i) > _LARGE else _ROUNDS)
        if found is None:
            return None
        ends.append(shift + sign * found[0])
        exact &= found[1]
    return Ends(min(ends), max(ends), exact)


def _all_pairs(
    supply: np.ndarray, demand: np.ndarray, i: np.ndarray, j: np.ndarray, costs: np.ndarray
) -> tuple[float, bool] | None:
    basis = solve_pairs(supply, demand, i, j, costs)
    if basis is None:
        return None
    price = sparse.csr_array((costs, (i, j)), shape=(len(supply), len(demand)))
    return float(np.asarray(price[basis.i, basis.j]).ravel() @ basis.flow / supply.sum()), True


def _in_turn(pairs: _Pairs, order: np.ndarray) -> np.ndarray | None:
    """Positions of the pairs that matching in turn uses; None if one of them is not given."""
    up_to_row, up_to_column = np.cumsum(pairs.supply[order]), np.cumsum(pairs.demand)
    cuts = np.union1d(up_to_row, up_to_column)
    row, column = order[np.searchsorted(up_to_row, cuts)], np.searchsorted(up_to_column, cuts)
    m = len(pairs.demand)
    keys, wanted = pairs.i * m + pairs.j, row * m + column
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return at if np.array_equal(keys[at], wanted) else None


def _rounds(pairs: _Pairs, costs: np.ndarray, first: np.ndarray, most: int) -> tuple[float, bool] | None:
    """Bound the least mean cost from below; also whether some flow reaches the bound."""
    total = float(pairs.supply.sum())
    kept = np.unique(np.concatenate([first, _promising(pairs, costs)]))
    bound, scale = -np.inf, float(costs.max())
    for _ in range(most):
        basis = solve_pairs(pairs.supply, pairs.demand, pairs.i[kept], pairs.j[kept], costs[kept])
        if basis is None:
            return None
        reduced = costs - basis.u[pairs.i] - basis.v[pairs.j]
        by_row = np.minimum.reduceat(reduced, pairs.row_start)
        value = pairs.supply @ (basis.u + np.minimum(by_row, 0.0)) + pairs.demand @ basis.v
        bound = max(bound, float(value) / total)
        if _paid(pairs, costs, kept, basis) / total - bound <= _CLOSED * scale:
            return bound, True
        added = _improving(pairs, reduced, by_row)
        if not len(np.setdiff1d(added, kept)):
            break
        kept = np.union1d(kept, added)
    return bound, False


def _paid(pairs: _Pairs, costs: np.ndarray, kept: np.ndarray, basis: Basis) -> float:
    m = len(pairs.demand)
    keys = pairs.i[kept] * m + pairs.j[kept]
    return float(costs[kept][np.searchsorted(keys, basis.i * m + basis.j)] @ basis.flow)


def _promising(pairs: _Pairs, costs: np.ndarray) -> np.ndarray:
    """Some of the cheapest pairs of each row and column, and some at random."""
    found = []
    for order, start in ((np.arange(len(costs)), pairs.row_start), (pairs.by_column, pairs.column_start)):
        stop = np.append(start[1:], len(costs))
        line = np.repeat(np.arange(len(start)), stop - start)
        ranked = np.lexsort((costs[order], line))
        place = np.arange(len(ranked)) - start[line]
        found.append(order[ranked[place < _CHEAP]])
    rng = np.random.default_rng(0)
    length = np.diff(np.append(pairs.row_start, len(costs)))
    drawn = pairs.row_start[:, None] + (rng.random((len(length), _CHEAP)) * length[:, None]).astype(np.int64)
    return np.concatenate([*found, drawn.ravel()])


def _improving(pairs: _Pairs, reduced: np.ndarray, by_row: np.ndarray) -> np.ndarray:
    """Pairs of negative reduced cost that are among the best of their row or of their column."""
    negative = np.flatnonzero(reduced < 0)
    by_column = np.minimum.reduceat(reduced[pairs.by_column], pairs.column_start)
    value = reduced[negative]
    best = (value <= _ADDED * by_row[pairs.i[negative]]) | (value <= _ADDED * by_column[pairs.j[negative]])
    return negative[best]
