"""The difference of two shares counted on the same people."""

from __future__ import annotations

import math

from audits.stats.estimate import Estimate
from audits.stats.intervals import percent_level, wilson


def paired_difference(
    both: float, first_only: float, second_only: float, neither: float, *, level: float = 0.05
) -> Estimate:
    """Return the first share minus the second, with Newcombe's interval for paired shares (his method 10).

    Parameters
    ----------
    both, first_only, second_only, neither : float
        People with the property both times, only the first, only the second, and neither time.

    References
    ----------
    Newcombe (1998), Improved confidence intervals for the difference between binomial proportions based on
    paired data, Statistics in Medicine 17:2635-2650, method 10.

    Examples
    --------
    >>> gap = paired_difference(40, 15, 5, 40)
    >>> round(gap.value, 3), round(gap.low, 3), round(gap.high, 3)
    (0.1, 0.012, 0.184)
    """
    n = both + first_only + second_only + neither
    method = f"Newcombe, paired, {percent_level(level)}"
    if n <= 0:
        return Estimate(None, None, None, n, method)
    first = wilson(both + first_only, n, level=level)
    second = wilson(both + second_only, n, level=level)
    values = (first.value, first.low, first.high, second.value, second.low, second.high)
    p, p_low, p_high, q, q_low, q_high = (float(value or 0.0) for value in values)
    phi = _correlation(both, first_only, second_only, neither)
    below = joined_reach(p - p_low, q_high - q, phi)
    above = joined_reach(p_high - p, q - q_low, phi)
    gap = (first_only - second_only) / n
    return Estimate(gap, max(gap - below, -1.0), min(gap + above, 1.0), n, method)


def joined_reach(a: float, b: float, phi: float) -> float:
    """Return how far a difference reaches whose sides reach `a` and `b` and are correlated by `phi`."""
    return math.sqrt(max(a * a - 2 * phi * a * b + b * b, 0.0))


def _correlation(both: float, first_only: float, second_only: float, neither: float) -> float:
    """Newcombe's correlation of the two, with his continuity correction; 0 where there is none."""
    margins = (both + first_only) * (second_only + neither) * (both + second_only) * (first_only + neither)
    if margins <= 0:
        return 0.0
    product = both * neither - first_only * second_only
    half = (both + first_only + second_only + neither) / 2
    shrunk = product if product < 0 else max(product - half, 0.0)
    return shrunk / math.sqrt(margins)
