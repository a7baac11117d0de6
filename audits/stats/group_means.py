"""Groups' means against everyone else's: intervals that hold together, and p-values, by permutation.

Membership is permuted among people. That is exact where groups differ in nothing. Groups of the same mean
that differ in spread would be told apart by chance far too often, the smaller and more spread out the one; so
each difference is measured in its own standard error (Welch), taken again in every permutation (Janssen 1997;
Chung, Romano 2013), and on the scale of Student's distribution with the freedom of the smaller side, so that
a group of three counts by how rare its difference is. The critical value is that of the largest over all
groups (Westfall, Young), and the same number makes the intervals: they exclude 0 exactly where the p-value is
at most the level.

Type I error at 5%, all groups together, 400 samples (Monte-Carlo error .011); one group of 3, 5 or 8 people
beside 200 others, its spread that of the others, 3 and 5 times it:

    normal   3 people .055 .058 .058   5 people .058 .060 .065   8 people .037 .052 .048
    gamma             .055 .065 .070            .030 .052 .055            .040 .052 .068

Steadying a small group's spread by everyone's instead gives up to .26.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from audits.stats.estimate import Estimate
from audits.stats.intervals import percent_level
from audits.stats.means import ALIKE, MIN
from audits.stats.permutation import p_value
from audits.stats.sampling import as_people
from audits.stats.verdicts import NO_MATERIAL, Judgment, judge

_AT_ONCE = 4_000_000  # numbers held at once
_LAST_DIGITS = 1e-9
_NO_SPREAD = 1e-300


@dataclass(frozen=True, eq=False)
class GroupMeans:
    """Groups' means minus those of everyone else.

    Attributes
    ----------
    size, share : array (k,)
        People of each group, and their part of all.
    difference, unit : array (k,)
        Mean minus the others' mean, and its standard error; inf for a group without others or people.
    freedom : array (k,)
    alike : bool array (k,)
        Whether the fewer than 60 people of the group, or of the others, have one value.
    null : array (permutations,)
        Largest z over the groups in each permutation.
    level : float
    """

    size: np.ndarray
    share: np.ndarray
    difference: np.ndarray
    unit: np.ndarray
    freedom: np.ndarray
    alike: np.ndarray
    null: np.ndarray
    level: float

    @property
    def adjusted(self) -> np.ndarray:
        """p-value of each group's difference, corrected for all groups (k,)."""
        return self.p_values(np.abs(self.difference))

    @property
    def p_value(self) -> float:
        """That of the largest difference."""
        return float(self.adjusted.min())

    def p_values(self, distance: np.ndarray) -> np.ndarray:
        """p-values (k,) of groups `distance` (k,) away from the others, corrected for all groups."""
        return np.array([p_value(one, self.null) for one in _score(distance / self.unit, self.freedom)])

    @property
    def reach(self) -> np.ndarray | None:
        """Half lengths (k,) of intervals that hold together; None where permutations are too few for any."""
        above = int(self.level * (len(self.null) + 1) + 1e-9)
        if above < 1:
            return None
        critical = float(np.sort(self.null)[-above])
        with np.errstate(over="ignore"):
            tail = ndtr(-critical)  # of a tail too thin for a number, SciPy's inverse has the sign wrong
            reach = (-stdtrit(self.freedom, tail) if tail > 0 else np.inf) * self.unit
        return np.asarray(reach * (1 + _LAST_DIGITS))  # a permutation that is the observed one reaches 0


