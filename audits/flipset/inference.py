"""From counts to estimates and the verdict, which follows from what lies above chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from scipy.stats import kstwobign, norm

from audits.data.frames import with_columns
from audits.flipset.comparisons.conditional_test import MAX_OVERLAP
from audits.flipset.counterparts.matching import Flips, Matching
from audits.flipset.counterparts.people import Comparison
from audits.flipset.null_distribution import NullDistribution, above, why_unsettled
from audits.flipset.result import LIKE_FOR_LIKE, AboveChance, Conditional, Stratum, Validation
from audits.stats import (
    POWER,
    Condition,
    Estimate,
    Judgment,
    judge,
    judge_conditions,
    limit_name,
    weighted_sum,
)
from audits.stats.intervals import cautious_difference, fisher_p
from audits.stats.vocabulary import vocabulary
from audits.text import join_names
from audits.transport.levels import (
    LevelDifference,
    level_conditions,
    level_differences,
    level_members,
    people_for_levels,
)
from audits.transport.maps import ks_distances

_MANY = 2_000  # people from which the test for equal rates need not count tables
_FEW_DRAWS = (
    "chance was measured on too few people for such a small difference: allow more time (seconds) or more "
    "permutations"
)
LOOKS = 3
"""That share the level: flips above chance, people with the same features, and those within each level."""


def judge_flips(
    compared: Comparison,
    matched: list[Matching],
    strata: tuple[Stratum, ...],
    chance: NullDistribution | None,
    alike: Conditional | None,
    levels: tuple[LevelDifference, ...],
    checked: Validation,
) -> tuple[Estimate, AboveChance | None, Judgment]:
    """Hold the flips above chance, and every level's difference, against none.

    Two differences are evidence: flips above chance between groups whose rates differ (by Proposition 2 the
    net flipset) or one of whose features does that decisions go with (a proxy, as hair in the paper's section
    5.1), and people with the same features who are decided differently; where they are, a level can be the
    clearest sign of it. The two share the level. Flips above chance with none of these come from features
    that only hang together differently. An all-clear also needs every level inside twice the limit.

    Returns
    -------
    Estimate
        Favorable share of the source minus that of the target.
    AboveChance or None
    Judgment
    """
    options = compared.options
    counts = [rate_counts(compared, part) for part in matched]
    net = cautious_difference(*counts[0], level=options.level)
    if len(strata) > 1:
        people = sum(item.n_source for item in strata)
        net = weighted_sum([item.net for item in strata], [item.n_source / people for item in strata])
    distrust = "" if checked.trusted else "the map that made the counterparts cannot be trusted"
    if chance is None or alike is None:
        missing = Estimate(None, None, None, net.n, "not measured without permutations")
        bounds = (-compared.limit, compared.limit)
        unmeasured = "chance was not measured: set permutations above 0"
        return net, None, judge(missing, immaterial=bounds, reason=unmeasured, only_estimated=distrust)
    number = 1 if alike.p_value is None else LOOKS
    level = options.level / number
    excess = above(chance, 0, float(chance.people[0]), level)
    planted = compared.limit if chance.planted is None else float(chance.planted[0])
    reach = float(min(compared.limit, max(planted, 1e-9)))
    rates = _equal_rates(counts)
    features, feature = _equal_features(compared, matched)
    found = AboveChance(
        excess=excess,
        observed=float(chance.larger[0]),
        expected=float(chance.expected[0]),
        planted=reach,
        net_p=rates,
        conditional=alike,
        features_p=features,
        feature=feature,
    )
    differ = min(1.0, 2 * min(rates, features))
    # both must hold, so only the looks at differences and at people with the same features share the level
    p = max(float(chance.p_values[0]), min(1.0, number * differ))
    z = float(norm.isf(level / 2))
    settled = (reach / (1 + float(norm.ppf(POWER)) / 1.96), z * chance.least)
    other = differ > level and (alike.p_value is None or alike.p_value > level)
    why = why_unsettled(chance, 0, excess, options.level, compared.limit, other_features=other)
    still_open = why or (_FEW_DRAWS if settled[0] <= settled[1] else "")
    conditions = [
        Condition(name="average", interval=excess, immaterial=(-reach, reach), p_value=p),
        *_like_for_like(alike, number, compared),
        *level_conditions(levels, compared.limit, p_values=_levels_seen(alike, number, options.level)),
    ]
    judged = judge_conditions(
        conditions,
        level=options.level,
        people_needed=None if still_open else _people(compared, found, levels, level, settled),
        reason=still_open,
        only_estimated=distrust,
        cannot_clear=why or _cannot_clear(compared, strata, levels, alike, level),
    )
    judged = replace(judged, people_of=f"{vocabulary().people} in each group")
    named = limit_name(options.material, options.material_on, compared.limit)
    return net, found, replace(judged, limit_name=named)


def levels_of(compared: Comparison, flips: Flips) -> dict[str, np.ndarray]:
    """Who of all people (n,) is in each level of the features, and of the column matched within."""
    rows = np.concatenate([flips.source, flips.target])
    frame, scaled = compared.raw.iloc[rows], dict(compared.encoded.scaled)
    column = compared.options.condition_on
    if column is not None and column not in frame and len(compared.chosen.strata) > 1:
        within = np.full(len(compared.sizes), "", dtype=object)
        for value, ours, theirs in compared.chosen.strata:
            within[ours] = within[theirs] = value
        frame, scaled = with_columns(frame, {column: within[rows]}), scaled | {column: False}
    found = {}
    for name, inside in level_members(frame, scaled, compared.sizes[rows]).items():
        found[name] = np.zeros(len(compared.sizes), dtype=bool)
        found[name][rows[inside]] = True
    return found


def differences_at(
    compared: Comparison, flips: Flips, members: Mapping[str, np.ndarray]
) -> tuple[LevelDifference, ...]:
    """Both groups' rates at every level."""
    rows = np.concatenate([flips.source, flips.target])
    return level_differences(
        {name: inside[rows] for name, inside in members.items()},
        compared.decisions[rows].astype(float),
        compared.sizes[rows],
        np.arange(len(rows)) < len(flips.source),
        level=compared.options.level,
    )


