"""The cheapest coupling on a line, in closed form.

For a cost that is a convex function of ``x - y`` (all four costs are, in one dimension), matching in order of
value is optimal: Santambrogio, Optimal Transport for Applied Mathematicians (2015), theorem 2.9. Of the
several optima that ``l1`` has, this is the one that keeps order. Points that coincide are one atom, so ties
have no order to depend on.
"""

from __future__ import annotations

import numpy as np

from audits.transport.costs import Cost, gathered_cost
from audits.transport.coupling import Solution


def match_in_order(
    x: np.ndarray, y: np.ndarray, supply: np.ndarray, demand: np.ndarray, cost: Cost
) -> Solution:
    """Couple points on a line in O(k + l).

    Parameters
    ----------
    x, y : (k, 1) and (l, 1) arrays
        Different points in increasing order.
    supply, demand : (k,) and (l,) arrays
        Whole numbers above 0 with equal sums.
    cost : Cost

    Notes
    -----
    The plan's cells form a staircase from the first pair to the last. The duals make every cell of it tight,
    the corner between two cells that touch diagonally included. A convex cost has the Monge property, so a
    tight staircase makes the duals feasible for all pairs; in float64 a pair can violate them by no more
    than the largest residual on the staircase plus the residuals' total variation, which the slack includes.
    """
    up_to_x, up_to_y = np.cumsum(supply), np.cumsum(demand)
    cuts = np.union1d(up_to_x, up_to_y)
    i, j = np.searchsorted(up_to_x, cuts), np.searchsorted(up_to_y, cuts)
    mass = np.diff(cuts, prepend=0.0) / cuts[-1]
    costs = gathered_cost(x, y, i, j, cost)

    right, down = np.flatnonzero(np.diff(j)) + 1, np.flatnonzero(np.diff(i)) + 1
    row, column = i[right - 1], j[down]  # at a corner the staircase goes right first, then down
    v_steps = gathered_cost(x, y, row, j[right], cost) - gathered_cost(x, y, row, j[right] - 1, cost)
    u_steps = gathered_cost(x, y, i[down], column, cost) - gathered_cost(x, y, i[down] - 1, column, cost)
    u = np.concatenate([[0.0], np.cumsum(u_steps)])
    v = np.concatenate([[0.0], np.cumsum(v_steps)]) + costs[0]

    corner = np.intersect1d(right, down, assume_unique=True)
    stairs_i, stairs_j = np.insert(i, corner, i[corner - 1]), np.insert(j, corner, j[corner])
    residual = gathered_cost(x, y, stairs_i, stairs_j, cost) - u[stairs_i] - v[stairs_j]
    u -= np.abs(residual).max() + np.abs(np.diff(residual)).sum()
    primal = float(mass @ costs)
    dual = float(supply @ u + demand @ v) / cuts[-1]
    return Solution(
        i=i,
        j=j,
        mass=mass,
        u=u,
        v=v,
        cost=primal,
        slack=max(0.0, primal - dual),
        method="closed form in one dimension",
    )
