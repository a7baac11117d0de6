"""Scores and margins of rule sets from counts (sections 4.2 and 4.3, Theorem 4.2)."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm


def differences(
    n: np.ndarray,
    favorable: np.ndarray,
    total: np.ndarray | float,
    total_favorable: np.ndarray | float,
) -> np.ndarray:
    """P(favorable | R) - P(favorable | not R), (S,): above 0 the group is advantaged.

    The group-fairness score of Definition 4.1 is its absolute value; 0 means no difference. Where nobody is
    inside, or outside, there is none.

    Examples
    --------
    >>> differences(np.array([4.0]), np.array([3.0]), 10.0, 6.0)
    array([0.25])
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return favorable / n - (total_favorable - favorable) / (total - n)


def margin(
    first: np.ndarray, first_n: np.ndarray, second: np.ndarray, second_n: np.ndarray, confidence: float
) -> np.ndarray:
    """Sum of the two sides' margins of error (Eq. 7, Algorithm 2 line 11): it holds with confidence squared.

    Parameters
    ----------
    first, second : array
        Shares inside and outside, in [0, 1].
    first_n, second_n : array
        People behind them.
    confidence : float
        Confidence of each side's margin.

    Examples
    --------
    >>> round(float(margin(0.283, 1000, 0.091, 1000, 0.95)), 5)
    0.04574
    """
    z = float(norm.isf((1 - confidence) / 2))
    return z * (np.sqrt(first * (1 - first) / first_n) + np.sqrt(second * (1 - second) / second_n))


def people_for_margin(first: np.ndarray, second: np.ndarray, error: float, confidence: float) -> np.ndarray:
    """Samples a side at which `margin` falls to `error`.

    Examples
    --------
    >>> int(people_for_margin(np.array(0.5), np.array(0.5), 0.05, 0.95))
    1537
    """
    z = float(norm.isf((1 - confidence) / 2))
    spread = np.sqrt(first * (1 - first)) + np.sqrt(second * (1 - second))
    return np.ceil((z * spread / error) ** 2)


def z_factor(n: np.ndarray, total: float, rate: float) -> np.ndarray:
    """Factor (S,) that turns `favorable - n rate` into its z-score when decisions are shuffled.

    The count of favorable decisions in a group is then hypergeometric; 0 where nothing can vary.
    """
    spread = n * (total - n) / max(total, 1.0) * rate * (1 - rate) * total / max(total - 1.0, 1.0)
    return np.where(spread > 1e-300, 1 / np.sqrt(np.where(spread > 1e-300, spread, 1.0)), 0.0)
