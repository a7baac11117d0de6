"""A coupling of two weighted sets of points, and the certificate that it is the cheapest one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from audits.errors import InputError
from audits.transport.atoms import Atoms, checked_weights
from audits.transport.blocks import CostBlocks, threads
from audits.transport.costs import Cost, checked_points, gathered_cost, scale_points

__all__ = ["Certificate", "Coupling", "Solution", "certify"]

_MAX_ENTRIES = 1 << 28  # 3 GB as a sparse matrix


@dataclass(frozen=True, eq=False)
class Coupling:
    """Who moves to whom: a joint distribution of `n` source and `m` target points with given marginals.

    Equal points are kept merged (`source` and `target` say which point belongs to which atom). `plan` and
    `shares` write the coupling out for every pair of points, splitting an atom's mass in proportion to its
    points' weights; `average` answers without doing so, which for points with few different values is the
    difference between a few numbers and n * m of them.

    Attributes
    ----------
    source, target : Atoms
        The different points on each side.
    flow : (k, l) csr_array
        Mass between atoms; sums to 1.
    cost : float
        Mean cost per unit of mass, at least 0.
    dual_source : (n,) array
    dual_target : (m,) array
        Dual values: ``dual_source[i] + dual_target[j] <= cost(i, j)`` for all pairs, up to float64 rounding.
    slack : float
        Certificate, at least 0: `cost` is above the least possible cost by at most this much.
    method : str
        "closed form in one dimension", "restricted network simplex" or "dense network simplex".
    rounds : int
        Times that a network simplex was run; 0 for the closed form.
    pairs : int
        Pairs of atoms that the last run was given.
    """

    source: Atoms
    target: Atoms
    flow: sparse.csr_array
    cost: float
    dual_source: np.ndarray
    dual_target: np.ndarray
    slack: float
    method: str
    rounds: int
    pairs: int

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points (n, m)."""
        return len(self.source.of), len(self.target.of)

    @property
    def entries(self) -> int:
        """Pairs of points with mass, which is what `plan` holds; cheap."""
        rows, columns = self.flow.nonzero()
        return int(_sizes(self.source)[rows] @ _sizes(self.target)[columns])

    @cached_property
    def plan(self) -> sparse.csr_array:
        """Mass between points, (n, m) sparse, summing to 1; row sums are the source's normalized weights.

        Raises
        ------
        InputError
            If it would not fit in memory; `average` still works.
        """
        if self.entries > _MAX_ENTRIES:
            raise InputError(
                "plan",
                f"would hold {self.entries:,} pairs of equal points, more than {_MAX_ENTRIES:,}",
                advice="use average()",
            )
        left = _membership(self.source)
        right = _membership(self.target)
        plan = sparse.csr_array(left @ self.flow @ right.T)
        plan.eliminate_zeros()
        plan.sort_indices()
        return plan

    def shares(self) -> sparse.csr_array:
        """Return `plan` with rows that sum to 1: how each source point's mass is divided among the targets.

        The row of a source point of weight 0 is empty.
        """
        mass = self.plan.sum(axis=1)
        scale = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
        return sparse.csr_array(sparse.diags_array(scale) @ self.plan)

    def average(self, values: np.ndarray) -> np.ndarray:
        """Return ``shares() @ values``: the mean of `values` (m, ...) over each source point's counterparts.

        A source point of weight 0 gets NaN.
        """
        values = np.asarray(values, dtype=float)
        if len(values) != len(self.target.of):
            raise InputError(
                "values", f"must have one row for each of the {self.shape[1]:,} targets", len(values)
            )
        flat = values.reshape(len(values), -1)
        sums = self.flow @ (_membership(self.target).T @ flat)
        mass = np.where(self.source.weights > 0, self.flow.sum(axis=1), np.nan)
        means = (sums / mass[:, None])[self.source.of]
        means[self.source.shares == 0] = np.nan
        return means.reshape(len(self.source.of), *values.shape[1:])

    def barycenter(self, y: np.ndarray) -> np.ndarray:
        """Return the mean counterpart of each source point, (n, d), for target points `y` (m, d)."""
        return self.average(y)


class Solution(NamedTuple):
    """A coupling of k and l atoms with its proof.

    `mass` on the pairs ``(i, j)`` sums to 1; `u` (k,) and `v` (l,) are feasible for all pairs; `cost` is at
    most `slack` above the least possible one. The last three are as in `Coupling`.
    """

    i: np.ndarray
    j: np.ndarray
    mass: np.ndarray
    u: np.ndarray
    v: np.ndarray
    cost: float
    slack: float
    method: str
    rounds: int
    pairs: int


class Certificate(NamedTuple):
    """What `certify` found: all three are 0, up to rounding, for the cheapest coupling."""

    slack: float
    """The plan's cost is above the least possible one by at most this much."""
    marginal_error: float
    """Largest difference between a row or column sum and the normalized weight."""
    most_negative: float
    """How far below 0 the smallest entry of the plan lies."""


def certify(
    x: np.ndarray,
    y: np.ndarray,
    plan: sparse.sparray,
    dual_source: np.ndarray,
    *,
    cost: Cost = "l1_squared",
    a: np.ndarray | None = None,
    b: np.ndarray | None = None,
    feature_weights: np.ndarray | None = None,
) -> Certificate:
    """Check a coupling from scratch, looking at every pair of points; uses nothing that made it.

    Any source duals give a valid bound: they are completed to feasible ones by the c-transform
    ``v_j = min_i c_ij - u_i`` over all pairs, and the value of feasible duals is never above the cost of any
    plan with these marginals (weak duality).

    Parameters
    ----------
    x, y : (n, d) and (m, d) arrays
        The points.
    plan : (n, m) sparse array
        Masses to check, summing to 1.
    dual_source : (n,) array
        Dual values of the source points, in units of cost.
    cost, a, b, feature_weights
        As in `exact_coupling`.

    Returns
    -------
    Certificate

    Raises
    ------
    InputError
        As `exact_coupling`; also if `plan` or `dual_source` has the wrong shape.
    """
    x, y = checked_points(x, y)
    a, b = checked_weights("a", a, len(x)), checked_weights("b", b, len(y))
    if plan.shape != (len(x), len(y)):
        raise InputError("plan", f"must have shape ({len(x)}, {len(y)})", plan.shape)
    if np.shape(dual_source) != (len(x),):
        raise InputError("dual_source", f"must have shape ({len(x)},)", np.shape(dual_source))
    x, y = scale_points(x, y, cost, feature_weights)
    a, b = a / a.sum(), b / b.sum()
    with threads() as pool:
        parts = CostBlocks.build(y, x, cost).each(lambda _, c: (c - dual_source).min(axis=1), pool)
    entries = sparse.coo_array(plan)
    primal = gathered_cost(x, y, entries.row, entries.col, cost) @ entries.data
    dual = a @ dual_source + b @ np.concatenate(parts)
    error = max(np.abs(plan.sum(axis=1) - a).max(), np.abs(plan.sum(axis=0) - b).max())
    return Certificate(float(primal - dual), float(error), float(max(0.0, -entries.data.min(initial=0.0))))


def _membership(atoms: Atoms) -> sparse.csr_array:
    """Return the (n, k) matrix that gives each point its share of its atom."""
    n = len(atoms.of)
    return sparse.csr_array((atoms.shares, atoms.of, np.arange(n + 1)), shape=(n, len(atoms.first)))


def _sizes(atoms: Atoms) -> np.ndarray:
    """Return the number of points with weight in each atom, (k,)."""
    return np.bincount(atoms.of[atoms.shares > 0], minlength=len(atoms.first))
