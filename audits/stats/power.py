"""How many people are enough: power and sample size for two shares, and intervals that are short enough."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.special import ndtr, ndtri

__all__ = ["people_needed", "power_of_difference", "times_to_settle"]

_MAX_TIMES = 2.0**40


def _pair(share: float, difference: float) -> tuple[float, float]:
    """Two shares `difference` apart around `share`, both inside [0, 1]."""
    low = min(max(share - difference / 2, 0.0), 1.0 - difference)
    return low, low + difference


def power_of_difference(
    share: float, difference: float, first_n: float, second_n: float, *, level: float = 0.05
) -> float:
    """Probability that a two-sided test at `level` sees shares `difference` apart.

    Parameters
    ----------
    share : float
        Common share around which the two lie, in [0, 1].
    difference : float
        Difference that would matter, in (0, 1).
    first_n, second_n : float
        People in each group.

    References
    ----------
    Fleiss, Levin, Paik (2003), Statistical Methods for Rates and Proportions, section 4.

    Examples
    --------
    >>> round(power_of_difference(0.5, 0.1, 392, 392), 2)
    0.8
    """
    if first_n <= 0 or second_n <= 0:
        return 0.0
    p1, p2 = _pair(share, difference)
    pooled = (p1 * first_n + p2 * second_n) / (first_n + second_n)
    under_null = math.sqrt(pooled * (1 - pooled) * (1 / first_n + 1 / second_n))
    under_difference = math.sqrt(p1 * (1 - p1) / first_n + p2 * (1 - p2) / second_n)
    reach = difference + float(ndtri(level / 2)) * under_null
    return 1.0 if under_difference == 0 and reach > 0 else float(ndtr(reach / max(under_difference, 1e-12)))


def people_needed(share: float, difference: float, *, level: float = 0.05, power: float = 0.8) -> int:
    """People needed in each of two equal groups for `power` to see `difference`.

    Examples
    --------
    >>> people_needed(0.5, 0.1)
    392
    """
    low, high = 2, 4
    while power_of_difference(share, difference, high, high, level=level) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if power_of_difference(share, difference, middle, middle, level=level) < power:
            low = middle
        else:
            high = middle
    return high


def times_to_settle(length: Callable[[float], float], material: float) -> float | None:
    """Return how many times as many people settle a verdict, whatever the difference; None where none would.

    An interval no longer than the material difference either lies within ± it or leaves out 0. Insufficient
    evidence is an interval that is longer, so that the answer is never fewer people than there are.

    Parameters
    ----------
    length : callable
        Length of the interval with so many times as many people of the same shares; inf where there is none.
    material : float

    Examples
    --------
    >>> round(times_to_settle(lambda times: 0.4 / times**0.5, 0.1))
    16
    """
    low = high = 1.0
    while length(high) > material:
        low, high = high, 2 * high
        if high > _MAX_TIMES:
            return None
    while high - low > 0.005 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if length(middle) > material else (low, middle)
    return high
