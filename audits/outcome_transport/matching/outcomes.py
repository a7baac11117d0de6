"""Outcomes coupled with outcomes: who is mapped to whom, with equal outcomes sharing evenly.

Between outcomes on a line the coupling keeps order, which is optimal for both orders of the distance
(Eq. 4). Equal outcomes are one atom, and an atom's mass is spread evenly over its people, so that no number
depends on the order of rows or on the solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from audits.errors import InputError
from audits.progress import Progress, silent
from audits.transport import Cost, exact_coupling
from audits.transport.atoms import Atoms, checked_weights
from audits.transport.costs import gathered_cost
from audits.transport.maps import EntropicMap, UnbalancedMap

OutcomeCost = Literal["euclidean", "squared_euclidean"]
Matching = Literal["exact", "entropic", "unbalanced", "partial"]
_GROUND: dict[OutcomeCost, Cost] = {"euclidean": "l2", "squared_euclidean": "l2_squared"}
_NEGLIGIBLE = 1e-9  # share of an atom's people below which its mass counts as unmatched altogether


@dataclass(frozen=True, eq=False)
class OutcomePlan:
    """Outcomes of two sides and the mass between them.

    Attributes
    ----------
    x, y : arrays (k, c), (l, c)
        The different outcomes of each side; in increasing order where c is 1.
    source, target : Atoms
        Which of them each person has, and the people each stands for.
    flow : csr_array (k, l)
        Mass between outcomes; sums to 1, or to the matched share.
    cost : float
        Mean cost per unit of mass matched, in units of the ground cost.
    slack : float or None
        Proof: the cost lies at most this far above the least possible one; None for a blurred coupling.
    exact : bool
        Whether the coupling is the optimal one of balanced transport.
    unmatched : (float, float)
        Share of source and of target people without counterpart.
    duals : (array (k,), array (l,)) or None
        Dual values of the outcomes, where exact and c is above 1.
    """

    x: np.ndarray
    y: np.ndarray
    source: Atoms
    target: Atoms
    flow: sparse.csr_array
    cost: float
    ground: OutcomeCost
    slack: float | None
    method: str
    exact: bool
    unmatched: tuple[float, float]
    duals: tuple[np.ndarray, np.ndarray] | None

    @property
    def on_a_line(self) -> bool:
        """Whether outcomes are single numbers."""
        return self.x.shape[1] == 1

    @property
    def shares(self) -> sparse.csr_array:
        """Each source outcome's mass divided among target outcomes (k, l); rows sum to 1, or are empty."""
        mass = self.flow.sum(axis=1)
        scale = np.divide(1.0, mass, out=np.zeros(len(mass)), where=mass > 0)
        return sparse.csr_array(sparse.diags_array(scale) @ self.flow)

    @property
    def matched_share(self) -> np.ndarray:
        """Part of each source outcome's people that is matched, (k,), in [0, 1]."""
        weights = self.source.weights / self.source.weights.sum()
        share = np.divide(self.flow.sum(axis=1), weights, out=np.zeros(len(weights)), where=weights > 0)
        return np.minimum(share, 1.0)

    def mean_cost(self, ground: OutcomeCost) -> float:
        """Mean of a ground cost over this coupling, per unit of mass matched; optimal on a line for both."""
        cells = sparse.coo_array(self.flow)
        costs = gathered_cost(self.x, self.y, cells.row, cells.col, _GROUND[ground])
        return float(costs @ cells.data / cells.data.sum())


