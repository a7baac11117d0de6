"""Ratios of two independent means that are above 0, and of many shares to the highest of them."""

from __future__ import annotations

import math

import numpy as np

from audits.stats.estimate import Estimate
from audits.stats.intervals import percent_level
from audits.stats.means import MeanTest
from audits.stats.shares import wilson_ends

__all__ = ["mean_ratio", "ratios_to_highest"]


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


def ratios_to_highest(
    count: np.ndarray, n: np.ndarray, *, level: float = 0.05
) -> tuple[list[Estimate], Estimate]:
    """Each group's share divided by the highest of them, and the smallest such ratio; all hold together.

    Whichever group truly has the highest share, the k - 1 ratios to it lie in their intervals (MOVER-R,
    Bonferroni-corrected for k - 1) with the stated confidence. Which group that is, is not known: a group may
    be it where no interval says that another's share is higher. A ratio's interval reaches over all groups
    that may be it, and none exceeds 1.

    Parameters
    ----------
    count, n : arrays (k,)
        People with the property, and people, of each group; nobody gives no ratio.

    References
    ----------
    Hsu (1981), Annals of Statistics 9:1026-1034 (comparisons with the best); Donner, Zou (2012), Statistical
    Methods in Medical Research 21:347-359.

    Examples
    --------
    >>> ratios, smallest = ratios_to_highest(np.array([30, 50]), np.array([100, 100]))
    >>> [(round(r.value, 2), round(r.low, 3), round(r.high, 3)) for r in ratios]
    [(0.6, 0.419, 0.852), (1.0, 1.0, 1.0)]
    """
    count, n = np.asarray(count, dtype=float), np.asarray(n, dtype=float)
    known = np.flatnonzero(n > 0)
    k = len(known)
    method = f"MOVER-R from Wilson {percent_level(level)}, {k} groups together, whichever is highest"
    if k == 0 or count[known].max() <= 0:
        none = [Estimate(None, None, None, float(each), "no highest rate to divide by") for each in n]
        return none, Estimate(None, None, None, float(n.sum()), "no highest rate to divide by")
    share = count[known] / n[known]
    low, high = _pairwise_ends(count[known], n[known], level / max(k - 1, 1))
    may_be = np.asarray((low <= 1).all(0))  # no other group's share is surely higher
    may_be[int(share.argmax())] = True
    low, high = np.minimum(low[:, may_be], 1.0), np.minimum(high[:, may_be], 1.0)
    ratio = share / share.max()
    found = [Estimate(None, None, None, float(each), "nobody to count") for each in n]
    for place, where in enumerate(known):
        found[where] = Estimate(
            float(ratio[place]),
            float(min(low[place].min(), ratio[place])),
            float(max(high[place].max(), ratio[place])),
            float(n[where]),
            method,
        )
    smallest = Estimate(
        float(ratio.min()),
        float(min(low.min(), ratio.min())),
        float(max(high.min(0).max(), ratio.min())),
        float(n.sum()),
        method,
    )
    return found, smallest


def _pairwise_ends(count: np.ndarray, n: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of MOVER-R's interval of share j over share b, (k, k) by j and b; 1 where they are the same."""
    share = count / n
    below, above = wilson_ends(count, n, level=level)
    p, q = share[:, None], share[None, :]
    p_low, p_high, q_low, q_high = below[:, None], above[:, None], below[None, :], above[None, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        b, c = p_low * (2 * p - p_low), q_high * (2 * q - q_high)
        low = b / (p * q + np.sqrt(np.maximum((p * q) ** 2 - b * c, 0)))
        b, c = p_high * (2 * p - p_high), q_low * (2 * q - q_low)
        high = np.where(q_low > 0, (p * q + np.sqrt(np.maximum((p * q) ** 2 - b * c, 0))) / c, np.inf)
    low = np.where(p > 0, low, 0.0)
    # a share of 0 below: the ends of the ratio turned over
    turned = 1 / np.where(high.T > 0, high.T, np.inf)
    low = np.where(q > 0, low, np.where(p > 0, turned, 0.0))
    high = np.where(q > 0, high, np.inf)
    same = np.eye(len(n), dtype=bool)
    return np.where(same, 1.0, low), np.where(same, 1.0, high)
