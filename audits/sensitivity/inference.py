"""From sensitivities to baseline, threshold, groups, features and verdict."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from audits.data import AuditData
from audits.sensitivity.measurement.crossfit import CrossFits
from audits.sensitivity.measurement.gradients import exceeds
from audits.sensitivity.options import SensitivityOptions
from audits.sensitivity.result import Baseline, FeatureShare, GroupSensitivity, Histogram
from audits.stats import Estimate, Judgment, judge, ratio_means, wilson, worst_of
from audits.stats.means import MIN, mean_test
from audits.stats.permutation import p_value
from audits.stats.quantiles import quantile
from audits.stats.ratios import mean_ratio
from audits.stats.sampling import as_people
from audits.stats.verdicts import POWER
from audits.stats.vocabulary import vocabulary

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
_BINS = 40
_AT_ONCE = 2_000_000
_SHUFFLED = 20_000  # people up to whom everyone is shuffled
_MAX_DRAWS = 20_000


@dataclass(frozen=True)
class GroupsJudgment:
    """Groups with the verdict on them, and how many comparisons it is corrected for."""

    groups: tuple[GroupSensitivity, ...]
    judged: Judgment
    looks: int


def baseline_of(sensitivity: np.ndarray, weights: np.ndarray, level: float) -> Baseline:
    """Describe the reference people's sensitivity (n,)."""
    test = mean_test(sensitivity, weights)
    found = {f"{share:g}": quantile(sensitivity, share, weights, level=level) for share in QUANTILES}
    return Baseline(
        test.interval(level), found, test.deviation, float(weights @ (sensitivity == 0) / weights.sum())
    )


def threshold_of(sensitivity: np.ndarray, weights: np.ndarray, options: SensitivityOptions) -> Estimate:
    """Return the sensitivity that the chosen share of people exceeds, or the one given."""
    if options.threshold is not None:
        return Estimate(options.threshold, None, None, float(weights.sum()), "given")
    return quantile(sensitivity, 1 - options.false_alarm_rate, weights, level=options.level)


@dataclass(frozen=True)
class Withheld:
    """Why there is no verdict whatever the groups look like, or none of all-clear: clauses, else empty."""

    verdict: str = ""
    clear: str = ""


def judge_groups(
    sensitivity: np.ndarray,
    flagged: np.ndarray,
    data: AuditData,
    weights: np.ndarray,
    attributes: tuple[str, ...],
    options: SensitivityOptions,
    rng: np.random.Generator,
    *,
    withheld: Withheld = Withheld(),
    fits: CrossFits | None = None,
) -> GroupsJudgment:
    """Compare each group's mean sensitivity with everyone else's.

    Two groups of one attribute are one look, k > 2 groups are k; intervals share the level among all
    looks. Groups of fewer than ten people have no interval and are no look. An interval reaches 1 unless
    permuted membership rejects 1 too, by the logarithm of the ratio over its standard error: so studentized,
    permutations keep their level also where only the spread differs between the groups, and of few people
    intervals of skewed or repeated values alone exclude 1 too often.

    Parameters
    ----------
    fits : CrossFits, optional
        Ratios are then those of the mean over the cross-fits, whose spread their intervals hold too; means
        and flags stay those of `sensitivity` (n,).
    """
    values, size = (sensitivity, weights) if fits is None else (fits.mean, fits.data.row_weights)
    of_ratios = data if fits is None else fits.data
    sides = []
    for attribute in attributes:
        group = of_ratios.groups[attribute].to_numpy(dtype=str)
        for name in np.unique(group):
            inside = group == name
            enough = min(float(size[inside].sum()), float(size[~inside].sum())) >= MIN
            sides.append((attribute, str(name), inside, enough))
    looks = 0
    for attribute in attributes:
        compared = [enough for each, _, _, enough in sides if each == attribute]
        looks += 1 if compared == [True, True] else sum(compared)
    level = options.level / max(looks, 1)
    draws = int(min(max(999, np.ceil(8 / level)), _MAX_DRAWS))
    groups, parts = [], []
    for attribute, name, inside, enough in sides:
        own = data.groups[attribute].to_numpy(dtype=str) == name
        n = float(weights[own].sum())
        mine, rest = (
            mean_test(values[side], size[side]) if side.any() else None for side in (inside, ~inside)
        )
        ratio, spread = Estimate(None, None, None, float(size.sum()), "no one to compare with"), 0.0
        if mine is not None and rest is not None:
            ratio = mean_ratio(mine, rest, level=level)
        if enough and mine is not None and rest is not None:
            spread = 0.0 if fits is None else fits.spread(inside)
            p = ratio_p_value(values, size, inside, rng, draws=draws)
            ratio, p = with_spread(reaching_one(ratio, p, level), p, spread, level)
            alike = mine.few_alike or rest.few_alike
            parts.append(judge_group(ratio, p * looks, alike, withheld, options, f"{attribute}: {name}"))
        mean = mean_test(sensitivity[own], weights[own]).interval(options.level) if own.any() else _NOBODY
        share = wilson(float(weights[own] @ flagged[own]), n, level=options.level)
        groups.append(GroupSensitivity(attribute, name, n, mean, ratio, share, spread))
    groups = sorted(groups, key=_size_and_certainty, reverse=True)
    if parts:
        return GroupsJudgment(tuple(groups), worst_of(parts), looks)
    nothing = Estimate(None, None, None, float(size.sum()), "no groups compared")
    reason = f"no two groups of {MIN} people or more could be compared"
    return GroupsJudgment(
        tuple(groups), judge_about_one(nothing, 1.0, options, reason=withheld.verdict or reason), looks
    )


