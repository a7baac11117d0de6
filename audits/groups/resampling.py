"""A second interval, by the bootstrap, for what is no plain share: impact ratio and balanced accuracy.

The intervals recovered from Wilson's (MOVER) are the ones that verdicts and figures use: they hold in small
groups and at 0. The bootstrap assumes less about how the parts combine, and the two beside each other show
where it matters; with all people of a group decided alike it collapses to a point, which MOVER does not.
Spreads between groups (largest minus smallest) have none: resampled, they are too large where the truth is 0.
Nor has a ratio with fewer than ten people selected in one of its groups: there it covers far too rarely.
"""

from __future__ import annotations

import numpy as np

from audits.groups.metrics import Counts
from audits.stats import Estimate
from audits.stats.cell_bootstrap import percentile_interval, redraw

__all__ = ["bootstrap_intervals"]

FEWEST_EVENTS = 10
"""People selected in each of two groups from which the bootstrap of their ratio is stated."""


def bootstrap_intervals(
    counts: Counts, best: int, rng: np.random.Generator, *, draws: int, level: float
) -> list[dict[str, Estimate]]:
    """Return for each group the bootstrap's estimates by name; empty without draws.

    Parameters
    ----------
    counts : Counts
        Of k groups.
    best : int
        Position of the group with the highest selection rate, which ratios are to.
    draws : int
        Resamples of each group's people.
    """
    k = len(counts.n)
    if draws == 0:
        return [{} for _ in range(k)]
    if counts.true_positive is None:
        again = redraw(np.stack([counts.selected, counts.n - counts.selected], 1), rng, draws=draws)
        selected, balanced = again[:, :, 0], None
    else:
        parts = (counts.true_positive, counts.false_negative, counts.false_positive, counts.true_negative)
        cells = np.stack([part for part in parts if part is not None], 1)
        tp, fn, fp, tn = np.moveaxis(redraw(cells, rng, draws=draws), 2, 0).astype(float)
        selected = tp + fp
        balanced = 0.5 * (_ratio(tp, tp + fn) + _ratio(tn, tn + fp))
        value = 0.5 * (_ratio(cells[:, 0], cells[:, :2].sum(1)) + _ratio(cells[:, 3], cells[:, 2:].sum(1)))
    rates = _ratio(selected, np.rint(counts.n))  # as many people as were drawn
    ratios = _ratio(rates, rates[:, [best]])
    share = counts.selected / counts.n
    found = []
    for j in range(k):
        n = float(counts.n[j])
        own = {}
        if j != best and share[best] > 0:
            own["impact_ratio"] = _ratio_interval(counts, share, j, best, ratios[:, j], level)
        if balanced is not None and np.isfinite(value[j]):
            own["balanced_accuracy"] = percentile_interval(float(value[j]), balanced[:, j], n, level=level)
        found.append(own)
    return found


def _ratio_interval(
    counts: Counts, share: np.ndarray, j: int, best: int, drawn: np.ndarray, level: float
) -> Estimate:
    value, n = float(share[j] / share[best]), float(counts.n[j] + counts.n[best])
    if min(counts.selected[j], counts.selected[best]) < FEWEST_EVENTS:
        few = f"no bootstrap: fewer than {FEWEST_EVENTS} people selected in one of the two groups"
        return Estimate(value, None, None, n, few)
    return percentile_interval(value, drawn, n, level=level)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Elementwise; NaN where nobody is in the whole."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / whole, np.nan)
