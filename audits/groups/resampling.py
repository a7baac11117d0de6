"""A second interval of balanced accuracy, by the bootstrap.

The interval recovered from Wilson's (MOVER) is the one that figures use: it holds in small groups and at 0.
The bootstrap assumes less about how the parts combine, and the two beside each other show where it matters;
with all people of a group decided alike it collapses to a point, which MOVER does not.

Ratios to the highest rate have none. It would take the highest rate seen for the highest: where rates are
equal that misses, and where it is stated only if one rate is surely the highest, it is stated just when luck
made it so, and then nearly always misses. `audits.stats.ratios` has an interval that reaches over all groups
that may be highest, and is always stated. Nor have spreads between groups (largest minus smallest):
resampled, they are too large where the truth is 0.
"""

from __future__ import annotations

import numpy as np

from audits.groups.metrics import Counts
from audits.stats import Estimate
from audits.stats.cell_bootstrap import percentile_interval, redraw

__all__ = ["bootstrap_intervals"]


def bootstrap_intervals(
    counts: Counts, rng: np.random.Generator, *, draws: int, level: float
) -> list[dict[str, Estimate]]:
    """Return for each group the bootstrap's estimates by name; empty without draws or labels.

    Parameters
    ----------
    counts : Counts
        Of k groups.
    draws : int
        Resamples of each group's people.
    """
    if draws == 0 or counts.true_positive is None:
        return [{} for _ in counts.n]
    parts = (counts.true_positive, counts.false_negative, counts.false_positive, counts.true_negative)
    cells = np.stack([part for part in parts if part is not None], 1)
    drawn = _balanced(redraw(cells, rng, draws=draws))
    return [
        {"balanced_accuracy": percentile_interval(float(value), drawn[:, j], float(n), level=level)}
        if np.isfinite(value)
        else {}
        for j, (value, n) in enumerate(zip(_balanced(cells), counts.n, strict=True))
    ]


def _balanced(cells: np.ndarray) -> np.ndarray:
    """Balanced accuracy of true positives, false negatives, false positives, true negatives (..., 4)."""
    tp, fn, fp, tn = np.moveaxis(cells, -1, 0).astype(float)
    return 0.5 * (_ratio(tp, tp + fn) + _ratio(tn, tn + fp))


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Elementwise; NaN where nobody is in the whole."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / whole, np.nan)