def _like_for_like(alike: Conditional, number: int, compared: Comparison) -> list[Condition]:
    """Return the condition that people with the same features are decided alike, where it is evidence."""
    if alike.p_value is None or alike.share is None or number * alike.p_value > compared.options.level:
        return []
    if alike.share.low is None or alike.share.low <= 0:
        return []
    bounds, p = (-compared.limit, compared.limit), number * alike.p_value
    return [Condition(name=LIKE_FOR_LIKE, interval=alike.share, immaterial=bounds, p_value=p)]


def _levels_seen(alike: Conditional, number: int, level: float) -> dict[str, float]:
    """Levels at which people with the same features are decided differently, and the p-value of that."""
    return {name: number * p for name, p in alike.by_level.items() if number * p <= level}


def _cannot_clear(
    compared: Comparison,
    strata: tuple[Stratum, ...],
    levels: tuple[LevelDifference, ...],
    alike: Conditional,
    level: float,
) -> str:
    """Why intervals inside the limits would not clear; empty where they would."""
    if compared.options.transport != "exact":
        return "a map makes the counterparts, which can show a difference but not rule one out"
    if why := not_comparable(compared.chosen.left_out, levels):
        return why
    differ = differing(strata, compared.options.level)
    if differ:
        ways = {np.sign(item.net.value or 0.0) for item in differ}
        cancels = ", in opposite directions, so that they cancel overall" if len(ways) > 1 else ""
        return f"rates differ within values of {compared.options.condition_on}{cancels}"
    if alike.p_value is None:
        return "" if alike.share is not None else alike.method
    if alike.p_value <= level:
        return "people with the same features seem to get different decisions, but too few to say by how much"
    if (alike.power or 0.0) < POWER and _test_is_full(compared):
        return (
            f"among people with the same features, {MAX_OVERLAP} of each group at a time, a difference of "
            "that size could not have been seen"
        )
    return ""


def not_comparable(left_out: Iterable[str], levels: tuple[LevelDifference, ...]) -> str:
    """Why those matched cannot clear: only a sample were, or nobody is like them at a level; else empty."""
    if any(reason.startswith("not drawn") for reason in left_out):
        return "only a sample was matched, which can show a difference but not rule one out"
    apart = [each.name for each in levels if each.covered and not each.comparable]
    return f"nobody is comparable at {join_names(apart, most=2)}" if apart else ""


def _test_is_full(compared: Comparison) -> bool:
    """Whether the test of people with the same features takes no more people."""
    strata = compared.chosen.strata
    return all(sum(compared.sizes[item[k]].sum() for item in strata) >= MAX_OVERLAP for k in (1, 2))


