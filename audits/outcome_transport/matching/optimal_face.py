"""What every optimal coupling can say: smallest and largest values over the whole optimal face.

A coupling is optimal exactly if all its mass lies on tight pairs: those whose cost equals the sum of their
optimal dual values (complementary slackness). Which pairs are tight is worked out here in whole numbers:

* On a line with a strictly convex cost the atoms' coupling is unique, so a pair is tight where it has mass;
  only equal outcomes leave a choice.
* On a line with the plain distance (Eq. 10) far more couplings are optimal. Let D be the mass of source
  outcomes minus that of target outcomes up to a gap between two neighboring outcomes. Where D > 0 mass has
  to cross the gap upwards, where D < 0 downwards, where D = 0 not at all; and any coupling that never crosses
  a gap against its sign is optimal (each gap then costs |D| times its width, which is the least possible).
* For vectors, the tight pairs are read off the certified duals.

Smallest and largest mean of a function of pairs over the face are transport problems on tight pairs
(`audits.transport.extremes`). Where they would be too large, each person's best and worst tight counterpart
bound the mean from outside: such a range may be wider than need be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from audits.outcome_transport.matching.outcomes import OutcomePlan
from audits.transport import pairwise_cost
from audits.transport.atoms import supplies

_TIGHT = 1e-9  # of the largest cost: a reduced cost that float64 cannot tell from 0
_MAX_PAIRS = 25_000_000  # pairs of different outcome vectors that are looked at


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
        row, which = ragged_ranges(begin[source_atom], stop[source_atom])
        low, high = target_start[self.first[which]], target_start[self.last[which] + 1]
        if int((high - low).sum()) > most:
            return None
        inner, column = ragged_ranges(low, high)
        return row[inner], column


def ragged_ranges(start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number all of ``range(start[i], stop[i])``: returns i and the number, both (sum of lengths,)."""
    length = stop - start
    row = np.repeat(np.arange(len(start)), length)
    before = np.repeat(np.cumsum(length) - length, length)
    return row, np.arange(len(row)) - before + np.repeat(start, length)


def crossing(matched: OutcomePlan) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Mass that has to cross each gap between neighboring outcomes of either side.

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


def whole_supplies(matched: OutcomePlan) -> tuple[np.ndarray, np.ndarray]:
    """People of each outcome as whole numbers of equal sums, outcomes of no weight included as 0."""
    here, there = matched.source.weights > 0, matched.target.weights > 0
    supply, demand = np.zeros(len(here)), np.zeros(len(there))
    supply[here], demand[there] = supplies(matched.source.weights[here], matched.target.weights[there])
    return supply, demand


def optimal_face(matched: OutcomePlan) -> Face | None:
    """Tight pairs of outcomes; None for a blurred coupling, or for too many outcome vectors."""
    if not matched.exact:
        return None
    if matched.on_a_line and matched.ground == "euclidean":
        return _line_face(matched)
    if matched.on_a_line:
        cells = sparse.coo_array(matched.flow)
        return _as_face(cells.row, cells.col)
    if matched.duals is None or len(matched.x) * len(matched.y) > _MAX_PAIRS:
        return None
    costs = pairwise_cost(matched.x, matched.y, "l2" if matched.ground == "euclidean" else "l2_squared")
    u, v = matched.duals
    return _as_face(*np.nonzero(costs - u[:, None] - v <= _TIGHT * max(float(costs.max()), 1e-300)))


def _as_face(row: np.ndarray, column: np.ndarray) -> Face:
    order = np.lexsort((column, row))
    return Face(row[order], column[order], column[order])


def _line_face(matched: OutcomePlan) -> Face:
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
    matched: OutcomePlan, members: np.ndarray, others: np.ndarray
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
    rest can then always be completed. The least is R's mass less the most that reaches everyone but C.
    """
    if not (matched.exact and matched.on_a_line):
        return None
    most = _most_by_gaps if matched.ground == "euclidean" else _most_by_cells
    members, others = members / members.sum(), others / others.sum()
    rest = others.sum(axis=1, keepdims=True) - others
    high = most(matched, members, others)
    low = members.sum(axis=0)[:, None] - most(matched, members, np.maximum(rest, 0.0))
    return np.clip(low, 0.0, high), high


def _most_by_gaps(matched: OutcomePlan, members: np.ndarray, others: np.ndarray) -> np.ndarray:
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


def _most_by_cells(matched: OutcomePlan, members: np.ndarray, others: np.ndarray) -> np.ndarray:
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
