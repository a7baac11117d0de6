"""The cheapest plan for a cost matrix that is already there: many small problems over the same points."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from audits.errors import RunFailed
from audits.transport.atoms import supplies
from audits.transport.simplex import solve_matrix


def plan_for_costs(costs: np.ndarray, a: np.ndarray, b: np.ndarray) -> sparse.coo_array:
    """Return the cheapest plan (k, l) between points of positive weights `a` (k,), `b` (l,); sums to 1.

    `costs` (k, l) are at least 0. `exact_coupling` does the same from points, and proves it; this is for
    permutations, where the costs between the same points are used again and again.

    Raises
    ------
    RunFailed
        The network simplex did not vouch for its plan.

    Examples
    --------
    >>> plan = plan_for_costs(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, 3.0]), np.array([1.0, 1.0]))
    >>> plan.toarray()
    array([[0.25, 0.  ],
           [0.25, 0.5 ]])
    """
    supply, demand = supplies(a, b)
    basis = solve_matrix(supply, demand, np.ascontiguousarray(costs))
    if basis is None:
        raise RunFailed("The network simplex found no plan for a permutation of the groups.")
    return sparse.coo_array((basis.flow / supply.sum(), (basis.i, basis.j)), shape=costs.shape)
