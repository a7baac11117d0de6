"""Fair metrics learned from comparable people.

*Factor* and *explore* (Mukherjee, Yurochkin, Banerjee, Sun, "Two simple ways to learn
individual fairness metrics from data", ICML 2020): the directions in which comparable people differ most,
and the metric that best tells comparable pairs from others.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from audits.errors import InputError
from audits.loss_ratio.metrics import FairMetric, matrix_metric

__all__ = ["explore_metric", "factor_directions", "pairs_of"]

_MOST_PAIRS = 5000


def factor_directions(x: np.ndarray, comparable: np.ndarray, factors: int) -> np.ndarray:
    """The `factors` directions (k, d) in which people of the same comparable group differ most.

    Comparable people deserve the same treatment, so what varies among them should not matter (FACTOR).

    Raises
    ------
    InputError
        If no two people are comparable, or they differ in fewer directions.
    """
    _, codes, sizes = np.unique(comparable, return_inverse=True, return_counts=True)
    kept = sizes[codes] > 1
    if not kept.any():
        raise InputError("comparable", "must put at least two people into one group")
    means = np.stack([np.bincount(codes, column) for column in x.T], axis=1) / sizes[:, None]
    apart = (x - means[codes])[kept]
    _, spread, right = np.linalg.svd(apart, full_matrices=False)
    found = int((spread > 1e-8 * max(spread[0], 1e-300)).sum())
    if found < factors:
        raise InputError(
            "factors", f"must be at most {found}: comparable people differ in no more directions", factors
        )
    return right[:factors]


def pairs_of(
    comparable: np.ndarray, rng: np.random.Generator, most: int = _MOST_PAIRS
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw pairs of people: positions of first and second (m,), and whether they are comparable.

    About half are comparable (in the same group), half are not.

    Raises
    ------
    InputError
        If there are no comparable, or only comparable, pairs.
    """
    _, codes, sizes = np.unique(comparable, return_inverse=True, return_counts=True)
    if len(sizes) < 2 or sizes.max() < 2:
        raise InputError(
            "comparable", "must make at least two groups, one of them of two people or more", len(sizes)
        )
    order = np.argsort(codes, kind="stable")
    starts = np.cumsum(sizes) - sizes
    first = rng.choice(np.flatnonzero(sizes[codes] > 1), most // 2)
    group = codes[first]
    place = np.empty(len(codes), dtype=np.int64)
    place[order] = np.arange(len(codes)) - np.repeat(starts, sizes)
    step = 1 + rng.integers(0, sizes[group] - 1)
    second = order[starts[group] + (place[first] + step) % sizes[group]]  # another of the same group
    ours = rng.integers(0, len(codes), most)
    theirs = rng.integers(0, len(codes), most)
    differ = np.flatnonzero(codes[ours] != codes[theirs])[: most // 2]
    alike = np.r_[np.ones(len(first), dtype=bool), np.zeros(len(differ), dtype=bool)]
    return np.r_[first, ours[differ]], np.r_[second, theirs[differ]], alike


def explore_metric(differences: np.ndarray, alike: np.ndarray, source: str) -> FairMetric:
    """Metric under which pairs judged alike are near (EXPLORE): P(alike) = 2 / (1 + exp(d²)).

    Maximum likelihood over all symmetric positive semidefinite matrices, as M = LᵀL; scaled so that its
    largest eigenvalue is 1, and λ means the same as with a projection.

    Parameters
    ----------
    differences : array (m, d)
        First minus second person of each pair.
    alike : array (m,) of bool
        Whether they were judged alike; both answers must occur.

    Raises
    ------
    InputError
        If only one of the answers occurs.
    """
    if alike.all() or not alike.any():
        raise InputError("comparable", "must give pairs that are alike and pairs that are not")
    d = differences.shape[1]
    usual = float(np.square(differences).sum(axis=1).mean()) or 1.0
    best = minimize(
        _explore_objective(differences, alike),
        (np.eye(d) / np.sqrt(usual)).ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 500},
    )
    root = best.x.reshape(d, d)
    matrix = root.T @ root
    return matrix_metric(matrix / np.linalg.norm(matrix, 2), source, where="comparable")


def _explore_objective(
    differences: np.ndarray, alike: np.ndarray
) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """Mean negative log-likelihood of L (flat), and its gradient, with a slight pull towards 0."""
    m, d = differences.shape
    ridge = 1e-4

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        root = flat.reshape(d, d)
        seen = differences @ root.T
        far = np.maximum(np.square(seen).sum(axis=1), 1e-12)
        # -log(2 / (1 + e^D)), and -log(1 - 2 / (1 + e^D)) = -log tanh(D / 2)
        tanh = np.tanh(far / 2)
        values = np.where(alike, np.logaddexp(0, far) - np.log(2), -np.log(tanh))
        # d/dD of the second: -(1 - tanh²) / (2 tanh) = -1 / sinh(D)
        slope = np.where(alike, expit(far), -(1 - tanh**2) / (2 * tanh))
        gradient = 2 * (slope[:, None] * seen).T @ differences / m + 2 * ridge * root
        return float(values.mean() + ridge * np.square(root).sum()), gradient.ravel()

    return objective
