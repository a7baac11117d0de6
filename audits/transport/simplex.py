"""The network simplex of POT (Bonneel et al., 2011) over some of the pairs, or all."""

from __future__ import annotations

import os
import warnings
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

_NO_LIMIT = 1 << 62  # iterations: an unfinished plan is of no use
_MAX = 2.0**20  # POT adds 1 to the largest cost to price its artificial arcs: 1 must be nothing to it
_OPTIMAL = 1  # POT's result code


class Basis(NamedTuple):
    """What the network simplex returns: `flow` on the pairs ``(i, j)``, duals `u` (k,) and `v` (l,)."""

    i: np.ndarray
    j: np.ndarray
    flow: np.ndarray
    u: np.ndarray
    v: np.ndarray


def solve_pairs(
    supply: np.ndarray, demand: np.ndarray, i: np.ndarray, j: np.ndarray, costs: np.ndarray
) -> Basis | None:
    """Find the cheapest flow over the pairs ``(i, j)`` of cost `costs`, (p,), at least 0; each pair once.

    `supply` (k,) and `demand` (l,) are whole numbers above 0 with equal sums. Returns None if the solver
    finds no flow or does not vouch for its own: never a wrong one.
    """
    return _solve(supply, demand, sparse.coo_array((costs, (i, j)), shape=(len(supply), len(demand))))


def solve_matrix(supply: np.ndarray, demand: np.ndarray, costs: np.ndarray) -> Basis | None:
    """Find the cheapest flow over all pairs for `costs` (k, l), at least 0; as `solve_pairs`."""
    return _solve(supply, demand, costs)


def _solve(supply: np.ndarray, demand: np.ndarray, costs: Any) -> Basis | None:
    """Solve for a matrix or a sparse one, and pack the answer if it is one.

    Costs are multiplied by the power of two that brings the largest near `_MAX`: exact, so that ties stay
    ties. Flows of whole numbers below 2**53 add up exactly, or are wrong.
    """
    largest = float((costs.data if sparse.issparse(costs) else costs).max())
    factor = _MAX / 2.0 ** np.ceil(np.log2(largest)) if largest > 0 else 1.0
    found, log = _emd(supply, demand, costs * factor)
    plan = sparse.coo_array(found)
    i, j, flow = plan.row.astype(np.intp), plan.col.astype(np.intp), plan.data
    balanced = (
        log["result_code"] == _OPTIMAL
        and (flow > 0).all()
        and np.array_equal(np.bincount(i, flow, len(supply)), supply)
        and np.array_equal(np.bincount(j, flow, len(demand)), demand)
    )
    return Basis(i, j, flow, log["u"] / factor, log["v"] / factor) if balanced else None


def _emd(supply: np.ndarray, demand: np.ndarray, costs: Any) -> tuple[Any, dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the result code is looked at instead
        return _pot().emd(
            supply, demand, costs, numItermax=_NO_LIMIT, log=True, center_dual=False, check_marginals=False
        )


def _pot() -> ModuleType:
    """Import POT without the tensor libraries that it would load and nothing here uses (seconds)."""
    for backend in ("PYTORCH", "JAX", "TENSORFLOW", "CUPY"):
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{backend}", "1")
    import ot

    return ot