_NOBODY = Estimate(None, None, None, 0.0, "nobody")


def _size_and_certainty(group: GroupSensitivity) -> tuple[float, float]:
    """How far a group's ratio lies from 1 on the scale of logarithms, and its nearer end: largest first."""
    ratio = group.ratio
    if not ratio.value:
        return -1.0, -1.0
    ends = [abs(math.log(end)) for end in (ratio.low, ratio.high) if end]
    # of two groups one's ratio is the other's turned round: their last digits do not order them
    return round(abs(math.log(ratio.value)), 9), round(min(ends, default=0.0), 9)


def with_spread(ratio: Estimate, p: float, spread: float, level: float) -> tuple[Estimate, float]:
    """Widen a ratio's interval by the spread of its logarithm over cross-fits, and raise its p-value.

    Examples
    --------
    >>> ratio, p = with_spread(Estimate(1.5, 1.2, 1.875, 100, "MOVER-R"), 0.001, 0.1, 0.05)
    >>> round(ratio.low, 2), round(ratio.high, 2), round(p, 3)
    (1.11, 2.02, 0.007)
    """
    if not spread or not ratio.value or not ratio.low or ratio.high is None:
        return ratio, p
    z, middle = float(norm.isf(level / 2)), math.log(ratio.value)
    below, above = middle - math.log(ratio.low), math.log(ratio.high) - middle
    wide = [math.hypot(reach, z * spread) for reach in (below, above)]
    nearer = wide[0] if middle > 0 else wide[1]
    widened = dataclasses.replace(
        ratio,
        low=math.exp(middle - wide[0]),
        high=math.exp(middle + wide[1]),
        method=f"{ratio.method}, spread of cross-fits added",
    )
    return widened, max(p, float(2 * norm.sf(z * abs(middle) / nearer)))


def judge_group(
    ratio: Estimate, p: float, alike: bool, withheld: Withheld, options: SensitivityOptions, about: str
) -> Judgment:
    """Return the verdict on one group's ratio, or why there is none."""
    p = min(p, 1.0)
    told: dict[str, Any] = {"decided_by": about}
    if withheld.verdict:
        return judge_about_one(ratio, p, options, only_estimated=withheld.verdict, **told)
    if ratio.value is None:
        return judge_about_one(ratio, p, options, reason="nobody has a sensitivity to compare with", **told)
    if alike:
        reason = "few people with one and the same sensitivity say little about others"
        return judge_about_one(ratio, p, options, only_estimated=reason, **told)
    told |= {"cannot_clear": withheld.clear, "people_needed": _people_needed(ratio, options)}
    return judge_about_one(ratio, p, options, **told)


def judge_about_one(ratio: Estimate, p: float, options: SensitivityOptions, **told: Any) -> Judgment:
    """Return the verdict on one ratio; its interval and p-value are corrected for all looks."""
    immaterial = (1.0 / options.material, options.material)
    judged = judge(ratio, none=1.0, immaterial=immaterial, p_value=p, level=options.level, **told)
    return dataclasses.replace(judged, people_of=f"{vocabulary().people} in all")


