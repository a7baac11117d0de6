"""What it costs to move one point onto another: the ground costs of every coupling and map.

``l1_squared`` is the squared L1 distance that FlipTest (Black, Yeom and Fredrikson, 2020, section 5) moves
people by. With feature weights ``w`` (all 1 unless given) and differences ``d = x - y``:

=============  =============================
``l1``         ``sum_k w_k |d_k|``
``l1_squared`` ``(sum_k w_k |d_k|) ** 2``
``l2_squared`` ``sum_k w_k d_k ** 2``
``l2``         ``sqrt(sum_k w_k d_k ** 2)``
=============  =============================
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from audits.checks import finite, one_of
from audits.errors import InputError

Cost = Literal["l1_squared", "l2_squared", "l1", "l2"]
COSTS: tuple[Cost, ...] = get_args(Cost)

_CHUNK = 1 << 20  # numbers held at once by paired_cost


def pairwise_cost(
    x: np.ndarray, y: np.ndarray, cost: Cost = "l1_squared", weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the cost of moving each row of `x` onto each row of `y`.

    Parameters
    ----------
    x : (n, d) array
        Points, any unit.
    y : (m, d) array
        Points in the same features and units.
    cost : {"l1_squared", "l2_squared", "l1", "l2"}
        Ground cost, see the module's table.
    weights : (d,) array, optional
        Weight of each feature, at least 0; all 1 if not given.

    Returns
    -------
    (n, m) array
        Costs, at least 0.

    Raises
    ------
    InputError
        If a point or weight is not finite, shapes do not match, a weight is negative or `cost` is unknown.

    Examples
    --------
    >>> pairwise_cost([[0, 0]], [[1, 2], [0, 3]], "l1_squared")
    array([[9., 9.]])
    """
    from scipy.spatial.distance import cdist  # what only names a cost does without SciPy

    x, y = checked_points(x, y)
    one_of("cost", cost, COSTS)
    x, y = scale_points(x, y, cost, weights)
    return outer(cdist(x, y, inner_metric(cost)), cost)


def paired_cost(
    x: np.ndarray, y: np.ndarray, cost: Cost = "l1_squared", weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the cost of moving each row of `x` onto the same row of `y`.

    Parameters
    ----------
    x, y : (n, d) array
        Points, row by row.
    cost, weights
        As in `pairwise_cost`.

    Returns
    -------
    (n,) array
        Costs, at least 0.

    Raises
    ------
    InputError
        As `pairwise_cost`; also if `x` and `y` have different numbers of rows.

    Examples
    --------
    >>> paired_cost([[0, 0], [1, 1]], [[1, 2], [1, 1]], "l1")
    array([3., 0.])
    """
    x, y = checked_points(x, y)
    if len(x) != len(y):
        raise InputError("y", f"must have as many rows as x ({len(x):,})", len(y))
    one_of("cost", cost, COSTS)
    x, y = scale_points(x, y, cost, weights)
    rows = np.arange(len(x))
    return gathered_cost(x, y, rows, rows, cost)


def checked_points(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both sets of points as finite, non-empty (n, d) and (m, d) float arrays."""
    points = []
    for name, values in (("x", x), ("y", y)):
        values = finite(name, values)
        if values.ndim != 2:
            raise InputError(name, "must be a two-dimensional array, one row a point", values.shape)
        if not values.size:
            raise InputError(name, "must hold at least one point and one feature", values.shape)
        points.append(values)
    if points[0].shape[1] != points[1].shape[1]:
        raise InputError("y", f"must have the {points[0].shape[1]:,} features of x", points[1].shape[1])
    return points[0], points[1]


def scale_points(
    x: np.ndarray, y: np.ndarray, cost: Cost, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return both sets of points scaled so that the unweighted cost is the weighted one."""
    if weights is None:
        return x, y
    weights = checked_feature_weights(weights, x.shape[1])
    factor = weights if cost in {"l1", "l1_squared"} else np.sqrt(weights)
    with np.errstate(over="ignore"):
        return x * factor, y * factor


def checked_feature_weights(weights: np.ndarray, features: int) -> np.ndarray:
    """Return weights of the `features` in a cost, (d,) finite and at least 0."""
    weights = finite("feature_weights", weights)
    if weights.shape != (features,):
        raise InputError(
            "feature_weights", f"must hold one number for each of the {features:,} features", weights.shape
        )
    if (weights < 0).any():
        raise InputError("feature_weights", "must be at least 0", float(weights.min()))
    return weights


def inner_metric(cost: Cost) -> Literal["cityblock", "sqeuclidean"]:
    """Name SciPy's metric that adds up over features and that `outer` turns into `cost`."""
    return "cityblock" if cost in {"l1", "l1_squared"} else "sqeuclidean"


def outer(inner: np.ndarray, cost: Cost) -> np.ndarray:
    """Turn the sum over features, any shape, into the cost; in place."""
    if cost == "l1_squared":
        return np.multiply(inner, inner, out=inner)
    return np.sqrt(inner, out=inner) if cost == "l2" else inner


def gathered_cost(x: np.ndarray, y: np.ndarray, i: np.ndarray, j: np.ndarray, cost: Cost) -> np.ndarray:
    """Return the costs of the pairs ``(x[i], y[j])``, (p,), for points that are already weighted."""
    power = np.abs if inner_metric(cost) == "cityblock" else np.square
    total = np.empty(len(i))
    step = max(1, _CHUNK // x.shape[1])
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        total[part] = power(x[i[part]] - y[j[part]]).sum(axis=1)
    return outer(total, cost)
