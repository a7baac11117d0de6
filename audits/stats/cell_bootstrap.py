"""Bootstrap of figures that depend on people through counts alone: groups of people in a few cells."""

from __future__ import annotations

import numpy as np

from audits.stats.estimate import Estimate
from audits.stats.intervals import percent_level


def redraw(cells: np.ndarray, rng: np.random.Generator, *, draws: int) -> np.ndarray:
    """Return counts of resampled people: (k, c) -> (draws, k, c), each group as large as it is.

    Drawing a group's people with replacement and counting them again is one multinomial draw.

    Examples
    --------
    >>> again = redraw(np.array([[6, 4], [0, 3]]), np.random.default_rng(0), draws=2)
    >>> again.sum(2).tolist()
    [[10, 3], [10, 3]]
    """
    cells = np.asarray(cells, dtype=float)
    n = cells.sum(1)
    share = cells / np.maximum(n, 1)[:, None]
    share[n <= 0, 0] = 1.0
    return rng.multinomial(np.rint(n).astype(np.int64), share, size=(draws, len(cells)))


def percentile_interval(value: float | None, drawn: np.ndarray, n: float, *, level: float) -> Estimate:
    """Return `value` with the percentile interval of `drawn` (draws,), NaN where a draw has no value.

    No interval without a value, or where more than half of the draws have none: it would be about
    the others. Nor where all draws agree: people who are alike have shown no spread.

    References
    ----------
    Efron, Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
    """
    method = f"bootstrap percentile {percent_level(level)}, {len(drawn):,} draws"
    known = drawn[np.isfinite(drawn)]
    if value is None or 2 * len(known) <= len(drawn):
        return Estimate(value, None, None, n, method)
    if np.ptp(known) == 0:
        return Estimate(value, None, None, n, "no interval: all draws of these people agree")
    low, high = np.quantile(known, [level / 2, 1 - level / 2])
    # few people: all draws can lie on one side of the estimate
    return Estimate(value, min(float(low), value), max(float(high), value), n, method)
