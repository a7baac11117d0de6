"""T_n over the weights of a logistic model of two numbers, and how a misjudged metric changes it (Figure 1).

The paper's reference script adds the intercept once for each coordinate by a slip of broadcasting: its
stored grid is reproduced by logits θ·x + 2b. The right logits, used here, are θ·x + b.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit


def best_intercept(x: np.ndarray, y: np.ndarray, theta: np.ndarray) -> float:
    """Intercept that fits the labels best with weights `theta` (d,) held (Appendix E.2).

    Both outcomes must occur in `y`.
    """
    scores = x @ theta
    reach = float(np.abs(scores).max()) + 40.0
    return float(brentq(lambda b: (expit(scores + b) - y).sum(), -reach, reach, xtol=1e-13))


def turned(direction: np.ndarray, degrees: float) -> np.ndarray:
    """Unit vector of `direction` (2,), turned by `degrees` counterclockwise."""
    angle = np.arctan2(direction[1], direction[0]) + np.deg2rad(degrees)
    return np.array([np.cos(angle), np.sin(angle)])


def linear_ratios(
    x: np.ndarray,
    y: np.ndarray,
    thetas: np.ndarray,
    intercepts: np.ndarray,
    direction: np.ndarray,
    *,
    regularizer: float,
    sizes: np.ndarray,
) -> np.ndarray:
    """Loss ratios (g, n) of g logistic models `thetas` (g, 2) of two numbers at once, by the flow of Eq. 2.8.

    `x` is (n, 2), in float32 with all other arrays where a figure is all that is wanted; `direction` the unit
    vector along which people move freely; `sizes` those of the steps. A person's shift is a multiple of the
    model's weights along the free direction, and another one across it; both multiples grow with the same
    slope of the loss, so that two numbers a person are all to keep.
    """
    sign = np.where(np.asarray(y, dtype=bool), -1.0, 1.0).astype(x.dtype)
    start = sign * (thetas @ x.T + intercepts[:, None])  # (g, n) logits, the sign of a wrong decision
    free = np.square(thetas @ direction)[:, None]
    dear = np.square(thetas).sum(axis=1)[:, None] - free
    along, across, logits = np.zeros_like(start), np.zeros_like(start), start.copy()
    for size in sizes.tolist():
        slope = size * expit(logits)
        along += slope
        across *= 1 - 2 * regularizer * size
        across += slope
        np.multiply(free, along, out=logits)
        logits += dear * across
        logits += start
    return np.logaddexp(0, logits) / np.logaddexp(0, start)