def group_means(
    values: np.ndarray,
    weights: np.ndarray,
    group: np.ndarray,
    *,
    level: float,
    permutations: int,
    rng: np.random.Generator,
) -> GroupMeans | None:
    """Hold the mean of `values` (n,) in each `group` (n,), a code, against everyone else's.

    Parameters
    ----------
    values : array (n,)
        NaN where it is not known; such people are left out.
    weights : array (n,)
        People each row stands for.
    level : float
        Error rate of all intervals together.

    Returns
    -------
    GroupMeans or None
        None for fewer than two groups, or without permutations.
    """
    k = int(np.max(group, initial=-1)) + 1
    known = np.isfinite(values) & (weights > 0)
    order = np.flatnonzero(known)[_by_content(values[known], weights[known], group[known], k)]
    values, weights, group = values[order], np.asarray(weights, dtype=float)[order], group[order]
    rows, weights = as_people(weights)
    values, group = values[rows], group[rows]
    if len(np.unique(group)) < 2 or permutations == 0:
        return None
    mean = np.average(values, weights=weights)
    apart = values - mean
    size = np.bincount(group, weights, k)
    people = np.bincount(group, minlength=k)
    freedom = np.where(people > 1, np.minimum(people, len(group) - people) - 1, len(group) - 2)
    freedom = np.maximum(freedom, 1)
    alike = np.array([_few_alike(values[group == g]) or _few_alike(values[group != g]) for g in range(k)])
    if float(np.average(apart**2, weights=weights)) <= (1e-12 * max(abs(mean), 1e-300)) ** 2:
        nothing, none = np.zeros(k), np.zeros(permutations)
        unit = np.where(size > 0, _NO_SPREAD, np.inf)  # everyone is alike, whoever is in which group
        return GroupMeans(size, size / size.sum(), nothing, unit, freedom, alike, none, level)
    difference, unit = (one[0] for one in _apart(apart, weights, group[None], k))
    null = np.empty(permutations)
    step = max(1, _AT_ONCE // len(group))
    for start in range(0, permutations, step):
        stop = min(start + step, permutations)
        codes = np.array([rng.permutation(group) for _ in range(start, stop)])
        moved, error = _apart(apart, weights, codes, k)
        null[start:stop] = _score(np.abs(moved) / error, freedom).max(axis=1)
    return GroupMeans(size, size / size.sum(), difference, unit, freedom, alike, null, level)


def _by_content(values: np.ndarray, weights: np.ndarray, group: np.ndarray, k: int) -> np.ndarray:
    """Return an order of the rows that neither the table's nor the groups' decides."""
    sums = (np.bincount(group, each, k) for each in (weights * values**2, weights * values, weights))
    place = np.empty(k, dtype=np.int64)
    place[np.lexsort(tuple(sums))] = np.arange(k)
    return np.lexsort((weights, values, place[group]))


def _few_alike(values: np.ndarray) -> bool:
    return 0 < len(values) < ALIKE and float(np.ptp(values)) == 0


def _score(t: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """Student's t as the z of the same tail."""
    return np.asarray(-ndtri(stdtr(freedom, -t)))


def _apart(
    apart: np.ndarray, weights: np.ndarray, codes: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Each group's mean minus the others' (b, k), and its standard error; inf for an empty group."""
    rows = np.arange(len(codes))[:, None] * k
    place = (codes + rows).ravel()
    size, total, square, people = (
        np.bincount(place, np.broadcast_to(one, codes.shape).ravel(), len(codes) * k).reshape(-1, k)
        for one in (weights, weights * apart, weights * apart**2, np.ones(len(apart)))
    )
    everybody = weights.sum()
    sums = (weights * apart).sum(), (weights * apart**2).sum()
    rest = everybody - size
    here = (size > 0) & (rest > 0)
    own, others = np.where(here, size, 1.0), np.where(here, rest, 1.0)
    spread = sums[1] / everybody
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = [
            np.where(
                number > 1,
                np.maximum(squares - totals**2 / amount, 0.0) / amount * number / np.maximum(number - 1, 1),
                spread,  # of one person alone no spread is known: everyone's is taken
            )
            for squares, totals, amount, number in (
                (square, total, own, people),
                (sums[1] - square, sums[0] - total, others, len(apart) - people),
            )
        ]
        unit = np.sqrt(variance[0] / np.maximum(people, 1) + variance[1] / np.maximum(len(apart) - people, 1))
        difference = total / own - (sums[0] - total) / others
    least = 1e-12 * np.sqrt(spread)  # rounding, where two groups' people are all alike
    return np.where(here, difference, 0.0), np.where(here, np.maximum(unit, least), np.inf)


def judge_groups(
    means: GroupMeans,
    *,
    material: float,
    looks: int = 1,
    ranges: tuple[np.ndarray, np.ndarray] | None = None,
    open_reason: str = "",
) -> tuple[Judgment | None, ...]:
    """Judge every group's difference from everyone else by its interval; None for a group without people.

    Parameters
    ----------
    means : GroupMeans
        Of the level divided by `looks`.
    material : float
        Smallest difference that matters, in the unit of the values.
    looks : int
        How many such families share the level: p-values are multiplied by it.
    ranges : pair of arrays (k,), optional
        Smallest and largest difference that the sample leaves open, where it does not say which it is: the
        interval then holds for all of them, and so does the p-value.
    open_reason : str
        Why more people would not settle it, where `ranges` alone reach from no difference to a material one.
    """
    low, high = (means.difference, means.difference) if ranges is None else ranges
    nearest = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    p = np.minimum(means.p_values(nearest) * looks, 1.0)
    level = means.level * looks
    method = f"studentized permutation {percent_level(level)}, all groups together"
    found: list[Judgment | None] = []
    for g, size in enumerate(means.size):
        if size <= 0:
            found.append(None)
            continue
        value = float(means.difference[g])
        verdict = partial(judge, immaterial=(-material, material), p_value=float(p[g]), level=level)
        same = bool(means.alike[g]) and float(means.unit[g]) <= _NO_SPREAD
        if same or size < 2 or means.reach is None or not np.isfinite(means.unit[g]):
            why = "one person alone" if size < 2 else "there is no spread" if same else "too few permutations"
            alone = Estimate(value, None, None, float(size), f"no interval: {why}")
            found.append(verdict(alone, reason=why))
            continue
        reach = float(means.reach[g])
        interval = Estimate(value, float(low[g]) - reach, float(high[g]) + reach, float(size), method)
        room = (material - float(high[g] - low[g])) / 2  # whatever lies in such an interval is settled
        needed = np.ceil(size * (reach / room) ** 2) if room > 0 else np.inf
        people = int(needed) if room > 0 and size < needed < 1e12 else None
        judged = verdict(interval, people_needed=people, reason="" if room > 0 else open_reason)
        fewest = min(size, size / means.share[g] - size)
        if judged.verdict == NO_MATERIAL and (fewest < MIN or means.alike[g]):
            who = "few people who are all alike" if means.alike[g] else f"fewer than {MIN} people"
            judged = verdict(interval, only_estimated=f"the spread of {who} is unknown")
        found.append(judged)
    return tuple(found)
