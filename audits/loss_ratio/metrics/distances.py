"""Fair metrics: squared distances that ignore the directions in which a person's place should not matter.

Every metric is a sum of squares, d²(x, y) = |R (x - y)|², so that its gradient exists where the
distance is 0 (a norm's square through a root has NaN there).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audits.checks import finite, one_of
from audits.errors import InputError
from audits.models.subspaces import RANK_TOLERANCE, orthonormal


@dataclass(frozen=True, eq=False)
class FairMetric:
    """A fair metric on points of d coordinates.

    Attributes
    ----------
    root : array (r, d)
        d²(x, y) = |root (x - y)|².
    basis : array (d, k)
        Orthonormal directions in which people may move at no distance: the sensitive subspace.
    source : str
        How the metric came about, in words.
    """

    root: np.ndarray
    basis: np.ndarray
    source: str

    @cached_property
    def matrix(self) -> np.ndarray:
        """The matrix M (d, d) of d²(x, y) = (x - y)ᵀ M (x - y)."""
        return self.root.T @ self.root

    @cached_property
    def largest(self) -> float:
        """Largest eigenvalue of the matrix: squared fair distance per squared length, at most."""
        return float(np.linalg.norm(self.root, 2) ** 2)

    def squared_distance(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Squared fair distances of the rows of `x` and `y`, both (n, d): (n,)."""
        return np.square((x - y) @ self.root.T).sum(axis=1)

    def loadings(self) -> np.ndarray:
        """Share of each coordinate's unit vector that lies in the sensitive subspace, (d,) in [0, 1]."""
        return np.square(self.basis).sum(axis=1)


@dataclass(frozen=True)
class AttributeAssociation:
    """How well a sensitive attribute is told from the features of people who were not learned from.

    Attributes
    ----------
    attribute : str
    p_value : float
        That nothing tells it, corrected for all attributes (Holm).
    told : bool
        Whether that is ruled out, so that directions are tied to it.
    itself : bool
        Whether it is a feature itself, along which people can be moved whatever the others tell.
    """

    attribute: str
    p_value: float
    told: bool
    itself: bool


@dataclass(frozen=True, eq=False)
class LearnedDirections:
    """Directions that are features themselves (k, d), and those that the other folds teach (folds, m, d).

    `doubt` holds the covariance (d, d) of each of the m, and its degrees of freedom.
    """

    own: np.ndarray
    rows: np.ndarray
    doubt: tuple[tuple[np.ndarray, float], ...] = ()


@dataclass(frozen=True, eq=False)
class FairMetrics:
    """The fair metric of everyone: one, or one a fold of the people, learned on the others.

    Attributes
    ----------
    parts : tuple of FairMetric
    place : array (n,) of int
        Which of them holds for each person audited.
    source : str
        How they came about, in words.
    told : tuple of Told
        Of each sensitive attribute, where the metric is learned from them.
    doubts : tuple of str
        What speaks against it, in sentences.
    nothing : str
        Why there is nothing to move along, a clause; empty otherwise.
    learned : Learned or None
        What the parts were made of, where they are learned.
    """

    parts: tuple[FairMetric, ...]
    place: np.ndarray
    source: str
    told: tuple[AttributeAssociation, ...] = ()
    doubts: tuple[str, ...] = ()
    nothing: str = ""
    learned: LearnedDirections | None = None

    @classmethod
    def of(cls, metric: FairMetric, n: int) -> FairMetrics:
        """One metric for all `n` people."""
        return cls((metric,), np.zeros(n, dtype=int), metric.source)

    @property
    def dimensions(self) -> int:
        """Directions in which people may move at no distance."""
        return max(part.basis.shape[1] for part in self.parts)

    @property
    def typical(self) -> np.ndarray:
        """Orthonormal directions (d, k) nearest to those of all parts, for pictures."""
        if len(self.parts) == 1:
            return self.parts[0].basis
        shared = sum(part.basis @ part.basis.T for part in self.parts)
        return np.linalg.eigh(shared)[1][:, ::-1][:, : self.dimensions]

    @property
    def p_value(self) -> float:
        """That no direction is tied to any attribute; 0 where directions are given, not learned."""
        if not self.told or any(each.itself for each in self.told):
            return 0.0
        return min(each.p_value for each in self.told)

    def loadings(self) -> np.ndarray:
        """Share of each coordinate's unit vector in the sensitive subspace, (d,), the mean of the parts'."""
        return np.mean([part.loadings() for part in self.parts], axis=0)


def projection_metric(vectors: np.ndarray, source: str, *, where: str = "loss_ratio.metric") -> FairMetric:
    """Metric d²(x, y) = |(I - Π)(x - y)|², with Π the projection on the span of the rows of `vectors`.

    Parameters
    ----------
    vectors : array (m, d)
        Directions that should not matter; they need be neither orthogonal nor independent.
    source : str
        How they came about, in words.

    Raises
    ------
    InputError
        If the directions are all zero, or span everything: then any two people are alike.
    """
    vectors = np.atleast_2d(finite(where, vectors))
    basis = orthonormal(vectors)
    d, k = basis.shape
    if k == 0:
        raise InputError(where, "gives no direction in which people may move", advice="name other attributes")
    if k >= d:
        every = f"all {d} of the encoded features" if d > 1 else "the only encoded feature"
        raise InputError(
            where,
            f"must leave at least one direction that matters, but the sensitive subspace spans {every}, so "
            "any two people would be alike",
            advice="name fewer attributes or directions, or use more features",
        )
    return FairMetric(np.eye(d) - basis @ basis.T, basis, source)


def matrix_metric(matrix: np.ndarray, source: str, *, where: str = "loss_ratio.matrix") -> FairMetric:
    """Metric d²(x, y) = (x - y)ᵀ M (x - y) of a symmetric positive semidefinite M (d, d).

    Directions at less than 1e-8 of the largest eigenvalue count as free.

    Raises
    ------
    InputError
        If M is not square, symmetric and positive semidefinite, or is zero.
    """
    matrix = finite(where, matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(where, "must be a square matrix", matrix.shape)
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12):
        raise InputError(where, "must be symmetric")
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    top = float(np.abs(values).max(initial=0.0))
    if top == 0:
        raise InputError(where, "must not be zero: any two people would be alike")
    if values[0] < -1e-9 * top:
        raise InputError(where, "must have no negative eigenvalue", float(values[0]))
    free = values <= RANK_TOLERANCE * top
    root = np.sqrt(values[~free])[:, None] * vectors[:, ~free].T
    return FairMetric(root, vectors[:, free], source)


def direction_of(
    coefficients: Mapping[str, float], names: Sequence[str], *, where: str = "loss_ratio.directions"
) -> np.ndarray:
    """Direction (d,) that `coefficients` give by encoded feature; features not named have 0.

    Raises
    ------
    InputError
        For a name that is no encoded feature.
    """
    direction = np.zeros(len(names))
    for name, value in coefficients.items():
        one_of(where, name, names, what="an encoded feature")
        direction[list(names).index(name)] = value
    return direction
