"""The linear map between two groups taken as Gaussian: fast, closed form, the baseline for the others.

Between N(μ, Σ) and N(ν, Τ) the cheapest map under squared L2 cost is ``x ↦ ν + A (x − μ)`` with
``A = Σ^(−½) (Σ^½ Τ Σ^½)^½ Σ^(−½)`` (Dowson, Landau 1982; Olkin, Pukelsheim 1982; the Bures distance). It
matches means and covariances whatever the groups' shape, and nothing beyond them.

Choices where the formula has none
----------------------------------
* Few people for many features: correlations are shrunk towards 0, variances kept, by the share that Schäfer
  and Strimmer (2005, "A shrinkage approach to large-scale covariance matrix estimation", section 2.4, target
  D) derive from the data. It vanishes as people grow.
* Directions in which the source group does not vary (constant features, one-hot columns that sum to a
  constant, a group of one): the formula says nothing about leaving them, so whoever does keeps their
  distance, unless the target group does not vary there either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from audits.transport.maps.options import LinearOptions
from audits.transport.maps.protocol import FittedMap, Sample, TrainingPoint, by_blocks, check_people

_LEAST = 1e-6  # weight of a feature, relative to the largest one, that a weight of 0 stands for
_FLAT = 1e-10  # variance, relative to the largest one, below which a direction counts as constant


@dataclass(frozen=True, eq=False)
class LinearMap(FittedMap):
    """``x ↦ target_mean + (x − source_mean) @ matrix``; see `FittedMap` for the shared attributes.

    With weights of features it is the cheapest such map under the weighted squared L2 cost; a weight of 0
    counts as a millionth of the largest one. Nothing is drawn and there is no training to watch.

    Attributes
    ----------
    matrix : array (d, d)
        A, transposed; symmetric unless features have weights.
    source_mean, target_mean : arrays (d,)
    shrinkage : tuple of float
        Applied to source and target, in [0, 1].
    """

    kind: ClassVar[str] = "linear"
    asked: ClassVar[type[LinearOptions]] = LinearOptions
    matrix: np.ndarray
    source_mean: np.ndarray
    target_mean: np.ndarray
    shrinkage: tuple[float, float]
    options: LinearOptions
    history: ClassVar[tuple[TrainingPoint, ...]] = ()
    converged: ClassVar[None] = None
    diverged_at: ClassVar[None] = None

    @classmethod
    def _fitted(cls, sample: Sample, options: LinearOptions) -> LinearMap:
        (x, y, a, b), weights, progress = sample.people, sample.feature_weights, sample.progress
        scale = np.sqrt(np.maximum(weights, _LEAST * weights.max()))
        progress(0.0, "fitting the linear map")
        mean_x, covariance_x, shrunk_x = _moments(x, a, options.shrinkage)
        mean_y, covariance_y, shrunk_y = _moments(y, b, options.shrinkage)
        both = np.outer(scale, scale)
        matrix = _monge(covariance_x * both, covariance_y * both) * (scale[:, None] / scale)
        progress(1.0, "fitting the linear map")
        return cls(matrix, mean_x, mean_y, (shrunk_x, shrunk_y), options)

    @property
    def finding(self) -> str:
        """One sentence on how the fit ended."""
        source, target = self.shrinkage
        return (
            "The linear map matches means and covariances in closed form; correlations were shrunk by "
            f"{source:.1%} (source) and {target:.1%} (target)."
        )

    def transform(self, x: np.ndarray) -> np.ndarray:
        """Counterparts (n, d) of the people `x` (n, d)."""
        d = len(self.source_mean)
        x = check_people("x", x, features=d, empty=True)
        return by_blocks(x, lambda rows: (rows - self.source_mean) @ self.matrix + self.target_mean, d)


def _moments(
    x: np.ndarray, weights: np.ndarray, shrinkage: float | None
) -> tuple[np.ndarray, np.ndarray, float]:
    """Weighted mean (d,), covariance (d, d) with shrunk correlations, and by how much they were."""
    mean = weights @ x
    centered = x - mean
    # a constant column's mean is off by rounding, which is no variation
    centered[:, np.ptp(x[weights > 0], axis=0) == 0] = 0
    covariance = (centered * weights[:, None]).T @ centered
    if shrinkage is None:
        shrinkage = _shrinkage(centered, weights, covariance)
    return mean, (1 - shrinkage) * covariance + shrinkage * np.diag(np.diag(covariance)), shrinkage


def _shrinkage(centered: np.ndarray, weights: np.ndarray, covariance: np.ndarray) -> float:
    """Schäfer and Strimmer's share, on correlations: Σ Var(r_ij) / Σ r_ij² over i ≠ j, within [0, 1]."""
    spread = np.sqrt(np.diag(covariance))
    z = centered / np.where(spread > 0, spread, 1)
    correlations = (z * weights[:, None]).T @ z
    squares = (z**2 * weights[:, None]).T @ z**2
    # Σw² is one over the effective number of people; at 1 person nothing varies and nothing is known
    one_over_n = float(weights @ weights)
    if one_over_n >= 1:
        return 1.0
    variances = (squares - correlations**2) * one_over_n / (1 - one_over_n)
    np.fill_diagonal(correlations, 0)
    np.fill_diagonal(variances, 0)
    total = float((correlations**2).sum())
    return min(1.0, max(0.0, float(variances.sum()) / total)) if total > 0 else 0.0


def _monge(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return A (d, d), see the module's docstring."""
    values, vectors = np.linalg.eigh(source)
    moves = values > _FLAT * max(values.max(), 0)
    roots = np.sqrt(values[moves])
    axes = vectors[:, moves]
    half, inverse = (axes * roots) @ axes.T, (axes / roots) @ axes.T
    inner, frame = np.linalg.eigh(half @ target @ half)
    middle = (frame * np.sqrt(np.maximum(inner, 0))) @ frame.T
    still = vectors[:, ~moves]
    # of the directions the source never takes, those that the target takes are left as they are
    varies = still @ _support(still.T @ target @ still, float(np.trace(target))) @ still.T
    return inverse @ middle @ inverse + varies


def _support(covariance: np.ndarray, scale: float) -> np.ndarray:
    """Project onto the directions (k, k) in which a covariance varies."""
    values, vectors = np.linalg.eigh(covariance)
    axes = vectors[:, values > _FLAT * scale]
    return axes @ axes.T
