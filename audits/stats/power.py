"""How many people are enough: so many that an interval is no longer than what matters."""

from __future__ import annotations

from collections.abc import Callable

_MAX_TIMES = 2.0**40


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