def match_outcomes(
    outcomes: np.ndarray,
    others: np.ndarray,
    *,
    a: np.ndarray | None = None,
    b: np.ndarray | None = None,
    ground: OutcomeCost = "euclidean",
    matching: Matching = "exact",
    share: float = 0.9,
    price: float = 1.0,
    epsilon: float = 0.02,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> OutcomePlan:
    """Couple `outcomes` (n, c) with `others` (m, c), of weights `a` (n,) and `b` (m,).

    Raises
    ------
    InputError
        If outcomes or weights are not finite, or a side is empty.
    """
    cost = _GROUND[ground]
    if matching == "exact":
        found = exact_coupling(outcomes, others, cost=cost, a=a, b=b, progress=progress)
        duals = found.dual_source[found.source.first], found.dual_target[found.target.first]
        return OutcomePlan(
            x=outcomes[found.source.first],
            y=others[found.target.first],
            source=found.source,
            target=found.target,
            flow=found.flow,
            cost=found.cost,
            ground=ground,
            slack=found.slack,
            method=found.method,
            exact=True,
            unmatched=(0.0, 0.0),
            duals=None if outcomes.shape[1] == 1 else duals,
        )
    source = Atoms.merge(outcomes, checked_weights("a", a, len(outcomes)))
    target = Atoms.merge(others, checked_weights("b", b, len(others)))
    x, y = outcomes[source.first], others[target.first]
    blur: dict[str, Any] = {"cost": cost, "epsilon": epsilon}
    if matching != "entropic":
        relaxation = "partial" if matching == "partial" else "relaxed"
        blur |= {"relaxation": relaxation, "share": share, "price": price}
    kind: type[EntropicMap | UnbalancedMap] = EntropicMap if matching == "entropic" else UnbalancedMap
    fitted = kind.fit(
        x, y, a=source.weights, b=target.weights, options=kind.asked(**blur), rng=rng, progress=progress
    )
    flow = _plan_of_atoms(fitted, len(x), len(y))
    shares = [atoms.weights / atoms.weights.sum() for atoms in (source, target)]
    if matching == "entropic":
        flow = _round_to_marginals(flow, *shares)
    flow = _without_dust(flow, shares[0])
    if flow.sum() <= _NEGLIGIBLE:
        raise InputError(
            "outcome_transport.price", "leaves everybody unmatched", price, "raise it, or match exactly"
        )
    state = "converged" if fitted.converged else "did not converge"
    cells = sparse.coo_array(flow)
    costs = gathered_cost(x, y, cells.row, cells.col, cost)
    return OutcomePlan(
        x=x,
        y=y,
        source=source,
        target=target,
        flow=flow,
        cost=float(costs @ cells.data / cells.data.sum()),
        ground=ground,
        slack=None,
        method=f"{matching}, {state} in {fitted.duals.iterations:,} iterations",
        exact=False,
        unmatched=(
            float(np.maximum(shares[0] - flow.sum(axis=1), 0.0).sum()),
            float(np.maximum(shares[1] - flow.sum(axis=0), 0.0).sum()),
        ),
        duals=None,
    )


def _plan_of_atoms(fitted: EntropicMap | UnbalancedMap, k: int, l: int) -> sparse.csr_array:  # noqa: E741
    """The fitted plan between all atoms: a map may have been fitted on a part of them."""
    cells = sparse.coo_array(fitted.plan())
    rows, columns = fitted.x_rows[cells.row], fitted.y_rows[cells.col]
    return sparse.csr_array((cells.data, (rows, columns)), shape=(k, l))


def _round_to_marginals(flow: sparse.csr_array, a: np.ndarray, b: np.ndarray) -> sparse.csr_array:
    """Round a plan to one whose marginals are `a` (k,) and `b` (l,).

    After Altschuler, Weed, Rigollet (2017), algorithm 2, with a sparse remainder: what the iterations left
    over is matched in order. Else a plan that has not converged could cost less than is possible.
    """
    for axis, wanted in ((1, a), (0, b)):
        mass = flow.sum(axis=axis)
        scale = np.minimum(np.divide(wanted, mass, out=np.ones(len(mass)), where=mass > 0), 1.0)
        turn = sparse.diags_array(scale)
        flow = sparse.csr_array(turn @ flow if axis == 1 else flow @ turn)
    rows, columns = (
        np.maximum(wanted - flow.sum(axis=axis), 0.0).cumsum() for axis, wanted in ((1, a), (0, b))
    )
    left = min(rows[-1], columns[-1])
    if left <= 0:
        return flow
    cuts = np.unique(np.minimum(np.concatenate([rows, columns]), left))
    at = (
        np.minimum(np.searchsorted(rows, cuts), len(a) - 1),
        np.minimum(np.searchsorted(columns, cuts), len(b) - 1),
    )
    rest = sparse.coo_array((np.diff(cuts, prepend=0.0), at), shape=flow.shape)
    return sparse.csr_array(flow + rest.tocsr())


def _without_dust(flow: sparse.csr_array, weights: np.ndarray) -> sparse.csr_array:
    """Leave out rows that are matched only by the blur's tail."""
    kept = flow.sum(axis=1) > _NEGLIGIBLE * weights
    flow = sparse.csr_array(sparse.diags_array(kept.astype(float)) @ flow)
    flow.eliminate_zeros()
    flow.sort_indices()
    return flow
