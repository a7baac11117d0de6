"""How often one score exceeds another: the area under the ROC curve, and each person's part in it."""

from __future__ import annotations

import numpy as np


def outscoring(scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float | None:
    """Return the probability that one of `y` outscores one of the others, in [0, 1], ties counting half.

    None where everyone has the same label.

    Examples
    --------
    >>> outscoring(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]), np.ones(4))
    0.875
    """
    m, n = float(weights[y].sum()), float(weights[~y].sum())
    if m <= 0 or n <= 0:
        return None
    twice = outscored(scores[y], scores[~y], weights[~y])
    return float(np.clip((weights[y] * twice).sum() / (2 * m * n), 0.0, 1.0))


def outscored(scores: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return twice the weight of those `others` whom each of `scores` exceeds, ties counting half."""
    order = np.argsort(others, kind="stable")
    mass = np.concatenate([[0.0], np.cumsum(weights[order])])
    below, not_above = (mass[np.searchsorted(others[order], scores, side)] for side in ("left", "right"))
    twice: np.ndarray = below + not_above
    return twice