def differing(strata: tuple[Stratum, ...], level: float) -> list[Stratum]:
    """Strata in which the groups' rates differ, corrected for how many there are; the largest first."""
    found = [
        item
        for item in strata
        if len(strata) > 1 and item.adjusted_p is not None and item.adjusted_p <= level
    ]
    return sorted(found, key=lambda item: -abs(item.net.value or 0.0))


def _people(
    compared: Comparison,
    above: AboveChance,
    levels: tuple[LevelDifference, ...],
    level: float,
    settled: tuple[float, float],
) -> int | None:
    """About how many people in each group settle it: average, levels, and people with the same features.

    `settled` is the half of an interval that does, and what of it no further people make shorter.
    """
    excess, alike = above.excess, above.conditional
    if excess.value is None or excess.low is None or excess.high is None:
        return None
    half = (excess.high - excess.low) / 2
    # either a difference of that size is seen with the usual power, or the interval lies within it
    wanted, least = settled
    times = [1.1, (half**2 - least**2) / (wanted**2 - least**2)]
    times.append(people_for_levels(levels, compared.limit, compared.options.level))
    if alike.p_value is not None and (alike.power or 0.0) < POWER:
        seen = float(norm.ppf(np.clip(alike.power or 0.0, 0.05, 0.95))) + float(norm.isf(level))
        aim = float(norm.ppf(POWER)) + float(norm.isf(level))
        times.append((aim / max(seen, 0.3)) ** 2)
    people = min(sum(compared.sizes[item[k]].sum() for item in compared.chosen.strata) for k in (1, 2))
    return int(np.ceil(people * max(times) / 10) * 10)


def rate_counts(compared: Comparison, part: Matching) -> tuple[float, float, float, float]:
    """Return the favored and all of the source, and of the target, in one stratum."""
    sides = (part.source, part.target)
    n, m = (float(side.people.sum()) for side in sides)
    h, g = (float(side.people @ compared.decisions[side.rows]) for side in sides)
    return h, n, g, m


def equal_rates(h: float, n: float, g: float, m: float) -> tuple[float, float, float]:
    """Return the difference of favorable rates, its variance if they are equal, and that p-value."""
    share = (h + g) / (n + m)
    gap, variance = h / n - g / m, share * (1 - share) * (1 / n + 1 / m)
    return gap, variance, fisher_p(h, n, g, m) if n + m <= _MANY else _normal_p(gap, variance)


def _normal_p(gap: float, variance: float) -> float:
    return 1.0 if variance <= 0 else float(2 * norm.sf(abs(gap) / np.sqrt(variance)))


def _equal_rates(counts: list[tuple[float, float, float, float]]) -> float:
    """P-value of rates that are equal on average over the strata, two-sided."""
    if len(counts) == 1:
        return equal_rates(*counts[0])[2]
    total = sum(n for _, n, _, _ in counts)
    gap = variance = 0.0
    for each in counts:
        share = each[1] / total
        difference, spread, _ = equal_rates(*each)
        gap, variance = gap + share * difference, variance + share**2 * spread
    return _normal_p(gap, variance)


def _equal_features(compared: Comparison, matched: list[Matching]) -> tuple[float, str]:
    """Smallest p-value of a feature's being none that differs and counts, corrected, and that feature.

    One counts that differs between the groups and goes with decisions within a group: both tests, of
    Kolmogorov and Smirnov, have to reject. A feature that differs and that no decision goes with makes no
    flips. Few distinct values make the tests cautious; Bonferroni over features and strata.
    """
    axes, sizes, favored = compared.encoded.axes, compared.sizes, np.asarray(compared.decisions, dtype=bool)
    points, found = compared.encoded.values[:, [axis.index for axis in axes]], []
    for part in matched:
        sides = part.source.rows, part.target.rows
        goes = [_unlike(points, sizes, side[favored[side]], side[~favored[side]]) for side in sides]
        found.append(np.maximum(_unlike(points, sizes, *sides), np.minimum(1.0, 2 * np.min(goes, axis=0))))
    p = np.concatenate(found)
    best = int(p.argmin())
    return min(1.0, len(p) * float(p[best])), axes[best % len(axes)].name if p[best] < 1 else ""


def _unlike(points: np.ndarray, sizes: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """P-value (d,) of rows `first` and `second` of `points` (n, d) having values from one distribution."""
    n, m = float(sizes[first].sum()), float(sizes[second].sum())
    if min(n, m) <= 0:
        return np.ones(points.shape[1])
    gaps = ks_distances(points[first], points[second], sizes[first], sizes[second])
    return np.asarray(kstwobign.sf(np.sqrt(n * m / (n + m)) * gaps))
