"""Intervals for shares and their differences that hold at small n and near 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from audits.stats.estimate import Estimate

_MAX_Z = 37.0
_HALVINGS = 50
_MANY = 100  # people expected in the smallest cell from which score intervals need no exact test beside them

_LOPSIDED = 50  # times as many people in one group as in the other


def percent_level(level: float) -> str:
    """Word a confidence from its error rate: 0.05 gives ``95%``."""
    return f"{100 * (1 - level):.4g}%"


def _score_interval(count: float, n: float, level: float) -> tuple[float, float, float]:
    """Wilson's score interval of `count` / `n` > 0: share, low, high."""
    p = count / n
    z = -float(ndtri(level / 2))
    center = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(max(p * (1 - p), 0.0) / n + z * z / (4 * n * n))
    # rounding must not push the interval off its own estimate at 0 and 1
    return p, max(0.0, min(p, center - half)), min(1.0, max(p, center + half))


def wilson(count: float, n: float, *, level: float = 0.05) -> Estimate:
    """Share `count` / `n` with Wilson's score interval.

    Parameters
    ----------
    count : float
        People with the property, in [0, n]; fractional where mass splits.
    n : float
        People looked at. At 0 there is no share: all three numbers are None.
    level : float
        Error rate; 0.05 gives a 95% interval.

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22:209-212.

    Examples
    --------
    >>> share = wilson(37, 120)
    >>> round(share.low, 3), round(share.high, 3)
    (0.233, 0.396)
    """
    method = f"Wilson {percent_level(level)}"
    if n <= 0:
        return Estimate(None, None, None, 0.0, method)
    return Estimate(*_score_interval(count, n, level), float(n), method)


def newcombe(
    first_count: float, first_n: float, second_count: float, second_n: float, *, level: float = 0.05
) -> Estimate:
    """Difference of two independent shares, first minus second, with Newcombe's score interval.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17:873-890, method 10.

    Examples
    --------
    >>> gap = newcombe(56, 70, 48, 80)
    >>> round(gap.value, 4), round(gap.low, 4), round(gap.high, 4)
    (0.2, 0.0524, 0.3339)
    """
    first, second = wilson(first_count, first_n, level=level), wilson(second_count, second_n, level=level)
    gap = weighted_sum([first, second], [1.0, -1.0])
    return Estimate(gap.value, gap.low, gap.high, first_n + second_n, f"Newcombe {percent_level(level)}")


def cautious_difference(
    first_count: float, first_n: float, second_count: float, second_n: float, *, level: float = 0.05
) -> Estimate:
    """Difference of two independent shares, with an interval that excludes 0 only if a test says so too.

    Where one group is tiny and the share far from a half, Newcombe's interval excludes 0 too often: of equal
    shares of 2% in 5 and 1,000 people in 10% of the samples at a level of 5%. So it reaches to 0 unless
    Fisher's exact test rejects equal shares as well (`fisher_p`): there in 0.4%, elsewhere up to the level.

    References
    ----------
    Lydersen, Fagerland, Laake (2009), Statistics in Medicine 28:1159-1175 (mid-p).

    Examples
    --------
    >>> lone = cautious_difference(1, 5, 20, 1000)
    >>> round(lone.value, 2), lone.low
    (0.18, 0.0)
    """
    gap = newcombe(first_count, first_n, second_count, second_n, level=level)
    if gap.low is None or gap.high is None or gap.low <= 0 <= gap.high:
        return gap
    p = _exact_p(first_count, first_n, second_count, second_n)
    if p <= level:
        return gap
    method = f"{gap.method}, with 0: Fisher's exact test does not exclude it (p {p:.2g})"
    return Estimate(gap.value, min(gap.low, 0.0), max(gap.high, 0.0), gap.n, method)


