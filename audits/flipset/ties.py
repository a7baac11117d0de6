"""How far flipset sizes depend on which of several cheapest couplings was found."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from audits.flipset.matching import Matched
from audits.transport import Cost, Coupling
from audits.transport.blocks import CostBlocks, threads
from audits.transport.costs import weighted

__all__ = ["tie_range"]

_MOST_PAIRS = 2_600_000_000  # costs looked at: 50,000 x 50,000 different people, half a minute
_MOST_FREE = 40_000  # pairs in the linear program
_SECONDS = 5.0
_ROUNDING = 1e-11  # of the largest cost; dual values are sums of many costs


def tie_range(
    matched: list[Matched], decisions: np.ndarray, sizes: np.ndarray, *, cost: Cost, weights: np.ndarray
) -> tuple[float, float] | None:
    """Smallest and largest positive flipset, in people, over all couplings of least cost.

    By Proposition 2 the negative flipset moves along: their difference is the same in all of them.

    Returns
    -------
    (float, float) or None
        Couplings of least cost but for rounding count as cheapest. None where counterparts are no exact
        coupling, where there are more than 2.6 billion pairs to look at, or where more than 40,000 of them
        can be exchanged for one another.

    Notes
    -----
    A coupling is of least cost exactly if it uses only pairs that the dual values make tight
    (complementary slackness). Most of those flows are forced; over the others the flips are minimised and
    maximised by a linear program.
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
    row, column = np.divmod(pairs, len(part.y))
    one, two, flips, wanted = _split(part, row, column, decisions, sizes)
    forced, left = _forced(one, two, wanted)
    settled = float(forced @ flips)
    if not len(left):
        return settled, settled
    if len(left) > _MOST_FREE:
        return None
    ends = _ends(one[left], two[left], flips[left], wanted)
    return None if ends is None else (max(settled + ends[0], 0.0), max(settled + ends[1], 0.0))


def _split(
    part: Matched, row: np.ndarray, column: np.ndarray, decisions: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of atoms as pairs of people alike in features and decision: both ends, flips, what each wants.

    Where scores are columns of the data, or thresholds differ by group, people of one atom are decided
    differently, and which of them gets which counterpart changes no cost.
    """
    ends, wants = [], []
    sides = (
        (part.source, part.source_atom, len(part.x), row, np.array([0, 0, 1, 1])),
        (part.target, part.target_atom, len(part.y), column, np.array([0, 1, 0, 1])),
    )
    for people, atom, count, of, favored in sides:
        mass = np.bincount(2 * atom + decisions[people], sizes[people], 2 * count)
        ends.append(2 * of[:, None] + favored)
        wants.append(mass / mass.sum())
    there = (wants[0][ends[0]] > 0) & (wants[1][ends[1]] > 0)
    one, two = (end[there] for end in ends)
    return one, two + len(wants[0]), (one % 2) * (1.0 - two % 2), np.concatenate(wants)


def _forced(one: np.ndarray, two: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Flows (pairs,) that no coupling over these pairs can have otherwise, and the pairs left open.

    Whoever has a single pair left sends all that remains of them through it. `wanted` (people,) is reduced
    to what remains. Where costs have no ties the pairs form trees, and all flows are forced.
    """
    ends = [one.tolist(), two.tolist()]
    open_pairs: list[set[int]] = [set() for _ in wanted]
    for pair, both in enumerate(zip(*ends, strict=True)):
        for person in both:
            open_pairs[person].add(pair)
    flow = np.zeros(len(one))
    remaining = wanted.tolist()
    waiting = [person for person, pairs in enumerate(open_pairs) if len(pairs) == 1]
    while waiting:
        person = waiting.pop()
        if len(open_pairs[person]) != 1:
            continue
        pair = open_pairs[person].pop()
        other = ends[1][pair] if ends[0][pair] == person else ends[0][pair]
        open_pairs[other].discard(pair)
        flow[pair] = max(remaining[person], 0.0)
        remaining[other] -= flow[pair]
        if len(open_pairs[other]) == 1:
            waiting.append(other)
    wanted[:] = np.maximum(remaining, 0.0)
    left = np.unique([pair for pairs in open_pairs for pair in pairs]).astype(np.int64)
    return flow, left


def _ends(
    one: np.ndarray, two: np.ndarray, flips: np.ndarray, wanted: np.ndarray
) -> tuple[float, float] | None:
    """Least and most flips over all flows through these pairs that give everyone what is `wanted`."""
    people, place = np.unique(np.r_[one, two], return_inverse=True)
    ones, pair = np.ones(len(place)), np.tile(np.arange(len(one)), 2)
    sums = sparse.csr_array((ones, (place, pair)), shape=(len(people), len(one)))
    found = []
    for sign in (1, -1):
        # sums of flows agree but for rounding; one side's last equation follows from the others
        solved = linprog(
            sign * flips, A_eq=sums, b_eq=wanted[people], method="highs", options={"time_limit": _SECONDS}
        )
        if solved.status != 0:
            return None
        found.append(sign * float(solved.fun))
    return found[0], found[1]


def _tight(
    part: Matched, coupling: Coupling, cost: Cost, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of atoms whose cost is what their dual values pay."""
    u, v = coupling.dual_source, coupling.dual_target
    costs = CostBlocks.build(*weighted(part.x, part.y, cost, weights), cost)

    def look(start: int, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        limit = _ROUNDING * max(float(block.max()), 1e-300)
        block -= u[start : start + len(block), None]
        block -= v
        row, column = np.nonzero(block <= limit)
        return row + start, column

    with threads() as pool:
        found = costs.each(look, pool)
    return np.concatenate([row for row, _ in found]), np.concatenate([column for _, column in found])
