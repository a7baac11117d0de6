"""Smallest and largest mean of a function of pairs over flows on given pairs: a transport problem each way.

Large problems are solved on some of the pairs at first; those that the duals price as improving are added
until none is left (column generation), as in `audits.transport.restricted`. Both ends are looked for side by
side, a step at a time. Feasible duals of all pairs bound
the value from outside, so that stopping early still gives a range that holds every flow's value.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from audits.progress import Progress, silent
from audits.transport.atoms import supplies
from audits.transport.blocks import threads
from audits.transport.simplex import Basis, solve_pairs

__all__ = ["Ends", "extreme"]

_AT_ONCE = 300_000  # pairs that are solved all together
_LARGE = 1_000_000  # pairs from which a few rounds have to do
_ROUNDS, _FEW_ROUNDS = 30, 5
_CHEAP = 12  # pairs of each row and column to start with, and as many at random
_DOING = "Bounding bias over all optimal couplings"
_CLOSED = 1e-7  # of the values' range: a gap between both bounds that counts as none
_AT_A_TIME = 1 << 18  # pairs that are ranked together: 2 MB of values
_ADDED = 0.5  # pairs are added if they improve at least so much as the best one of their row or column


_Found = tuple[float, bool] | None  # a bound, and whether it is reached; None where the solver failed
_Search = Generator[float, None, _Found]  # yields how far it is, after every piece of work


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
    progress: Progress = silent,
) -> Ends | None:
    """Bound ``sum(flow * values)`` per unit of mass over all flows on the pairs ``(i, j)``, (p,), sorted.

    Parameters
    ----------
    supply, demand : arrays (n,), (m,)
        Above 0, with sums that agree; every row and column has a pair. Whole numbers of equal sums stay so.
    values : array (p,)
    start : array of rows (n,), optional
        An order of rows in which matching rows and columns in turn uses given pairs only; needed where there
        are too many pairs to be solved at once.
    progress : callable
        Told between pieces of work; may raise to stop it.

    Returns
    -------
    Ends or None
        None if there is no such flow, or the network simplex finds none.
    """
    settled = supply.sum() == demand.sum() and all((w == np.rint(w)).all() for w in (supply, demand))
    whole, other = (supply, demand) if settled else supplies(supply, demand)
    low, high = float(values.min()), float(values.max())
    if low == high:
        return Ends(low, high, True)
    at_once = len(i) <= _AT_ONCE
    pairs = None if at_once else _Pairs.build(whole, other, i, j)
    first = None if pairs is None or start is None else _in_turn(pairs, start)
    if not at_once and first is None:
        return None
    both = values - low, high - values
    if pairs is None or first is None:
        searches = [_all_pairs(whole, other, i, j, costs) for costs in both]
    else:
        sure = np.concatenate([first, _drawn(pairs)])
        most = _FEW_ROUNDS if len(i) > _LARGE else _ROUNDS
        searches = [_rounds(pairs, costs, sure, most) for costs in both]
    smallest, largest = _side_by_side(searches, progress)
    if smallest is None or largest is None:
        return None
    ends = low + smallest[0], high - largest[0]
    return Ends(min(ends), max(ends), smallest[1] and largest[1])


def _side_by_side(searches: Sequence[_Search], progress: Progress) -> list[_Found]:
    """Take every search a step further until all are done; only between steps the work can be stopped."""
    found: list[_Found] = [None] * len(searches)
    reached = [0.0] * len(searches)

    def step(k: int) -> bool:
        try:
            reached[k] = next(searches[k])
        except StopIteration as last:
            reached[k], found[k] = 1.0, last.value
            return False
        return True

    going = list(range(len(searches)))
    with threads() as pool:
        while going:
            progress(sum(reached) / len(reached), _DOING)
            going = [k for k, more in zip(going, pool.map(step, going), strict=True) if more]
    return found


def _all_pairs(
    supply: np.ndarray, demand: np.ndarray, i: np.ndarray, j: np.ndarray, costs: np.ndarray
) -> _Search:
    yield 0.0
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


def _rounds(pairs: _Pairs, costs: np.ndarray, sure: np.ndarray, most: int) -> _Search:
    """Bound the least mean cost from below; also whether some flow reaches the bound.

    `sure` are positions of pairs to start with, beside promising ones.
    """
    total, length = float(pairs.supply.sum()), np.diff(pairs.row_start, append=len(costs))
    bound, scale = -np.inf, float(costs.max())
    kept = np.zeros(len(costs), dtype=bool)
    kept[sure] = True
    yield 0.0
    kept[_cheapest(costs, pairs.row_start)] = True
    yield 0.5 / (most + 1)
    kept[pairs.by_column[_cheapest(costs[pairs.by_column], pairs.column_start)]] = True
    for number in range(1, most + 1):
        yield number / (most + 1)
        chosen = np.flatnonzero(kept)
        basis = solve_pairs(pairs.supply, pairs.demand, pairs.i[chosen], pairs.j[chosen], costs[chosen])
        if basis is None:
            return None
        yield (number + 0.5) / (most + 1)
        reduced = costs - np.repeat(basis.u, length)
        reduced -= basis.v[pairs.j]
        by_row = np.minimum.reduceat(reduced, pairs.row_start)
        value = pairs.supply @ (basis.u + np.minimum(by_row, 0.0)) + pairs.demand @ basis.v
        bound = max(bound, float(value) / total)
        if _paid(pairs, costs, chosen, basis) / total - bound <= _CLOSED * scale:
            return bound, True
        if number == most:
            break
        added = _improving(pairs, reduced, by_row)
        if kept[added].all():
            break
        kept[added] = True
    return bound, False


def _paid(pairs: _Pairs, costs: np.ndarray, kept: np.ndarray, basis: Basis) -> float:
    m = len(pairs.demand)
    keys = pairs.i[kept] * m + pairs.j[kept]
    return float(costs[kept][np.searchsorted(keys, basis.i * m + basis.j)] @ basis.flow)


def _cheapest(costs: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Positions of the `_CHEAP` smallest costs of each line, the first ones among equal.

    Lines follow each other in `costs`, from `start`; some are ranked together, filled up to the longest.
    """
    stop = np.append(start[1:], len(costs))
    length = stop - start
    step = max(1, _AT_A_TIME // int(length.max()))
    found = []
    for line in range(0, len(start), step):
        lines = slice(line, line + step)
        begin, end = int(start[lines][0]), int(stop[lines][-1])
        real = np.arange(length[lines].max()) < length[lines, None]
        block = np.full(real.shape, np.inf)
        block[real] = costs[begin:end]
        limit = np.partition(block, min(_CHEAP, block.shape[1]) - 1, axis=1)[:, _CHEAP - 1 : _CHEAP]
        if not limit.shape[1]:
            found.append(np.arange(begin, end))
            continue
        below, equal = block < limit, block == limit
        left = _CHEAP - below.sum(axis=1, keepdims=True)
        taken = below | (equal & (np.cumsum(equal, axis=1, dtype=np.int32) <= left))
        found.append(begin + np.flatnonzero(taken[real]))
    return np.concatenate(found)


def _drawn(pairs: _Pairs) -> np.ndarray:
    """Some pairs of each row at random."""
    length = np.diff(pairs.row_start, append=len(pairs.i))
    random = np.random.default_rng(0).random((len(length), _CHEAP))
    return (pairs.row_start[:, None] + (random * length[:, None]).astype(np.int64)).ravel()


def _improving(pairs: _Pairs, reduced: np.ndarray, by_row: np.ndarray) -> np.ndarray:
    """Pairs of negative reduced cost that are among the best of their row or of their column."""
    negative = np.flatnonzero(reduced < 0)
    by_column = np.minimum.reduceat(reduced[pairs.by_column], pairs.column_start)
    value = reduced[negative]
    best = (value <= _ADDED * by_row[pairs.i[negative]]) | (value <= _ADDED * by_column[pairs.j[negative]])
    return negative[best]
