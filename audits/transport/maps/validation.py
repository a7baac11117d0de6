"""Can a map be trusted? FlipTest's checks (section 5.1, Tables 1–3, Appendix D), as pure functions of arrays.

Every check takes weighted people in encoded coordinates. Hand over counterparts as they are used: decoded to
admissible people and encoded again. A raw barycenter has categories between 0 and 1 that no one has, and its
KS distance says so.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from audits.progress import Progress, silent
from audits.transport.costs import Cost, paired_cost
from audits.transport.exact import exact_coupling
from audits.transport.maps.protocol import CheckedGroups, thin


def ks_distances(
    x: np.ndarray, y: np.ndarray, a: np.ndarray | None = None, b: np.ndarray | None = None
) -> np.ndarray:
    """Kolmogorov–Smirnov distance of every feature between two weighted groups.

    Parameters
    ----------
    x, y : arrays (n, d), (m, d)
        Two groups, usually the counterparts and the target group.
    a, b : arrays (n,), (m,), optional
        Weights of people; equal by default.

    Returns
    -------
    ndarray
        (d,) in [0, 1]: the largest gap between the two cumulative distributions; 0 means alike.

    Examples
    --------
    >>> ks_distances(np.array([[0.0], [1.0]]), np.array([[1.0], [1.0]])).tolist()
    [0.5]
    """
    values = np.concatenate([x, y])
    shares = np.concatenate([_shares(a, len(x)), -_shares(b, len(y))])
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    gaps = np.cumsum(shares[order], axis=0)
    last = np.ones(gaps.shape, dtype=bool)  # a step counts once all its ties are in
    last[:-1] = ordered[1:] > ordered[:-1]
    return np.where(last, np.abs(gaps), 0).max(axis=0)


def mean_cost(
    x: np.ndarray,
    z: np.ndarray,
    *,
    cost: Cost = "l1_squared",
    a: np.ndarray | None = None,
    feature_weights: np.ndarray | None = None,
) -> float:
    """Mean cost of moving the people `x` to their counterparts `z`, both (n, d)."""
    return float(_shares(a, len(x)) @ paired_cost(x, z, cost, feature_weights))


def exact_cost(
    x: np.ndarray,
    y: np.ndarray,
    *,
    cost: Cost = "l1_squared",
    a: np.ndarray | None = None,
    b: np.ndarray | None = None,
    feature_weights: np.ndarray | None = None,
    most: int = 2000,
    progress: Progress = silent,
    rng: np.random.Generator,
) -> float:
    """Mean cost of the exact coupling between the groups, or between `most` people of each, drawn by `rng`.

    What a map's mean cost is compared with. A coupling of few people costs more than one of many, the more so
    the more features there are: a map that costs somewhat less is not at fault.
    """
    people = CheckedGroups(x, y, _shares(a, len(x)), _shares(b, len(y)))
    x, y, source, target = thin(people, most, rng)[0]
    return exact_coupling(
        x, y, cost=cost, a=source, b=target, feature_weights=feature_weights, progress=progress
    ).cost


def regression_gaps(
    y: np.ndarray, z: np.ndarray, *, b: np.ndarray | None = None, a: np.ndarray | None = None
) -> np.ndarray:
    """How much worse linear models of the target group do on the counterparts, feature by feature.

    One linear model a feature, with a constant, fitted on the target group, predicts the feature from the
    others. Returned is its mean squared error on the counterparts minus that on the target group.

    Parameters
    ----------
    y, z : arrays (m, d), (n, d)
        Target group and counterparts.
    b, a : arrays (m,), (n,), optional
        Their weights; equal by default.

    Returns
    -------
    ndarray
        (d,) in squared encoded units; 0 means that features hang together alike. Negative where counterparts
        are easier to predict than real people. With a single feature the model is the mean.
    """
    b, a = _shares(b, len(y)), _shares(a, len(z))
    design, moved = (np.column_stack([rows, np.ones(len(rows))]) for rows in (y, z))
    gram = (design * b[:, None]).T @ design
    gaps = np.empty(y.shape[1])
    for k in range(y.shape[1]):
        others = np.delete(np.arange(len(gram)), k)
        # a pseudo-inverse: one-hot columns of a feature sum to a constant
        slopes = np.linalg.pinv(gram[np.ix_(others, others)], hermitian=True) @ gram[others, k]
        wanted = b @ (y[:, k] - design[:, others] @ slopes) ** 2
        gaps[k] = a @ (z[:, k] - moved[:, others] @ slopes) ** 2 - wanted
    return gaps


def composition_error(
    x: np.ndarray,
    forward: Callable[[np.ndarray], np.ndarray],
    reverse: Callable[[np.ndarray], np.ndarray],
    *,
    cost: Cost = "l1_squared",
    a: np.ndarray | None = None,
    feature_weights: np.ndarray | None = None,
) -> float:
    """Mean cost between people `x` (n, d) and where they land when mapped there and back again.

    0 when the two maps undo one another, as maps from an exact coupling do; compare it with the mean cost of
    the forward map.
    """
    back = reverse(forward(x))
    return mean_cost(x, back, cost=cost, a=a, feature_weights=feature_weights)


def _shares(weights: np.ndarray | None, n: int) -> np.ndarray:
    if weights is None:
        return np.full(n, 1.0 / n)
    weights = np.asarray(weights, dtype=float)
    return weights / weights.sum()
