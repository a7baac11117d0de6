"""The cheapest coupling of two sets of points, with the proof that it is."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from audits.checks import one_of
from audits.errors import InputError
from audits.progress import Progress, silent
from audits.transport.atoms import Atoms, checked_weights, supplies
from audits.transport.blocks import CostBlocks, threads
from audits.transport.costs import COSTS, Cost, checked_points, scale_points
from audits.transport.coupling import Coupling, Solution
from audits.transport.line import match_in_order
from audits.transport.pricing import lowest
from audits.transport.restricted import solve


def exact_coupling(
    x: np.ndarray,
    y: np.ndarray,
    *,
    cost: Cost = "l1_squared",
    a: np.ndarray | None = None,
    b: np.ndarray | None = None,
    feature_weights: np.ndarray | None = None,
    tolerance: float = 1e-12,
    progress: Progress = silent,
) -> Coupling:
    """Find the coupling of least mean cost, and prove it.

    In one dimension (also if all other features are constant) by the closed form; up to a million pairs of
    different points by the network simplex on all of them; above by the network simplex on the pairs that
    matter. `Coupling.method` says which.

    Parameters
    ----------
    x : (n, d) array
        Source points, finite.
    y : (m, d) array
        Target points, in the same features and units; n and m may differ.
    cost : {"l1_squared", "l2_squared", "l1", "l2"}
        Ground cost, see `audits.transport.costs`.
    a, b : (n,) and (m,) arrays, optional
        Weights, at least 0, of any sum above 0; equal if not given. A point of weight 0 is coupled to nobody.
    feature_weights : (d,) array, optional
        Weights of the features in the cost, at least 0; 1 if not given.
    tolerance : float
        Proved distance from the optimum, relative to the mean cost of a pair, at which the simplex stops; in
        (0, 1). What was reached is the result's `slack`.
    progress : callable
        Called between rounds; may raise `RunCancelled`.

    Returns
    -------
    Coupling
        Does not depend on the order of the rows. Marginals are exact to 1e-12. Where several plans are
        optimal (``l1`` in general, any cost if points are tied) it is one of them.

    Raises
    ------
    InputError
        If points or weights are not finite, sets are empty, shapes do not match, a weight is negative or none
        is above 0, the points lie too far apart to be squared, or an option is unknown.
    RunFailed
        If no plan could be proved optimal to 1e-7 of the mean cost of a pair; none is returned then.

    Examples
    --------
    >>> coupling = exact_coupling([[0.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [3.0, 0.0]], cost="l1")
    >>> coupling.cost, coupling.plan.toarray().tolist()
    (1.5, [[0.5, 0.0], [0.0, 0.5]])
    """
    x, y = checked_points(x, y)
    a, b = checked_weights("a", a, len(x)), checked_weights("b", b, len(y))
    one_of("cost", cost, COSTS)
    if not 0 < tolerance < 1:
        raise InputError("tolerance", "must lie between 0 and 1", tolerance)
    scaled_x, scaled_y, unit = _to_unit_range(*scale_points(x, y, cost, feature_weights), cost)
    source, target = Atoms.merge(scaled_x, a), Atoms.merge(scaled_y, b)
    x_atoms, y_atoms = scaled_x[source.first], scaled_y[target.first]
    here, there = source.weights > 0, target.weights > 0
    weights_x, weights_y = source.weights[here], target.weights[there]
    x_here, y_here = x_atoms[here], y_atoms[there]
    if x_here.shape[1] == 1:
        solution = match_in_order(x_here, y_here, *supplies(weights_x, weights_y), cost)
    else:
        with threads() as pool:
            solution = solve(
                x_here, y_here, weights_x, weights_y, cost, pool, tolerance=tolerance, progress=progress
            )
    u, v = _extend_duals(solution, x_atoms, y_atoms, here, there, cost)
    rows, columns = np.flatnonzero(here)[solution.i], np.flatnonzero(there)[solution.j]
    progress(1.0, "Coupled")
    return Coupling(
        source=source,
        target=target,
        flow=sparse.csr_array((solution.mass, (rows, columns)), shape=(len(here), len(there))),
        cost=solution.cost * unit,
        dual_source=u[source.of] * unit,
        dual_target=v[target.of] * unit,
        slack=solution.slack * unit,
        method=solution.method,
    )


def _to_unit_range(x: np.ndarray, y: np.ndarray, cost: Cost) -> tuple[np.ndarray, np.ndarray, float]:
    """Drop constant features, divide by a power of two near the summed ranges; say what a cost of 1 is then.

    Dividing by a power of two is exact, and keeps squares away from overflow and underflow.
    """
    low, high = np.minimum(x.min(axis=0), y.min(axis=0)), np.maximum(x.max(axis=0), y.max(axis=0))
    with np.errstate(over="ignore"):
        ranges = high - low
        unit = 2.0 ** np.ceil(np.log2(ranges.sum())) if ranges.any() else 1.0
        cost_unit = unit**2 if cost in {"l1_squared", "l2_squared"} else unit
    if not np.isfinite(cost_unit):
        raise InputError("x and y", "must not lie so far apart that costs overflow", float(ranges.max()))
    varying = ranges > 0 if ranges.any() else np.arange(len(ranges)) == 0
    return x[:, varying] / unit, y[:, varying] / unit, float(cost_unit)


def _extend_duals(
    solution: Solution, x: np.ndarray, y: np.ndarray, here: np.ndarray, there: np.ndarray, cost: Cost
) -> tuple[np.ndarray, np.ndarray]:
    """Return feasible duals (k,), (l,) of all atoms: those without weight get theirs by c-transform."""
    u, v = np.empty(len(x)), np.empty(len(y))
    u[here], v[there] = solution.u, solution.v
    if here.all() and there.all():
        return u, v
    with threads() as pool:
        if not there.all():
            v[~there] = lowest(CostBlocks.build(y[~there], x[here], cost), solution.u, pool)
        if not here.all():
            u[~here] = lowest(CostBlocks.build(x[~here], y, cost), v, pool)
    return u, v
