"""Counts per group and the rates they give; all groups at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["METRICS", "Counts", "confusion_counts", "rates"]

METRICS = (
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "true_negative_rate",
    "false_negative_rate",
    "precision",
    "accuracy",
    "base_rate",
)
"""Shares of people, in the order they are shown."""


@dataclass(frozen=True, eq=False)
class Counts:
    """People per group (k,) by decision and label; without labels only `selected` and `n` are known.

    Attributes
    ----------
    n, selected : arrays (k,)
        People, and those decided favourably.
    true_positive, false_positive, true_negative, false_negative : arrays (k,) or None
        Positive is favourable: a true positive has a favourable label and decision.
    """

    n: np.ndarray
    selected: np.ndarray
    true_positive: np.ndarray | None
    false_positive: np.ndarray | None
    true_negative: np.ndarray | None
    false_negative: np.ndarray | None


def confusion_counts(
    group: np.ndarray, decision: np.ndarray, y: np.ndarray | None, sizes: np.ndarray, k: int
) -> Counts:
    """Count people per group, decision and label.

    Parameters
    ----------
    group : int array (n,)
        Group of each row, 0 to `k` - 1.
    decision, y : bool arrays (n,)
        Favourable decision and favourable label; `y` may be None.
    sizes : array (n,)
        People each row stands for.
    """
    if y is None:
        selected = np.bincount(group, sizes * decision, k)
        return Counts(np.bincount(group, sizes, k), selected, None, None, None, None)
    cells = np.bincount(4 * group + 2 * y + decision, sizes, 4 * k).reshape(k, 2, 2)  # label, decision
    return Counts(
        n=cells.sum((1, 2)),
        selected=cells[:, :, 1].sum(1),
        true_positive=cells[:, 1, 1],
        false_positive=cells[:, 0, 1],
        true_negative=cells[:, 0, 0],
        false_negative=cells[:, 1, 0],
    )


def rates(counts: Counts) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return each metric's numerator and denominator (k,), both in people; 0 / 0 stays undefined."""
    found = {"selection_rate": (counts.selected, counts.n)}
    if counts.true_positive is None:
        return found
    tp, fp, tn, fn = counts.true_positive, counts.false_positive, counts.true_negative, counts.false_negative
    assert fp is not None and tn is not None and fn is not None  # noqa: S101, PT018  (counted together)
    return found | {
        "true_positive_rate": (tp, tp + fn),
        "false_positive_rate": (fp, fp + tn),
        "true_negative_rate": (tn, fp + tn),
        "false_negative_rate": (fn, tp + fn),
        "precision": (tp, tp + fp),
        "accuracy": (tp + tn, counts.n),
        "base_rate": (tp + fn, counts.n),
    }
