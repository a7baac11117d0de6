"""Whether a coupling is the cheapest one, from scratch: all pairs are looked at, by nothing that made it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from audits.transport import Coupling, pairwise_cost


class Proof(NamedTuple):
    """All three are 0, up to rounding, for the cheapest coupling."""

    slack: float
    """The plan's cost is above the least possible one by at most this much."""
    marginal_error: float
    most_negative: float


def prove(coupling: Coupling, x, y, cost: str = "l1_squared", a=None, b=None) -> Proof:
    """Complete the source duals to feasible ones by the c-transform: their value is below any plan's cost."""
    a, b = (np.ones(len(p)) if w is None else np.asarray(w, float) for p, w in ((x, a), (y, b)))
    a, b = a / a.sum(), b / b.sum()
    costs, plan = pairwise_cost(x, y, cost), coupling.plan
    u = coupling.dual_source
    dual = a @ u + b @ (costs - u[:, None]).min(axis=0)
    error = max(np.abs(plan.sum(axis=1) - a).max(), np.abs(plan.sum(axis=0) - b).max())
    return Proof(plan.multiply(costs).sum() - dual, error, max(0.0, -plan.data.min(initial=0.0)))