def cautious_p(first_count: float, first_n: float, second_count: float, second_n: float) -> float | None:
    """Smallest level at which `cautious_difference` leaves out 0; None where there is no difference.

    Examples
    --------
    >>> p = cautious_p(56, 70, 48, 80)
    >>> gaps = (cautious_difference(56, 70, 48, 80, level=level) for level in (1.01 * p, 0.99 * p))
    >>> [gap.low > 0 for gap in gaps]
    [True, False]
    """
    if newcombe(first_count, first_n, second_count, second_n).value is None:
        return None

    def apart(level: float) -> bool:
        gap = newcombe(first_count, first_n, second_count, second_n, level=level)
        return gap.low is not None and gap.high is not None and (gap.low > 0 or gap.high < 0)

    return max(least_level(apart), _exact_p(first_count, first_n, second_count, second_n))


def _exact_p(first_count: float, first_n: float, second_count: float, second_n: float) -> float:
    """Return what `fisher_p` does; 0 of so many people that score intervals need no test beside them."""
    n = first_n + second_n
    few = min(first_n, second_n) * min(first_count + second_count, n - first_count - second_count) / n
    return 0.0 if few > _MANY else fisher_p(first_count, first_n, second_count, second_n)


def least_level(excluded: Callable[[float], bool]) -> float:
    """Return the smallest error rate at which an interval leaves something out, as `excluded` says of one."""
    low, high = 0.0, _MAX_Z
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if excluded(2 * float(ndtr(-middle))) else (low, middle)
    return 2 * float(ndtr(-low))


def fisher_p(first_count: float, first_n: float, second_count: float, second_n: float) -> float:
    """Two-sided p-value of Fisher's exact test; counts rounded to whole people.

    It is the mid-p-value, smaller tail doubled. Beside a group of more than fifty times as many people the
    other one's share is as good as known, and mid-p-values of 6 people reject equal shares of 40% in 9% of
    samples at a level of 5%: there it is the sum of all tables that are no likelier.

    Examples
    --------
    >>> round(fisher_p(3, 4, 1, 4), 3)
    0.257
    """
    a, n, b, m = (round(x) for x in (first_count, first_n, second_count, second_n))
    if n > m:
        a, n, b, m = b, m, a, n
    if a + b > (n + m) / 2:
        a, b = n - a, m - b
    chances, place = _hypergeometric_tables(n, m, a + b, a)
    here = float(chances[place])
    if m > _LOPSIDED * n:
        return float(chances[chances <= here * (1 + 1e-9)].sum())
    tails = min(float(chances[: place + 1].sum()), float(chances[place:].sum()))
    return min(1.0, 2 * tails - here)


def _hypergeometric_tables(n: int, m: int, drawn: int, count: int) -> tuple[np.ndarray, int]:
    """Chance of each count among the first `n` where `drawn` of n + m are drawn, and the place of `count`.

    By the ratio of each chance to the one before it: scipy.stats, which has them too, is slow to import.
    """
    first, last = max(0, drawn - m), min(n, drawn)
    k = np.arange(first, last, dtype=float)
    steps = np.log((n - k) * (drawn - k)) - np.log((k + 1) * (m - drawn + k + 1))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(logs - logs.max())
    return chances / chances.sum(), count - first


