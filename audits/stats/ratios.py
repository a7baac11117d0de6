"""The ratio of two independent means that are above 0."""

from __future__ import annotations

import math

from scipy.stats import norm

from audits.stats.estimate import Estimate
from audits.stats.means import MeanTest

__all__ = ["mean_ratio", "power_of_ratio", "times_people_needed"]


def mean_ratio(first: MeanTest, second: MeanTest, *, level: float = 0.05) -> Estimate:
    """Ratio of two means, first over second, its interval recovered from theirs (MOVER-R).

    No ratio where the second mean is 0; no end where an interval that it needs does not exist, and no
    upper end where the second interval reaches 0.

    References
    ----------
    Donner, Zou (2012), Statistical Methods in Medical Research 21:347-359.
    """
    a, b = first.interval(level), second.interval(level)
    if not (first.enough and second.enough):
        method = (a if not first.enough else b).method
        ratio = a.value / b.value if a.value is not None and b.value else None
        return Estimate(ratio, None, None, first.n + second.n, method)
    method, n = f"MOVER-R from {a.method}", first.n + second.n
    if not b.value or a.value is None:
        return Estimate(None, None, None, n, method)
    ratio = a.value / b.value
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return Estimate(ratio, None, None, n, method)
    product = a.value * b.value

    def root(one: float, other: float) -> float:
        return math.sqrt(max(product**2 - one * other, 0.0))

    one, other = a.low * (2 * a.value - a.low), b.high * (2 * b.value - b.high)
    low = one / (product + root(one, other)) if a.low > 0 else 0.0  # the root's form that does not cancel
    one, other = a.high * (2 * a.value - a.high), b.low * (2 * b.value - b.low)
    high = (product + root(one, other)) / other if b.low > 0 else None
    return Estimate(ratio, low, high, n, method)


def _log_error(first: MeanTest, second: MeanTest) -> float | None:
    """Standard error of the logarithm of the ratio, by the delta method."""
    parts = []
    for test in (first, second):
        if test.standard_error is None or test.mean <= 0:
            return None
        parts.append(test.standard_error / test.mean)
    return math.hypot(*parts)


def power_of_ratio(first: MeanTest, second: MeanTest, ratio: float, *, level: float = 0.05) -> float:
    """Probability that a two-sided test at `level` sees means `ratio` > 1 times apart."""
    error = _log_error(first, second)
    if error is None:
        return 0.0
    if error == 0:
        return 1.0
    return float(norm.cdf(math.log(ratio) / error - norm.isf(level / 2)))


def times_people_needed(
    first: MeanTest, second: MeanTest, ratio: float, *, level: float = 0.05, power: float = 0.8
) -> float | None:
    """How many times as many people would give `power`; None where the spread is unknown."""
    error = _log_error(first, second)
    if error is None:
        return None
    return (error * float(norm.isf(level / 2) + norm.ppf(power)) / math.log(ratio)) ** 2
