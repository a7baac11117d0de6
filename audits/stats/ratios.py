"""Ratios of two independent means that are above 0, and of many shares to the highest of them."""

from __future__ import annotations

import numpy as np

from audits.stats.estimate import Estimate
from audits.stats.intervals import percent_level, ratio_ends
from audits.stats.means import MeanTest
from audits.stats.shares import wilson_ends

MIN_REFERENCE = 0.02
"""Share of all people from which a group can set the highest rate, by which the others are divided."""


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
    low, high = ratio_ends((a.value, a.low, a.high), (b.value, b.low, b.high))
    return Estimate(ratio, low, high, n, method)


def references_among(n: np.ndarray, least: float = MIN_REFERENCE) -> np.ndarray:
    """Return the places of the groups whose share can be the highest: of a share `least` of the people.

    Anyone's where no group is so large.
    """
    found = np.flatnonzero(n >= max(least * n.sum(), 1e-300))
    return found if len(found) else np.flatnonzero(n > 0)


def ratios_to_highest(
    count: np.ndarray, n: np.ndarray, *, level: float = 0.05, least: float = MIN_REFERENCE
) -> tuple[list[Estimate], Estimate]:
    """Each group's share divided by the highest of them, and the smallest such ratio.

    Only groups of at least a share `least` of the people can be the highest, and the smallest ratio is theirs
    alone; the ratios of smaller groups are stated apart and may exceed 1. Where fewer than two groups are so
    large, the smallest ratio is over all.

    The ratios of these k groups, and the smallest of them, all lie in their intervals with the stated
    confidence (MOVER-R, Bonferroni-corrected). Which group truly has the highest share is not known. A lower
    end is the smallest over the groups that may be it, those of which no interval says that another's share
    is higher: it takes the k - 1 intervals to the true one. A ratio to the highest share is at most that to
    any other, so the upper end is the smallest of all pairs: it takes (k - 1)² more.

    Parameters
    ----------
    count, n : arrays (k,)
        People with the property, and people, of each group; nobody gives no ratio.

    References
    ----------
    Hsu (1981), Annals of Statistics 9:1026-1034 (comparisons with the best); Donner, Zou (2012), Statistical
    Methods in Medical Research 21:347-359; 29 CFR 1607.4 D and its questions and answers (groups of 2%).

    Examples
    --------
    >>> ratios, smallest = ratios_to_highest(np.array([30, 50]), np.array([100, 100]))
    >>> [(round(r.value, 2), round(r.low, 3), round(r.high, 3)) for r in ratios]
    [(0.6, 0.419, 0.852), (1.0, 1.0, 1.0)]
    """
    count, n = np.asarray(count, dtype=float), np.asarray(n, dtype=float)
    references = references_among(n, least)
    if not len(references) or count[references].max() <= 0:
        none = [Estimate(None, None, None, float(each), "no highest rate to divide by") for each in n]
        return none, Estimate(None, None, None, float(n.sum()), "no highest rate to divide by")
    found = [Estimate(None, None, None, float(each), "nobody to count") for each in n]
    together = references if len(references) > 1 else np.flatnonzero(n > 0)
    others = np.setdiff1d(np.flatnonzero(n > 0), together)
    for rows in (together, others) if len(others) else (together,):
        for place, ratio in zip(rows, _to_highest(count, n, rows, references, level), strict=True):
            found[place] = ratio
    known = [found[place] for place in together]
    value, low, high = (
        min(float(getattr(each, end) or 0.0) for each in known) for end in ("value", "low", "high")
    )
    return found, Estimate(value, low, high, float(n[together].sum()), known[0].method)


def _to_highest(
    count: np.ndarray, n: np.ndarray, rows: np.ndarray, references: np.ndarray, level: float
) -> list[Estimate]:
    """Ratios of the shares of `rows` to the highest among `references`; their intervals hold together."""
    among = np.union1d(rows, references)
    same = len(rows) == len(references) and bool((rows == references).all())
    k = len(np.union1d(rows, references[:1]))
    method = f"MOVER-R from Wilson {percent_level(level)}, {k} groups together, whichever is highest"
    share = count[among] / n[among]
    row, reference = np.searchsorted(among, rows), np.searchsorted(among, references)
    low, _ = _pairwise_ends(count[among], n[among], level / max(k - 1, 1))
    pairs = max((k - 1) * (k - 1 if same else len(references)), 1)
    _, high = _pairwise_ends(count[among], n[among], level / pairs)
    may_be = np.asarray((low[np.ix_(reference, reference)] <= 1).all(0))  # no other's share is surely higher
    best = reference[int(share[reference].argmax())]
    may_be[reference == best] = True
    low, high = low[np.ix_(row, reference[may_be])].min(1), high[np.ix_(row, reference)].min(1)
    # of counts, so that 32 of 100 beside 40 of 100 is 0.8 and not the number below it
    ratio = count[rows] * n[among[best]] / (n[rows] * count[among[best]])
    if same:
        low, high = np.minimum(low, 1.0), np.minimum(high, 1.0)
    return [
        Estimate(float(value), float(min(first, value)), float(max(last, value)), float(n[place]), method)
        for value, first, last, place in zip(ratio, low, high, rows, strict=True)
    ]


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
