"""The network simplex on the few pairs that matter, and the proof that the others do not.

A coupling of k and l atoms uses at most k + l - 1 of their k * l pairs. So:

1. Solve a sample, and extend its duals to all atoms by the c-transform ``u_i = min_j c_ij - v_j``.
2. Keep the pairs whose reduced cost ``c_ij - u_i - v_j`` is smallest, for each row and each column, and some
   of the next ones (one in a few: the very smallest lie close together and leave regions unconnected).
3. Solve those pairs with the network simplex; it sees reduced costs, which it needs far fewer pivots for.
4. Look at all pairs, block by block: those with negative reduced cost under the new duals could improve the
   plan. Shifting each dual by its row's smallest reduced cost makes the duals feasible, and their value
   bounds the least cost from below. Stop if the plan's cost meets it, else add such pairs, drop those whose
   reduced cost is far too large to be of use, and go to 3.

The optimum is therefore proved, not assumed. Every choice is a function of the atoms alone: the same atoms
give the same plan, whatever the order of the rows, the machine or the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import isqrt

import numpy as np

from audits.errors import RunFailed
from audits.progress import Progress, part, silent
from audits.transport.atoms import supplies
from audits.transport.blocks import CostBlocks
from audits.transport.costs import Cost
from audits.transport.coupling import Solution
from audits.transport.pricing import improving, lowest, promising
from audits.transport.simplex import Basis, solve_matrix, solve_pairs
from audits.transport.sizes import DENSE_PAIRS

_DENSE_BYTES = 42  # measured: peak bytes a pair of ot.emd on a whole matrix
_DENSE_MEMORY = 4e9  # bytes that the fallback may take
_SAMPLE = 5  # one atom in so many is in the sample
_SAMPLE_TOLERANCE = 1e-4
_ROUNDS = 100
_USEFUL = 10.0  # times the reduced cost beyond which a pair is useless, it is dropped
_ACCEPTED = 1e-7  # of the typical cost: a plan that is not proved to be this good is not returned
_RESOLUTION = 2.0**-45  # of the typical cost: below, float64 duals cannot tell


@dataclass(frozen=True, eq=False)
class _Problem:
    """Atoms to couple: costs both ways round, `supply` (k,) and `demand` (l,) with equal sums."""

    forward: CostBlocks
    backward: CostBlocks
    supply: np.ndarray
    demand: np.ndarray
    pool: ThreadPoolExecutor

    def typical_cost(self) -> float:
        """Mean cost of a few hundred sources to all targets: the scale that tolerances are relative to."""
        rows = np.linspace(0, self.forward.shape[0] - 1, 200).astype(int)
        some = CostBlocks.build(self.forward.x[np.unique(rows)], self.forward.y, self.forward.cost)
        return float(np.mean(np.concatenate(some.each(lambda _, c: c.mean(axis=1), self.pool))))

    def largest_use(self, gap: float) -> float:
        """Return the reduced cost at which a pair, carrying the smallest mass, would eat up the whole `gap`.

        Pairs above it are in no better plan. Dropping them keeps the simplex fast, and precise: the errors
        of its duals are in proportion to the largest cost it sees.
        """
        smallest = min(self.supply.min(), self.demand.min())
        return gap * float(self.supply.sum() / smallest)

    def value(self, u: np.ndarray, v: np.ndarray) -> float:
        """Return what the duals are worth per unit of mass."""
        return float(self.supply @ u + self.demand @ v) / float(self.supply.sum())

    def cost(self, basis: Basis) -> float:
        """Return what the flow costs per unit of mass."""
        return float(self.forward.pairs(basis.i, basis.j) @ basis.flow) / float(self.supply.sum())


def solve(
    x: np.ndarray,
    y: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    cost: Cost,
    pool: ThreadPoolExecutor,
    *,
    tolerance: float,
    progress: Progress = silent,
) -> Solution:
    """Couple atoms `x` (k, d) and `y` (l, d) of weights `a` (k,) and `b` (l,), all above 0.

    Stops when the plan is proved to be within `tolerance` times the typical cost of the optimum.

    Raises
    ------
    RunFailed
        If no plan could be proved to be that good, and the problem is too large for the dense solver.
    """
    supply, demand = supplies(a, b)
    forward = CostBlocks.build(x, y, cost)
    problem = _Problem(forward, forward.transposed(), supply, demand, pool)
    typical = problem.typical_cost()
    goal = max(tolerance, _RESOLUTION) * typical
    accepted = max(goal, _ACCEPTED * typical)
    pairs = len(x) * len(y)
    progress(0.0, f"Coupling {len(x):,} and {len(y):,} different points")
    best = _dense(problem) if pairs <= DENSE_PAIRS else None
    if best is None or best.slack > goal:
        v = best.v if best else _sampled_dual(problem, a, b, part(progress, 0.0, 0.3))
        best = _better(best, _rounds(problem, v, goal, part(progress, 0.3, 1.0)))
    failed = best is None or best.slack > accepted
    if failed and DENSE_PAIRS < pairs <= _DENSE_MEMORY / _DENSE_BYTES:
        best = _better(best, _dense(problem))
    if best is None or best.slack > accepted:
        raise RunFailed("no coupling could be proven to be the cheapest; use fewer points")
    return best


def _better(one: Solution | None, other: Solution | None) -> Solution | None:
    """Return the solution of smaller slack."""
    return min((s for s in (one, other) if s), key=lambda s: s.slack, default=None)


def _dense(problem: _Problem) -> Solution | None:
    basis = solve_matrix(problem.supply, problem.demand, problem.forward.matrix())
    if basis is None:
        return None
    u = lowest(problem.forward, basis.v, problem.pool)
    return _pack(problem, basis, u, basis.v, "dense network simplex")


def _pack(problem: _Problem, basis: Basis, u: np.ndarray, v: np.ndarray, method: str) -> Solution:
    cost = problem.cost(basis)
    return Solution(
        i=basis.i,
        j=basis.j,
        mass=basis.flow / problem.supply.sum(),
        u=u,
        v=v,
        cost=cost,
        slack=max(0.0, cost - problem.value(u, v)),
        method=method,
    )


def _sampled_dual(problem: _Problem, a: np.ndarray, b: np.ndarray, progress: Progress) -> np.ndarray:
    """Step 1: solve a sample of the atoms; return its duals extended to all targets, (l,)."""
    forward = problem.forward
    rows, a_sample = _sample(forward.x, a)
    columns, b_sample = _sample(forward.y, b)
    sample = solve(
        forward.x[rows],
        forward.y[columns],
        a_sample,
        b_sample,
        forward.cost,
        problem.pool,
        tolerance=_SAMPLE_TOLERANCE,
        progress=lambda fraction, _: progress(fraction, "Coupling a sample first"),
    )
    to_sample = CostBlocks.build(forward.y, forward.x[rows], forward.cost)
    return lowest(to_sample, sample.u, problem.pool)


def _sample(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return positions of a sample and its counts: evenly spaced by weight along the sum of the features."""
    wanted = min(len(points), max(isqrt(DENSE_PAIRS), len(points) // _SAMPLE))
    order = np.argsort(points.sum(axis=1), kind="stable")
    reached = np.cumsum(weights[order])
    marks = (np.arange(wanted) + 0.5) * (reached[-1] / wanted)
    hit, counts = np.unique(np.searchsorted(reached, marks), return_counts=True)
    return order[hit], counts.astype(float)


def _rounds(problem: _Problem, v: np.ndarray, goal: float, progress: Progress) -> Solution | None:
    """Steps 2 to 4; None if the simplex fails."""
    forward, columns = problem.forward, problem.forward.shape[1]
    progress(0.0, "Choosing promising pairs")
    u, v, pairs = _first_pairs(problem, v)
    pairs = _union(pairs, _staircase(problem))
    best = (-np.inf, u, v)
    first_gap = 0.0
    for number in range(1, _ROUNDS + 1):
        i, j = np.divmod(pairs, columns)
        reduced = forward.pairs(i, j) - u[i] - v[j]
        shift = min(0.0, float(reduced.min()))  # the simplex takes costs of at least 0
        found = solve_pairs(problem.supply, problem.demand, i, j, reduced - shift)
        if found is None:
            return None
        basis = found
        cost = problem.cost(basis)
        v = v + basis.v
        u, added = improving(forward, u + basis.u + shift, v, goal / 2, problem.pool)
        best = max(best, (problem.value(u, v), u, v), key=lambda bound: bound[0])
        gap = cost - best[0]
        if gap <= goal or len(_union(pairs, added)) == len(pairs):
            break
        first_gap = first_gap or gap
        progress(
            float(np.log(first_gap / gap) / np.log(first_gap / goal)),
            f"Round {number}: {len(pairs):,} of {forward.shape[0] * columns:,} pairs, "
            f"within {gap / max(abs(cost), goal):.1g} of the cheapest plan",
        )
        limit = _USEFUL * problem.largest_use(cost - problem.value(u, v))
        useful = forward.pairs(i, j) - u[i] - v[j] <= limit
        pairs = _union(pairs[useful], basis.i * columns + basis.j, added)
    return _pack(problem, basis, best[1], best[2], "restricted network simplex")


def _first_pairs(problem: _Problem, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Step 2: return duals (k,), (l,), after a c-transform each way, and the promising pairs."""
    k, columns = problem.forward.shape
    u, of_rows = promising(problem.forward, v, problem.pool)
    v, of_columns = promising(problem.backward, u, problem.pool)
    j, i = np.divmod(of_columns, k)
    return u, v, _union(of_rows, i * columns + j)


def _staircase(problem: _Problem) -> np.ndarray:
    """Return the pairs of a plan: both sides matched along the sum of their features."""
    order_x = np.argsort(problem.forward.x.sum(axis=1), kind="stable")
    order_y = np.argsort(problem.forward.y.sum(axis=1), kind="stable")
    up_to_x, up_to_y = np.cumsum(problem.supply[order_x]), np.cumsum(problem.demand[order_y])
    cuts = np.union1d(up_to_x, up_to_y)
    i, j = order_x[np.searchsorted(up_to_x, cuts)], order_y[np.searchsorted(up_to_y, cuts)]
    return i * problem.forward.shape[1] + j


def _union(*pairs: np.ndarray) -> np.ndarray:
    """Return the different numbers among `pairs`, in order; fast where they are nearly in order."""
    together = np.sort(np.concatenate(pairs), kind="stable")
    return together[np.flatnonzero(np.diff(together, prepend=-1))]
