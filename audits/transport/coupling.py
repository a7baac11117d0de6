"""A coupling of two weighted sets of points, with the duals and the slack that prove it the cheapest one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from audits.errors import InputError
from audits.transport.atoms import Atoms

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
    """

    source: Atoms
    target: Atoms
    flow: sparse.csr_array
    cost: float
    dual_source: np.ndarray
    dual_target: np.ndarray
    slack: float
    method: str

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


class Solution(NamedTuple):
    """A coupling of k and l atoms with its proof.

    `mass` on the pairs ``(i, j)`` sums to 1; `u` (k,) and `v` (l,) are feasible for all pairs; `cost` is at
    most `slack` above the least possible one. `method` is as in `Coupling`.
    """

    i: np.ndarray
    j: np.ndarray
    mass: np.ndarray
    u: np.ndarray
    v: np.ndarray
    cost: float
    slack: float
    method: str


def _membership(atoms: Atoms) -> sparse.csr_array:
    """Return the (n, k) matrix that gives each point its share of its atom."""
    n = len(atoms.of)
    return sparse.csr_array((atoms.shares, atoms.of, np.arange(n + 1)), shape=(n, len(atoms.first)))


def _sizes(atoms: Atoms) -> np.ndarray:
    """Return the number of points with weight in each atom, (k,)."""
    return np.bincount(atoms.of[atoms.shares > 0], minlength=len(atoms.first))
