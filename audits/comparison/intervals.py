"""How far a number moved on the same people: shares, means and ratios of sums, each with a paired interval.

A number of the first model and one of the second come from the same people, and what is particular to these
people moves both. So the interval of the change is made from what each person adds to either (linearised,
gathered by cluster, within strata), not from two intervals side by side.

Shares: the ends of Wilson's intervals of both, joined with the correlation of the two (Newcombe's method 10,
with his correction of the correlation), on as many people as rows are worth under the design; where rows are
people and both shares are of the same ones it is Newcombe's interval itself. They may be of different people:
those whom either model rejects, say. Means, and ratios of sums: Student's t of each person's difference, or
of the linearised change. A correction for skewness would take noise for it, as two models' differences are
about symmetric: of 100 people with long tails it covers .88 where t covers .95. Where the differences
themselves have a long tail, t covers less (.93 of such 100), and the method says so. Differences of two
changes: MOVER.

Nothing is said of a change in which nobody takes part: means and ratios then have no interval, and shares
keep the width that Wilson's have.

References
----------
Newcombe (1998), Statistics in Medicine 17:2635-2650, method 10. Zou, Donner (2008), Statistics in Medicine
27:1693-1702 (MOVER). Woodruff (1971), Journal of the American Statistical Association 66:411-414
(linearisation).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from audits.stats import Estimate, as_people, wilson
from audits.stats.design import Design, make_design
from audits.stats.intervals import least_level, percent_level
from audits.stats.means import MIN, mean_test
from audits.stats.paired_shares import joined_reach

Ends = tuple[float, float]
_ROUNDING = 1e-9  # of a change: spread below it is that of its digits
TAIL = ", which misses more often than stated, because a few people make most of the change"


@dataclass(frozen=True, eq=False)
class People:
    """The people whom both models are about: the row of each, and how rows came into the data."""

    rows: np.ndarray
    design: Design

    @classmethod
    def counted(cls, sizes: np.ndarray, cluster: np.ndarray | None = None) -> People:
        """Return independent people, `sizes` (n,) of them a row, or clusters of them."""
        rows, each = as_people(np.asarray(sizes, dtype=float))
        groups = None if cluster is None else cluster[rows]
        return cls(rows, make_design(len(rows), weights=each, cluster=groups))

    @classmethod
    def sampled(cls, design: Design) -> People:
        """Return the rows of a design."""
        return cls(np.arange(len(design.weights)), design)

    @property
    def plain(self) -> bool:
        """Whether each row is one independent person."""
        simple = self.design.n_clusters == len(self.rows) and self.design.n_strata <= 1
        return bool(simple and (self.design.weights == self.design.weights[:1]).all())


@dataclass(frozen=True, eq=False)
class Moved:
    """A change, second minus first.

    Attributes
    ----------
    value : float or None
        None where one of the two does not exist.
    n : float
        People whom either number is about.
    influence : float array (clusters,)
        What each cluster adds to the linearised change.
    ends : callable or None
        ``ends(level)`` returns both ends of the interval; None where there is none.
    method : str
        What makes the interval, or why there is none.
    """

    value: float | None
    n: float
    influence: np.ndarray
    ends: Callable[[float], Ends] | None
    method: str

    def interval(self, level: float) -> Estimate:
        """Return the change with its interval at an error rate."""
        if self.value is None or self.ends is None:
            return Estimate(self.value, None, None, self.n, self.method)
        low, high = self.ends(level)
        # what is exact is sure
        how = self.method if low == high else f"{self.method}, {percent_level(level)}"
        return Estimate(self.value, min(low, self.value), max(high, self.value), self.n, how)

    def p_value(self) -> float | None:
        """Return the smallest error rate at which the interval leaves out 0; None without an interval."""
        if self.value is None or self.ends is None:
            return None

        def excluded(level: float) -> bool:
            found = self.interval(max(level, 1e-300))
            return float(found.low or 0.0) > 0 or float(found.high or 0.0) < 0

        return min(least_level(excluded), 1.0)


def exactly_0(moved: Moved, method: str) -> Moved:
    """Return a change of 0 that is known of everyone, not of these people alone."""
    return replace(moved, ends=lambda _: (0.0, 0.0), method=method) if moved.value == 0 else moved


def share_moved(
    people: People, before: tuple[np.ndarray, np.ndarray], after: tuple[np.ndarray, np.ndarray]
) -> Moved:
    """Return how a share moved.

    Parameters
    ----------
    people : People
    before, after : pair of arrays (n,)
        Whom the share is about (bool), and who has the property (bool, or the part of a person that has it),
        by row, with the first model and with the second.

    Examples
    --------
    >>> first, second = np.arange(100) < 55, np.isin(np.arange(100), np.r_[0:40, 55:60])
    >>> everyone = np.ones(100, dtype=bool)
    >>> moved = share_moved(People.counted(np.ones(100)), (everyone, first), (everyone, second))
    >>> found = moved.interval(0.05)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (-0.1, -0.184, -0.012)
    """
    design = people.design
    members = [np.asarray(among, dtype=bool)[people.rows] for among, _ in (before, after)]
    first, second = (
        _side(people, mask, np.asarray(event, dtype=float)[people.rows])
        for mask, (_, event) in zip(members, (before, after), strict=True)
    )
    n = float((members[0] | members[1]).sum())
    influence = second.influence - first.influence
    if first.value is None or second.value is None:
        return Moved(None, n, influence, None, "no interval: nobody to count with one of the models")
    r = _shrunk(_correlation(first.influence, second.influence, design.stratum), first, second)

    def ends(level: float) -> Ends:
        (p, low, high), (q, q_low, q_high) = second.wilson(level), first.wilson(level)
        below, above = joined_reach(p - low, q_high - q, r), joined_reach(high - p, q - q_low, r)
        return max(p - q - below, -1.0), min(p - q + above, 1.0)

    how = "Newcombe, paired" if people.plain else "Newcombe, paired, on the people that rows are worth"
    return Moved(second.value - first.value, n, influence, ends, how)


def mean_moved(people: People, members: np.ndarray, before: np.ndarray, after: np.ndarray) -> Moved:
    """Return how the mean of a number moved among `members`, from what each of them had and has (n,)."""
    design, rows = people.design, people.rows
    inside = np.asarray(members, dtype=bool)[rows]
    values = np.where(inside, (np.asarray(after, dtype=float) - np.asarray(before, dtype=float))[rows], 0.0)
    n, weight = float(inside.sum()), design.weights[inside]
    nobody = np.zeros(design.n_clusters)
    if not n:
        return Moved(None, 0.0, nobody, None, "no interval: nobody to count")
    mean = float(weight @ values[inside] / weight.sum())
    parts = np.where(inside, design.weights * (values - mean) / weight.sum(), 0.0)
    influence = design.gathered(parts)
    if not (values[inside] != 0).any():
        return Moved(0.0, n, influence, None, "no interval: nobody's number differs between the models")
    ends, how = _student(people, inside, mean, influence)
    sides = values[inside], -values[inside]
    if ends is not None and any(mean_test(side).long_tailed for side in sides):
        how += TAIL
    return Moved(mean, n, influence, ends, how)


def ratio_moved(
    people: People, before: tuple[np.ndarray, np.ndarray], after: tuple[np.ndarray, np.ndarray]
) -> Moved:
    """Return how a ratio of two sums moved.

    Parameters
    ----------
    before, after : pair of float arrays (n,)
        What each row adds to the numerator and to the denominator, with either model; 0 where nothing.
    """
    worth, values, parts, about = people.design.weights, [], [], np.zeros(len(before[0]), dtype=bool)
    for side in (before, after):
        x, w = (np.asarray(each, dtype=float) for each in side)
        total = float(worth @ w[people.rows])
        value = float(worth @ x[people.rows]) / total if total else None
        about |= (x != 0) | (w != 0)
        values.append(value)
        parts.append((x - (value or 0.0) * w) / total if total else np.zeros(len(x)))
    moved = None if None in values else values[1] - values[0]  # type: ignore[operator]
    return linear_moved(people, about, moved, parts[1] - parts[0])


def linear_moved(people: People, about: np.ndarray, value: float | None, parts: np.ndarray) -> Moved:
    """Return a change of any smooth number, from what each person adds to its linearisation.

    Parameters
    ----------
    about : bool array (n,)
        Whom it is about, by row.
    value : float or None
        The change.
    parts : float array (n,)
        Influence of each person of a row; their sum over all people is about 0.
    """
    design, rows = people.design, people.rows
    inside = np.asarray(about, dtype=bool)[rows]
    each = design.weights * np.asarray(parts, dtype=float)[rows]
    influence = design.gathered(each)
    n = float(inside.sum())
    if value is None:
        return Moved(None, n, influence, None, "no interval: it does not exist with one of the models")
    if not np.abs(influence).max(initial=0.0) > 0:
        return Moved(value, n, influence, None, "no interval: nobody's number differs between the models")
    return Moved(value, n, influence, *_student(people, inside, value, influence))


def apart(first: Moved, second: Moved, people: People) -> Moved:
    """Return how far one number moved more than another: that of `second` less that of `first`, by MOVER."""
    n, influence = first.n + second.n, second.influence - first.influence
    if first.value is None or second.value is None:
        return Moved(None, n, influence, None, "no interval: nobody to count on one side")
    value, a, b = second.value - first.value, first.ends, second.ends
    if a is None or b is None:
        return Moved(value, n, influence, None, first.method if a is None else second.method)
    p, q = second.value, first.value
    r = _correlation(first.influence, second.influence, people.design.stratum)

    def ends(level: float) -> Ends:
        (low, high), (q_low, q_high) = b(level), a(level)
        below = joined_reach(p - min(low, p), max(q_high, q) - q, r)
        return value - below, value + joined_reach(max(high, p) - p, q - min(q_low, q), r)

    return Moved(value, n, influence, ends, f"MOVER from {second.method}")


@dataclass(frozen=True, eq=False)
class _Side:
    """A share of one model, and what it takes to make its interval at any error rate."""

    value: float | None
    people: float
    rows: float
    freedom: float
    influence: np.ndarray

    def worth(self, level: float) -> float:
        """People of a simple sample that would tell as much, fewer where few clusters stand behind it."""
        if self.freedom >= self.rows - 1:
            return self.people
        narrow, wide = (-stdtrit(freedom, level / 2) for freedom in (max(self.rows - 1, 1), self.freedom))
        return self.people * float(narrow / wide) ** 2

    def wilson(self, level: float) -> tuple[float, float, float]:
        worth = self.worth(level)
        found = wilson(float(self.value or 0.0) * worth, worth, level=level)
        return float(found.value or 0.0), float(found.low or 0.0), float(found.high or 0.0)


def _side(people: People, among: np.ndarray, event: np.ndarray) -> _Side:
    """A share of those `among`; of parts of people Wilson's interval is too wide rather than too narrow."""
    design, total = people.design, float(people.design.weights[among].sum())
    n, inside = float(among.sum()), design.holding(among)
    if not total:
        return _Side(None, 0.0, 0.0, 1.0, np.zeros(design.n_clusters))
    value = float(design.weights[among] @ event[among]) / total
    parts = np.where(among, design.weights * (event - value) / total, 0.0)
    influence = design.gathered(parts)
    worth = n
    if not people.plain:
        spread = design.variance(influence, inside)
        # without any spread nothing tells how much a row is worth: then clusters count, not their rows
        worth = min(value * (1 - value) / spread, n) if spread > 0 else float(inside.sum())
    return _Side(value, worth, n, max(float(design.freedom(inside)), 1.0), influence)


