"""From sensitivities to baseline, threshold, groups, features and verdict."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from audits.data import AuditData
from audits.sensitivity.measuring import exceeds
from audits.sensitivity.options import SensitivityOptions
from audits.sensitivity.result import Baseline, FeatureShare, GroupSensitivity, Histogram
from audits.stats import INSUFFICIENT, Estimate, Verdict, ratio_means, verdict, wilson
from audits.stats.means import FEWEST, MeanTest, mean_test
from audits.stats.permutation import means_p_values
from audits.stats.quantiles import quantile
from audits.stats.ratios import mean_ratio, power_of_ratio, times_people_needed

__all__ = ["Judged", "baseline_of", "feature_shares", "histogram_of", "judge_groups", "threshold_of"]

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
_BINS = 40
_FEW = 200  # people up to whom a group's values are no basis for a t interval alone
_MOST_DRAWS = 20_000


@dataclass(frozen=True)
class Judged:
    """Groups with the verdict on them, and the people needed for a better one."""

    groups: tuple[GroupSensitivity, ...]
    verdict: Verdict
    people_needed: int | None
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


def judge_groups(
    sensitivity: np.ndarray,
    flagged: np.ndarray,
    data: AuditData,
    weights: np.ndarray,
    attributes: tuple[str, ...],
    options: SensitivityOptions,
    rng: np.random.Generator,
) -> Judged:
    """Compare each group's mean sensitivity with everyone else's.

    Two groups of one attribute are one look, k > 2 groups are k; intervals share the level among all
    looks. Groups of fewer than ten people have no interval and are no look. The interval of a group of up to
    200 people reaches 1 unless a permutation test rejects 1 too: of so few people, t intervals of skewed or
    repeated values exclude it too often (2 to 30 times as often as stated, below ten people).
    """
    sides = []
    for attribute in attributes:
        group = data.groups[attribute].to_numpy(dtype=str)
        names = np.unique(group)
        for name in names:
            inside = group == name
            enough = min(float(weights[inside].sum()), float(weights[~inside].sum())) >= FEWEST
            sides.append((attribute, str(name), inside, enough))
    looks = 0
    for attribute in attributes:
        compared = [enough for each, _, _, enough in sides if each == attribute]
        looks += 1 if compared == [True, True] else sum(compared)
    level = options.level / max(looks, 1)
    permuted = _permuted(sensitivity, weights, [each for *_, each, enough in sides if enough], level, rng)
    groups, seen = [], False
    pairs: list[tuple[MeanTest, MeanTest]] = []
    for attribute, name, inside, enough in sides:
        n, mine = float(weights[inside].sum()), mean_test(sensitivity[inside], weights[inside])
        ratio = Estimate(None, None, None, float(weights.sum()), "no one to compare with")
        if n < weights.sum():
            rest = mean_test(sensitivity[~inside], weights[~inside])
            ratio = mean_ratio(mine, rest, level=level)
        if enough:
            p = permuted[len(pairs)]
            ratio = ratio if p is None else _reaching_one(ratio, p, level)
            pairs.append((mine, rest))
            seen = seen or _excludes_one(ratio)
        share = wilson(float(weights[inside] @ flagged[inside]), n, level=options.level)
        groups.append(GroupSensitivity(attribute, name, n, mine.interval(options.level), ratio, share))
    power = min((power_of_ratio(a, b, options.material, level=level) for a, b in pairs), default=0.0)
    judged = verdict(excludes_no_difference=seen, power=power)
    needed = _needed(pairs, options.material, level) if judged == INSUFFICIENT else None
    return Judged(tuple(groups), judged, needed, looks)


def _permuted(
    sensitivity: np.ndarray,
    weights: np.ndarray,
    members: list[np.ndarray],
    level: float,
    rng: np.random.Generator,
) -> list[float | None]:
    """Return the p-value of each small side's mean, membership permuted; None for large groups."""
    total = weights.sum()
    smaller = [inside if 2 * weights[inside].sum() <= total else ~inside for inside in members]
    few = [place for place, side in enumerate(smaller) if weights[side].sum() <= _FEW]
    found: list[float | None] = [None] * len(members)
    if few:
        draws = int(min(max(999, np.ceil(8 / level)), _MOST_DRAWS))
        sides = np.array([smaller[place] for place in few])
        for place, p in zip(few, means_p_values(sensitivity, weights, sides, rng, draws=draws), strict=True):
            found[place] = float(p)
    return found


def _reaching_one(ratio: Estimate, p: float, level: float) -> Estimate:
    """Return `ratio` with an interval that holds 1 unless `p`, of permuted membership, is at most `level`."""
    method = f"{ratio.method}, 1 excluded only if permutations do"
    if p <= level:
        return dataclasses.replace(ratio, method=method)
    low = None if ratio.low is None else min(ratio.low, 1.0)
    high = None if ratio.high is None else max(ratio.high, 1.0)
    return dataclasses.replace(ratio, low=low, high=high, method=method)


def _excludes_one(ratio: Estimate) -> bool:
    return (ratio.low is not None and ratio.low > 1) or (ratio.high is not None and ratio.high < 1)


def _needed(pairs: list[tuple[MeanTest, MeanTest]], material: float, level: float) -> int | None:
    """People in the smaller side of the comparison that knows least; None where no spread is known."""
    found = []
    for mine, rest in pairs:
        times = times_people_needed(mine, rest, material, level=level)
        if times is not None:
            found.append(times * min(mine.n, rest.n))
    return int(np.ceil(max(found))) if found else None


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

    A column with the same share in everybody (0, or between two linear models any) has no width; its
    spread is rounding, which a studentised bootstrap would blow up.
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
    top = max(float(np.quantile(sensitivity, 0.99)), 1.1 * threshold) or 1.0
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