def ratio_p_value(
    values: np.ndarray, weights: np.ndarray, inside: np.ndarray, rng: np.random.Generator, *, draws: int = 999
) -> float:
    """Two-sided p-value of equal means inside and outside a group, membership permuted.

    The statistic is the logarithm of the ratio over its standard error (Janssen, 1997, Statistics &
    Probability Letters 36:9-21: a permutation test of equal means keeps its level under unequal spread if it
    is studentized). Measured by ``benchmarks/calibration/sensitivity.py``. Of more than 20,000 people the
    group is drawn with replacement.

    Parameters
    ----------
    values, weights : array (n,)
        Values of at least 0, and how many people each row stands for.
    inside : array (n,) of bool
        Members of the group; at least two people on either side.
    """
    rows, each = as_people(np.asarray(weights, dtype=float))
    member = inside[rows]
    if 2 * member.sum() > len(member):
        member = ~member  # of two sides, the smaller one is drawn
    size, total = int(member.sum()), len(rows)
    x = np.asarray(values, dtype=float)[rows]
    sums = np.stack([each, each * x, each * x * x])  # (3, people)
    whole, single = sums.sum(axis=1), bool((each == 1).all())

    def statistic(part: np.ndarray) -> np.ndarray:
        """Studentized log ratio of means, from the sums (3, draws) of a side."""
        found = []
        for n, first, second in (part, whole[:, None] - part):
            mean = first / n
            variance = np.maximum(second / n - mean**2, 0.0) / np.maximum(n - 1, 1)
            found.append((mean, variance))
        (one, apart), (other, beside) = found
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.sqrt(apart / one**2 + beside / other**2)
            t = (np.log(one) - np.log(other)) / np.maximum(error, 1e-9)
        return np.where(
            (one > 0) & (other > 0), t, np.where(one == other, 0.0, np.copysign(np.inf, one - other))
        )

    null, at_once = np.empty(draws), max(1, _AT_ONCE // max(total if total <= _SHUFFLED else size, 1))
    for start in range(0, draws, at_once):
        stop = min(start + at_once, draws)
        if total <= _SHUFFLED:
            every = np.broadcast_to(np.arange(total), (stop - start, total))
            drawn = rng.permuted(every, axis=1)[:, :size]
        else:
            drawn = rng.integers(0, total, (stop - start, size))
        null[start:stop] = statistic(_sums_of(drawn, sums, single=single).T)
    observed = float(statistic(sums[:, member].sum(axis=1)[:, None])[0])
    null = np.nan_to_num(null, nan=0.0, posinf=1e300, neginf=-1e300)
    observed = float(np.nan_to_num(observed, nan=0.0, posinf=1e300, neginf=-1e300))
    return min(2 * min(p_value(observed, null), p_value(-observed, -null)), 1.0)


def _sums_of(drawn: np.ndarray, sums: np.ndarray, *, single: bool) -> np.ndarray:
    """Return the sums (draws, 3) of the people of each draw (draws, size), each while it is in the cache.

    Of people who count once each, a value is looked up once.
    """
    found = np.empty((len(drawn), 3))
    for place, people in enumerate(drawn):
        if single:
            x = sums[1].take(people)
            found[place] = len(x), x.sum(), (x * x).sum()
        else:
            found[place] = [one.take(people).sum() for one in sums]
    return found


def reaching_one(ratio: Estimate, p: float, level: float) -> Estimate:
    """Return `ratio` with an interval that holds 1 unless `p`, of permuted membership, is at most `level`."""
    method = f"{ratio.method}, 1 excluded only if studentized permutations do"
    if p <= level:
        return dataclasses.replace(ratio, method=method)
    low = None if ratio.low is None else min(ratio.low, 1.0)
    high = None if ratio.high is None else max(ratio.high, 1.0)
    return dataclasses.replace(ratio, low=low, high=high, method=method)


def _people_needed(ratio: Estimate, options: SensitivityOptions) -> int | None:
    """People in all, with whom the interval would leave out 1 or what is material, in 80 of 100 samples.

    Its ends come nearer with the root of the people, on the scale of logarithms; None where an end is not.
    """
    if not ratio.value or not ratio.low or not ratio.high:
        return None
    middle, low, high = (math.log(each) for each in (ratio.value, ratio.low, ratio.high))
    reach, gap = max(high - middle, middle - low), max(abs(middle), math.log(options.material) - abs(middle))
    beyond = float((norm.isf(options.level / 2) + norm.isf(1 - POWER)) / norm.isf(options.level / 2))
    return math.ceil(ratio.n * (reach / gap * beyond) ** 2)


def feature_shares(
    contributions: np.ndarray,
    columns: tuple[str, ...],
    flagged: np.ndarray,
    weights: np.ndarray,
    options: SensitivityOptions,
    rng: np.random.Generator,
) -> tuple[FeatureShare, ...]:
    """Return each column's part of all sensitivity, largest first."""
    weighted = contributions * weights[:, None]
    total = weighted.sum()
    means = weighted.sum(axis=0) / weights.sum()
    n = float(weights.sum())
    if total > 0:
        shares = _shares(weighted, weights, options, rng, n)
    else:
        shares = [Estimate(None, None, None, n, "nobody has any sensitivity")] * len(columns)
    above = weighted[flagged].sum(axis=0)
    among = above / above.sum() if above.sum() > 0 else [None] * len(columns)
    listed = [
        FeatureShare(name, float(mean), share, None if part is None else float(part))
        for name, mean, share, part in zip(columns, means, shares, among, strict=True)
    ]
    return tuple(sorted(listed, key=lambda item: -item.mean))


def _shares(
    weighted: np.ndarray, weights: np.ndarray, options: SensitivityOptions, rng: np.random.Generator, n: float
) -> list[Estimate]:
    """Shares of the columns of `weighted` (n, c) in its sum, with intervals that hold together.

    A column with the same share in everyone (0, or between two linear models any) has no width; its
    spread is rounding, which a studentized bootstrap would blow up.
    """
    sums = weighted.sum(axis=1)
    value = weighted.sum(axis=0) / sums.sum()
    varies = np.abs(weighted - sums[:, None] * value).max(axis=0) > 1e-9 * sums.max()
    low, high = value.copy(), value.copy()
    if varies.any():
        found = ratio_means(
            weighted[:, varies], sums, rng, people=weights, draws=options.bootstrap, level=options.level
        )
        low[varies], high[varies] = np.maximum(found.low, 0.0), np.minimum(found.high, 1.0)
    method = f"simultaneous bootstrap, {options.bootstrap} draws"
    ends = zip(value.tolist(), low.tolist(), high.tolist(), strict=True)
    return [Estimate(*each, n, method) for each in ends]


def histogram_of(
    sensitivity: np.ndarray,
    data: AuditData,
    weights: np.ndarray,
    attributes: tuple[str, ...],
    threshold: float,
) -> Histogram:
    """Count people by sensitivity: bins (a, b], the threshold one of their edges, the last bin open."""
    top = max(float(quantile(sensitivity, 0.99, weights).value or 0.0), 1.1 * threshold) or 1.0
    below = round(_BINS * threshold / top)
    if threshold > 0 and below == 0:  # most people hardly have any: the threshold is the first edge
        edges = np.append(0.0, np.linspace(threshold, top, _BINS + 1))
    else:
        edges = np.arange(2 * _BINS + 2) * (threshold / below if threshold > 0 else top / _BINS)
        edges = edges[: np.searchsorted(edges, top) + 1]
        edges[below] = threshold  # to the last digit: who is flagged lies above
    bins = len(edges)
    edges = np.append(edges, max(float(sensitivity.max()), 2 * edges[-1] - edges[-2]))
    held = np.where(exceeds(sensitivity, threshold), sensitivity, np.minimum(sensitivity, threshold))
    place = np.clip(np.searchsorted(edges, held, side="left") - 1, 0, bins - 1)

    def counts(rows: np.ndarray) -> tuple[float, ...]:
        return tuple(np.bincount(place[rows], weights[rows], bins).tolist())

    groups: dict[str, tuple[float, ...]] = {}
    for attribute in attributes:
        values = data.groups[attribute].to_numpy(dtype=str)
        groups |= {f"{attribute}: {name}": counts(values == name) for name in np.unique(values)}
    return Histogram(tuple(edges.tolist()), counts(np.ones(len(place), dtype=bool)), groups)