def _student(
    people: People, about: np.ndarray, value: float, influence: np.ndarray
) -> tuple[Callable[[float], Ends] | None, str]:
    """Student's t of a linearised change over the clusters of those it is about."""
    design = people.design
    inside = design.holding(about)
    freedom = design.freedom(inside)
    if freedom + 1 < MIN:
        return None, f"no interval below {MIN} {'people' if people.plain else 'clusters'}"
    error = math.sqrt(design.variance(influence, inside))
    if error <= _ROUNDING * abs(value):  # everyone's number moves as far: nothing shows how others' would
        return None, "no interval: there is no spread"

    def ends(level: float) -> Ends:
        reach = float(-stdtrit(freedom, level / 2)) * error
        return value - reach, value + reach

    over = "" if people.plain else f" over {int(inside.sum()):,} clusters"
    return ends, f"paired Student t{over}"


def _shrunk(r: float, first: _Side, second: _Side) -> float:
    """Take half a person off a positive correlation, as Newcombe does: of few people it is seen too large."""
    spread = math.sqrt(
        math.prod(float(side.value or 0.0) * (1 - float(side.value or 0.0)) for side in (first, second))
    )
    if r <= 0 or spread <= 0:
        return min(r, 0.0)
    return max(r - 1 / (2 * math.sqrt(first.people * second.people) * spread), 0.0)


def _correlation(first: np.ndarray, second: np.ndarray, stratum: np.ndarray) -> float:
    """Correlation of two linearised numbers over clusters, within strata."""
    if not ((first != 0) & (second != 0)).any():
        return 0.0
    k = np.maximum(np.bincount(stratum), 1)
    a, b = (values - (np.bincount(stratum, values) / k)[stratum] for values in (first, second))
    spread = math.sqrt(float(a @ a) * float(b @ b))
    return float(np.clip(a @ b / spread, -1.0, 1.0)) if spread > 0 else 0.0