def weighted_sum(parts: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    """Sum of independent estimates times `weights`, its interval recovered from theirs (MOVER).

    References
    ----------
    Zou, Donner (2008), Statistics in Medicine 27:1693-1702.
    """
    n = sum(part.n for part in parts)
    method = f"MOVER from {parts[0].method}"
    value = below = above = 0.0
    for part, weight in zip(parts, weights, strict=True):
        if part.value is None or part.low is None or part.high is None:
            return Estimate(None, None, None, n, method)
        value += weight * part.value
        ends = sorted((weight * (part.low - part.value), weight * (part.high - part.value)))
        below += ends[0] ** 2
        above += ends[1] ** 2
    return Estimate(value, value - math.sqrt(below), value + math.sqrt(above), n, method)


def sign_balance(positive: float, negative: float, n: float, *, level: float = 0.05) -> Estimate:
    """Share of positive minus share of negative signs among `n` people, in [-1, 1].

    The two shares come from the same people, so their (negative) correlation enters the interval.
    Unlike a bootstrap it does not collapse to a point when all signs agree.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17:2635-2650, method 10 for correlated shares.
    """
    method = f"correlated Newcombe {percent_level(level)}"
    if n <= 0:
        return Estimate(None, None, None, 0.0, method)
    up, up_low, up_high = _score_interval(positive, n, level)
    down, down_low, down_high = _score_interval(negative, n, level)
    spread = (1 - up) * (1 - down)
    r = max(-math.sqrt(up * down / spread), -1.0) if spread > 0 else -1.0
    value = up - down

    def reach(a: float, b: float) -> float:
        return math.sqrt(max(a * a + b * b - 2 * r * a * b, 0.0))

    low = value - reach(up - up_low, down_high - down)
    high = value + reach(up_high - up, down - down_low)
    return Estimate(value, max(-1.0, low), min(1.0, high), float(n), method)


def share_ratio(
    first_count: float, first_n: float, second_count: float, second_n: float, *, level: float = 0.05
) -> Estimate:
    """Ratio of two independent shares, first over second, its interval recovered from Wilson's (MOVER-R).

    A second share of 0 gives no ratio; where its interval reaches 0 the ratio has no upper end.

    References
    ----------
    Donner, Zou (2012), Statistical Methods in Medical Research 21:347-359.

    Examples
    --------
    >>> ratio = share_ratio(30, 100, 50, 100)
    >>> ratio.value, round(ratio.low, 3), round(ratio.high, 3)
    (0.6, 0.419, 0.852)
    """
    method = f"MOVER-R from Wilson {percent_level(level)}"
    if first_n <= 0 or second_n <= 0 or second_count <= 0:
        return Estimate(None, None, None, first_n + second_n, method)
    p, p_low, p_high = _score_interval(first_count, first_n, level)
    q, q_low, q_high = _score_interval(second_count, second_n, level)

    low, high = ratio_ends((p, p_low, p_high), (q, q_low, q_high))
    # of counts, so that 32 of 100 beside 40 of 100 is 0.8 and not the number below it
    ratio = first_count * second_n / (first_n * second_count)
    return Estimate(ratio, low, high, first_n + second_n, method)


def ratio_ends(
    first: tuple[float, float, float], second: tuple[float, float, float]
) -> tuple[float, float | None]:
    """Return the ends of the interval of a ratio of two numbers above 0, from theirs (MOVER-R).

    Parameters
    ----------
    first, second : (float, float, float)
        A number and the ends of its interval. Where that of the second reaches 0 the ratio has no upper end.
    """
    (p, p_low, p_high), (q, q_low, q_high) = first, second

    def root(b: float, c: float) -> float:
        return math.sqrt(max((p * q) ** 2 - b * c, 0.0))

    b, c = p_low * (2 * p - p_low), q_high * (2 * q - q_high)
    low = b / (p * q + root(b, c)) if p_low > 0 else 0.0  # the root's form that does not cancel
    b, c = p_high * (2 * p - p_high), q_low * (2 * q - q_low)
    return max(low, 0.0), (p * q + root(b, c)) / c if q_low > 0 else None


def largest_gap(count: np.ndarray, n: np.ndarray, *, level: float = 0.05) -> Estimate:
    """Largest minus smallest share among groups (k,), with an interval that allows for having looked.

    Intervals of all differences between two groups hold together (Newcombe's, Bonferroni-corrected); the
    largest difference lies between the largest of their lower and the largest of their upper ends. Groups
    of nobody are left out; fewer than two groups have no gap.
    """
    count, n = np.asarray(count, dtype=float), np.asarray(n, dtype=float)
    count, n = count[n > 0], n[n > 0]
    pairs = len(n) * (len(n) - 1) // 2
    method = f"simultaneous Newcombe {percent_level(level)}, {pairs} pair{'' if pairs == 1 else 's'}"
    if pairs == 0:
        return Estimate(None, None, None, float(n.sum()), method)
    share, low, high = np.array(
        [_score_interval(float(a), float(b), level / pairs) for a, b in zip(count, n, strict=True)]
    ).T
    gap = share[:, None] - share[None, :]
    below = np.hypot((share - low)[:, None], (high - share)[None, :])
    above = np.hypot((high - share)[:, None], (share - low)[None, :])
    return Estimate(
        float(gap.max()),
        max(0.0, float((gap - below).max())),
        min(1.0, float((gap + above).max())),
        float(n.sum()),
        method,
    )
