"""How well a model's scores and decisions fit the label of the audited people."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from audits.stats.estimate import Estimate
from audits.stats.intervals import percent_level, wilson

__all__ = ["accuracy", "area_under_curve", "log_loss"]

_STEP = 1e-12


def accuracy(decisions: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Estimate:
    """Share of people (count `weights`, (n,)) whose decision (bool) is their label (bool)."""
    return wilson(float(weights[decisions == y].sum()), float(weights.sum()))


def area_under_curve(
    scores: np.ndarray, y: np.ndarray, weights: np.ndarray, *, level: float = 0.05
) -> Estimate:
    """Probability that a person with the favourable label outscores one without, ties counting half.

    Parameters
    ----------
    scores : (n,) float
        Higher is better for the person.
    y : (n,) bool
        Whether the label is favourable. With one outcome only there is no area: values are None.
    weights : (n,) float
        People that a row stands for.
    level : float
        Error rate of the interval.

    References
    ----------
    Newcombe (2006), Statistics in Medicine 25:559-573, method 5: a score interval, which keeps a
    width where the area is 0 or 1.

    Examples
    --------
    >>> scores, y = np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True])
    >>> area_under_curve(scores, y, np.ones(4)).value
    0.875
    """
    method = f"Newcombe score {percent_level(level)}"
    m, n = float(weights[y].sum()), float(weights[~y].sum())
    if m <= 0 or n <= 0:
        return Estimate(None, None, None, m + n, method)
    order = np.argsort(scores[~y], kind="stable")
    others = scores[~y][order]
    mass = np.concatenate([[0.0], np.cumsum(weights[~y][order])])
    below = mass[np.searchsorted(others, scores[y], "left")]
    not_above = mass[np.searchsorted(others, scores[y], "right")]
    area = float(np.clip((weights[y] * (below + not_above)).sum() / (2 * m * n), 0.0, 1.0))
    z, half = float(-ndtri(level / 2)), (m + n) / 2

    def beyond(theta: float) -> float:  # below 0 while theta is inside the interval
        spread = 2 * half - 1 - (3 * half - 3) / ((2 - theta) * (1 + theta))
        return (theta - area) ** 2 - z * z * theta * (1 - theta) * max(spread, 0.0) / (m * n)

    # at an area of 0 or 1 the equation has a second root there, which is not the end of the interval
    from scipy.optimize import brentq  # late: few need it

    low = 0.0 if area == 0 else float(brentq(beyond, 0.0, min(area, 1 - _STEP)))
    high = 1.0 if area == 1 else float(brentq(beyond, max(area, _STEP), 1.0))
    return Estimate(area, low, high, m + n, method)


def log_loss(scores: np.ndarray, y: np.ndarray, weights: np.ndarray, *, level: float = 0.05) -> Estimate:
    """Mean cross-entropy of probabilities of the favourable label, in nats; 0 is perfect.

    A probability that contradicts the label with certainty counts as one rounding step (2.2e-16)
    away from it, so the loss of one person is at most 36. The interval is the normal one of a mean.
    """
    size = float(weights.sum())
    right = np.clip(np.where(y, scores, 1.0 - scores), np.finfo(float).eps, 1.0)
    losses = -np.log(right)
    mean = float(weights @ losses / size)
    method = f"normal {percent_level(level)}"
    if size <= 1:
        return Estimate(mean, None, None, size, method)
    error = np.sqrt(weights @ (losses - mean) ** 2 / (size - 1) / size)
    reach = float(-ndtri(level / 2) * error)
    return Estimate(mean, max(mean - reach, 0.0), mean + reach, size, method)
