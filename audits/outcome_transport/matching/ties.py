"""What every optimal coupling can say: smallest and largest values over the whole optimal face.

A coupling is optimal exactly if all its mass lies on tight pairs: those whose cost equals the sum of their
optimal dual values (complementary slackness). Which pairs are tight is worked out here in whole numbers:

* On a line with a strictly convex cost the atoms' coupling is unique, so a pair is tight where it has mass;
  only equal outcomes leave a choice.
* On a line with the plain distance (Eq. 10) far more couplings are optimal. Let D be the mass of source
  outcomes minus that of target outcomes up to a gap between two neighbouring outcomes. Where D > 0 mass has
  to cross the gap upwards, where D < 0 downwards, where D = 0 not at all; and any coupling that never crosses
  a gap against its sign is optimal (each gap then costs |D| times its width, which is the least possible).
* For vectors, the tight pairs are read off the certified duals.

Smallest and largest mean of a function of pairs over the face are transport problems on tight pairs
(`extreme`). Large ones are solved on some of the pairs at first; those that the duals price as improving are
added until none is left (column generation), as in `audits.transport.restricted`. Both ends are looked for
side by side, a step at a time. Feasible duals of all pairs bound the value from outside, so that stopping
early still gives a range that holds every flow's value. Where even that would be too large, each person's
best and worst tight counterpart bound it from outside: such a range may be wider than need be.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from audits.outcome_transport.matching.outcomes import MatchedOutcomes
from audits.progress import Progress, silent
from audits.transport import pairwise_cost
from audits.transport.atoms import supplies
from audits.transport.blocks import threads
from audits.transport.simplex import Basis, solve_pairs

__all__ = ["Ends", "Face", "crossing", "extreme", "flow_extremes", "optimal_face", "ragged", "whole_supplies"]

_TIGHT = 1e-9  # of the largest cost: a reduced cost that float64 cannot tell from 0
_MOST_PAIRS = 25_000_000  # pairs of different outcome vectors that are looked at


@dataclass(frozen=True, eq=False)
class Face:
    """Tight pairs of outcomes, as ranges: source outcome `atom` may go to targets `first` to `last`.

    All three are (r,) and sorted by `atom`, then `first`.
    """

    atom: np.ndarray
    first: np.ndarray
    last: np.ndarray

    def ends(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Where each of `k` source outcomes' ranges start and stop, (k,) and (k,)."""
        return np.searchsorted(self.atom, np.arange(k)), np.searchsorted(self.atom, np.arange(k), "right")

    def pairs(
        self, source_atom: np.ndarray, target_start: np.ndarray, k: int, most: int
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Tight pairs of people, or None if there are more than `most`.

        Parameters
        ----------
        source_atom : array (p,)
            Outcome of each source row.
        target_start : array (l + 1,)
            Target rows are sorted by outcome; those of outcome j are ``target_start[j]`` up to the next.
        k : int
            Source outcomes.
        """
        begin, stop = self.ends(k)
        row, which = ragged(begin[source_atom], stop[source_atom])
        low, high = target_start[self.first[which]], target_start[self.last[which] + 1]
        if int((high - low).sum()) > most:
            return None
        inner, column = ragged(low, high)
        return row[inner], column


def ragged(start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number all of ``range(start[i], stop[i])``: returns i and the number, both (sum of lengths,)."""
    length = stop - start
    row = np.repeat(np.arange(len(start)), length)
    before = np.repeat(np.cumsum(length) - length, length)
    return row, np.arange(len(row)) - before + np.repeat(start, length)


def crossing(matched: MatchedOutcomes) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Mass that has to cross each gap between neighbouring outcomes of either side.

    Returns
    -------
    values : array (t,)
        All outcomes in order.
    at_source, at_target : arrays (k,), (l,)
        Position of each side's outcomes among them.
    surplus : array (t - 1,)
        Whole numbers: source minus target mass up to the gap. Above 0: mass crosses upwards.
    """
    x, y = matched.x[:, 0], matched.y[:, 0]
    values = np.union1d(x, y)
    at_source, at_target = np.searchsorted(values, x), np.searchsorted(values, y)
    supply, demand = whole_supplies(matched)
    step = np.bincount(at_source, supply, len(values)) - np.bincount(at_target, demand, len(values))
    return values, at_source, at_target, np.cumsum(step)[:-1]


def whole_supplies(matched: MatchedOutcomes) -> tuple[np.ndarray, np.ndarray]:
    """People of each outcome as whole numbers of equal sums, outcomes of no weight included as 0."""
    here, there = matched.source.weights > 0, matched.target.weights > 0
    supply, demand = np.zeros(len(here)), np.zeros(len(there))
    supply[here], demand[there] = supplies(matched.source.weights[here], matched.target.weights[there])
    return supply, demand


def optimal_face(matched: MatchedOutcomes) -> Face | None:
    """Tight pairs of outcomes; None for a blurred coupling, or for too many outcome vectors."""
    if not matched.exact:
        return None
    if matched.on_a_line and matched.ground == "euclidean":
        return _line_face(matched)
    if matched.on_a_line:
        cells = sparse.coo_array(matched.flow)
        return _as_face(cells.row, cells.col)
    if matched.duals is None or len(matched.x) * len(matched.y) > _MOST_PAIRS:
        return None
    costs = pairwise_cost(matched.x, matched.y, "l2" if matched.ground == "euclidean" else "l2_squared")
    u, v = matched.duals
    return _as_face(*np.nonzero(costs - u[:, None] - v <= _TIGHT * max(float(costs.max()), 1e-300)))


def _as_face(row: np.ndarray, column: np.ndarray) -> Face:
    order = np.lexsort((column, row))
    return Face(row[order], column[order], column[order])


def _line_face(matched: MatchedOutcomes) -> Face:
    """From each source outcome, as far as all gaps have the same sign."""
    values, at_source, at_target, surplus = crossing(matched)
    t = len(values)
    gaps = np.arange(t - 1)
    # the first gap at or after each position that stops a move up
    stops_up = np.append(np.where(surplus > 0, t - 1, gaps), t - 1)
    top = np.minimum.accumulate(stops_up[::-1])[::-1]
    # and the last one before it that stops a move down
    stops_down = np.append(0, np.where(surplus < 0, 0, gaps + 1))
    bottom = np.maximum.accumulate(stops_down)
    first = np.searchsorted(at_target, bottom[at_source])
    last = np.searchsorted(at_target, top[at_source], "right") - 1
    kept = (matched.source.weights > 0) & (first <= last)
    return Face(np.flatnonzero(kept), first[kept], last[kept])


def flow_extremes(
    matched: MatchedOutcomes, members: np.ndarray, others: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Smallest and largest mass from each source subgroup to each target subgroup over optimal couplings.

    Parameters
    ----------
    members : array (k, r)
        Source people of each subgroup by outcome.
    others : array (l, c)
        Target people of each subgroup by outcome.

    Returns
    -------
    low, high : arrays (r, c), or None
        Masses as shares of all source people; None for outcomes that are vectors, or a blurred coupling.

    Notes
    -----
    Exact, and linear in the number of outcomes. The mass of subgroup R that reaches subgroup C is largest
    where the two are matched with each other first, subject to what the coupling of atoms lets through; the
    rest can then always be completed. The least is R's mass less the most that reaches everybody but C.
    """
    if not (matched.exact and matched.on_a_line):
        return None
    most = _most_by_gaps if matched.ground == "euclidean" else _most_by_cells
    members, others = members / members.sum(), others / others.sum()
    rest = others.sum(axis=1, keepdims=True) - others
    high = most(matched, members, others)
    low = members.sum(axis=0)[:, None] - most(matched, members, np.maximum(rest, 0.0))
    return np.clip(low, 0.0, high), high


def _most_by_gaps(matched: MatchedOutcomes, members: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Largest mass (r, c) where any coupling that respects the gaps' signs is optimal: one sweep."""
    values, at_source, at_target, surplus = crossing(matched)
    capacity = surplus / whole_supplies(matched)[0].sum()
    supply, demand = np.zeros((len(values), members.shape[1])), np.zeros((len(values), others.shape[1]))
    supply[at_source], demand[at_target] = members, others
    shape = (members.shape[1], others.shape[1])
    total, moving, waiting = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for here in range(len(values)):
        moving = moving + supply[here][:, None]
        waiting = waiting + demand[here]
        met = np.minimum(moving, waiting)
        total += met
        if here == len(values) - 1:
            break
        gap = capacity[here]
        moving = np.minimum(moving - met, max(gap, 0.0))
        waiting = np.minimum(waiting - met, max(-gap, 0.0))
    return total


def _most_by_cells(matched: MatchedOutcomes, members: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Largest mass (r, c) where the coupling of atoms is unique: cells of the staircase in order."""
    cells = sparse.coo_array(matched.flow)
    order = np.lexsort((cells.col, cells.row))
    shape = (members.shape[1], others.shape[1])
    total = np.zeros(shape)
    row_at = column_at = -1
    for cell in order:
        k, j = int(cells.row[cell]), int(cells.col[cell])
        if k != row_at:
            row_at, left = k, np.broadcast_to(members[k][:, None], shape)
        if j != column_at:
            column_at, free = j, np.broadcast_to(others[j], shape)
        met = np.minimum(np.minimum(left, free), cells.data[cell])
        total += met
        left, free = left - met, free - met
    return total


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
