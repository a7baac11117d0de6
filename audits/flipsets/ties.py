"""How far flipset sizes depend on which of several cheapest couplings was found."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from audits.flipsets.matching import Matched
from audits.transport import Cost, Coupling, pairwise_cost

__all__ = ["tie_range"]

_MOST_PAIRS = 9_000_000  # costs looked at: 3,000 x 3,000 people
_MOST_TIGHT = 40_000  # pairs in the linear program
_SECONDS = 5.0
_ROWS = 500
_ROUNDING = 1e-11  # of the largest cost; dual values are sums of many costs


def tie_range(
    matched: list[Matched], decisions: np.ndarray, sizes: np.ndarray, *, cost: Cost, weights: np.ndarray
) -> tuple[float, float] | None:
    """Smallest and largest positive flipset, in people, over all couplings of least cost.

    By Proposition 2 the negative flipset moves along: their difference is the same in all of them.

    Returns
    -------
    (float, float) or None
        Couplings of least cost but for rounding count as cheapest. None where
        counterparts are no exact coupling, or where there are too many pairs to look into.

    Notes
    -----
    A coupling is of least cost exactly if it uses only pairs that the dual values make tight
    (complementary slackness): among those the flips are minimised and maximised by a linear program.
    """
    low = high = 0.0
    for part in matched:
        found = _stratum(part, decisions, sizes, cost, weights)
        if found is None:
            return None
        people = float(part.source_size.sum())
        low, high = low + people * found[0], high + people * found[1]
    return low, high


def _stratum(
    part: Matched, decisions: np.ndarray, sizes: np.ndarray, cost: Cost, weights: np.ndarray
) -> tuple[float, float] | None:
    if part.coupling is None or len(part.x) * len(part.y) > _MOST_PAIRS:
        return None
    row, column = _tight(part, part.coupling, cost, weights)
    used = sparse.coo_array(part.coupling.plan).coords
    pairs = np.unique(np.concatenate([row * len(part.y) + column, used[0] * len(part.y) + used[1]]))
    if len(pairs) > _MOST_TIGHT:
        return None
    row, column = np.divmod(pairs, len(part.y))
    h = part.mean_by_source(decisions[part.source], sizes[part.source])[row]
    g = part.mean_by_target(decisions[part.target], sizes[part.target])[column]
    flips = h * (1 - g)
    ones, place = np.ones(len(pairs)), np.arange(len(pairs))
    shape = (len(part.x) + len(part.y), len(pairs))
    sums = sparse.csr_array(
        (np.r_[ones, ones], (np.r_[row, len(part.x) + column], np.r_[place, place])), shape=shape
    )
    wanted = np.r_[part.source_size / part.source_size.sum(), part.target_size / part.target_size.sum()]
    ends = []
    for sign in (1, -1):
        solved = linprog(
            sign * flips, A_eq=sums, b_eq=wanted, method="highs", options={"time_limit": _SECONDS}
        )
        if solved.status != 0:
            return None
        ends.append(sign * float(solved.fun))
    return max(ends[0], 0.0), max(ends[1], 0.0)


def _tight(
    part: Matched, coupling: Coupling, cost: Cost, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of atoms whose cost is what their dual values pay."""
    u, v = coupling.dual_source, coupling.dual_target
    rows, columns = [], []
    for start in range(0, len(part.x), _ROWS):
        costs = pairwise_cost(part.x[start : start + _ROWS], part.y, cost, weights)
        slack = costs - u[start : start + _ROWS, None] - v
        row, column = np.nonzero(slack <= _ROUNDING * max(float(costs.max()), 1e-300))
        rows.append(row + start)
        columns.append(column)
    return np.concatenate(rows), np.concatenate(columns)
