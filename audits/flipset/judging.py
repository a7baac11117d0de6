"""From counts to estimates and the verdict, which follows from what lies above chance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import kstwobign, norm

from audits.flipset.chance import Chance
from audits.flipset.counterparts.matching import Flips, Matched
from audits.flipset.counterparts.people import Compared
from audits.flipset.parts import AboveChance, Conditional, Noise, Stratum, Validation
from audits.stats import (
    EVIDENCE,
    INSUFFICIENT,
    NO_MATERIAL,
    POWER,
    Estimate,
    Judged,
    holm,
    judge,
    newcombe,
    weighted_sum,
)
from audits.stats.intervals import cautious_difference, fisher_mid_p, percent_level

__all__ = ["Judgement", "by_chance", "differing", "judge_flips"]

_MANY = 2_000  # people from which the test for equal rates need not count tables
_OTHER_FEATURES = (
    "the flips come from features that hang together differently in the groups; neither rates nor single "
    "features that decisions go with differ beyond chance, and people alike in the features are decided "
    "alike as far as can be told"
)


_CANCELS = "no material difference in the whole, but strata differ, which may cancel in it"


@dataclass(frozen=True)
class Judgement:
    """Net difference, chance level, what lies above it, and the verdict that follows."""

    net: Estimate
    strata: tuple[Stratum, ...]
    noise: Noise | None
    above: AboveChance | None
    judged: Judged
    level: float


def judge_flips(
    compared: Compared,
    matched: list[Matched],
    flips: Flips,
    chance: Chance | None,
    alike: Conditional | None,
    checked: Validation,
) -> Judgement:
    """Hold the flips above chance against none.

    Two differences are evidence: flips above chance between groups whose rates differ (by Proposition 2 the
    net flipset) or one of whose features does that decisions go with (a proxy, as hair in the paper's section
    5.1), and people alike in the features who are decided differently. They share the level. Flips above
    chance with none of these come from features that only hang together differently.
    """
    options = compared.options
    strata = _strata(compared, matched, flips)
    net = _net(compared, matched, strata)
    distrust = "" if checked.trusted else "a map that cannot be trusted made the counterparts"
    if chance is None or alike is None:
        missing = Estimate(None, None, None, net.n, "not measured without permutations")
        bounds = (-options.material, options.material)
        unmeasured = "the level of chance was not measured: ask for permutations"
        judged = judge(missing, immaterial=bounds, reason=unmeasured, only_estimated=distrust)
        return Judgement(net, strata, None, None, judged, options.level)
    number = 1 if alike.p_value is None else 2
    level = options.level / number
    excess = _excess(chance, level)
    planted = options.material if chance.planted is None else chance.planted
    reach = float(min(options.material, max(planted, 1e-9)))
    rates = _equal_rates(compared, matched)
    features, feature = _equal_features(compared, matched)
    differ = min(1.0, 2 * min(rates, features))
    # both must be there, so only the looks at what differs and at people alike share the level
    p = max(chance.p_value, min(1.0, number * differ))
    reason = _reason(chance, excess, differ, alike, level, options.level, options.material)
    above = judge(
        excess,
        immaterial=(-reach, reach),
        p_value=p,
        level=options.level,
        people_needed=None if reason else _people(excess, reach, chance),
        reason=reason,
        only_estimated=distrust,
    )
    if above.verdict == NO_MATERIAL and reason:
        above = replace(above, verdict=INSUFFICIENT, reason=reason)
    elif above.verdict == NO_MATERIAL and not _would_be_seen(alike, level):
        above = _not_cleared(above, alike, level, chance)
    elif above.verdict == NO_MATERIAL and differing(strata, options.level):
        above = replace(above, verdict=INSUFFICIENT, reason=_CANCELS)
    judged = above
    if alike.p_value is not None and alike.share is not None and above.verdict != EVIDENCE:
        given = judge(
            alike.share,
            immaterial=(-options.material, options.material),
            p_value=min(1.0, number * alike.p_value),
            level=options.level,
            only_estimated=distrust,
        )
        judged = given if given.verdict == EVIDENCE else above
    found = AboveChance(
        excess=excess,
        observed=chance.larger,
        expected=float(chance.null.max(1).mean()),
        planted=reach,
        net_p=rates,
        conditional=alike,
        features_p=features,
        feature=feature,
    )
    return Judgement(net, strata, _noise(chance), found, judged, options.level)


def differing(strata: tuple[Stratum, ...], level: float) -> list[Stratum]:
    """Strata in which the groups' rates differ, corrected for how many there are; the largest first."""
    found = [
        item
        for item in strata
        if len(strata) > 1 and item.adjusted_p is not None and item.adjusted_p <= level
    ]
    return sorted(found, key=lambda item: -abs(item.net.value or 0.0))


def by_chance(chance: Chance | None, direction: int, n: float, level: float) -> Estimate | None:
    """People expected to flip by chance among `n`, with the range of the permutations."""
    if chance is None:
        return None
    people = chance.null[:, direction] * n
    low, high = np.quantile(people, [level / 2, 1 - level / 2])
    method = (
        f"{len(people)} permutations of group membership, {chance.method}, {chance.n_source:,} and "
        f"{chance.n_target:,} people; "
        f"{100 * (1 - level):.4g} % of them lie in the range"
    )
    return Estimate(float(people.mean()), float(low), float(high), n, method)


def _excess(chance: Chance, level: float) -> Estimate:
    value = chance.larger - float(chance.null.max(1).mean())
    method = f"above {len(chance.null)} permutations, subsampling {percent_level(level)}"
    if chance.error is None:
        return Estimate(value, None, None, float(chance.n_source), "no interval for so few people")
    reach = float(norm.isf(level / 2)) * chance.error
    return Estimate(value, value - reach, value + reach, float(chance.n_source), method)


_NOTHING = 0.05  # of a planted difference, above chance: as good as none


def _reason(
    chance: Chance,
    excess: Estimate,
    rates: float,
    alike: Conditional,
    level: float,
    overall: float,
    material: float,
) -> str:
    """Why more people would not settle it, where that is so."""
    if excess.low is None:
        return "so few people of a group give no interval"
    if 1 / (len(chance.null) + 1) > overall:
        return "so few permutations can never show a difference: ask for 199 or more"
    seen = excess.low is not None and excess.low > 0 and chance.p_value <= overall
    if seen and rates > level and (alike.p_value is None or alike.p_value > level):
        return _OTHER_FEATURES
    if chance.planted is not None and chance.planted <= _NOTHING * material:
        return "a difference planted in these people hardly comes out above chance, however many they are"
    return ""


def _would_be_seen(alike: Conditional, level: float) -> bool:
    """Whether people alike who are decided differently would have been seen, had there been any."""
    if alike.p_value is None:
        return alike.share is not None  # the model decides them alike
    return alike.p_value > level and (alike.power or 0.0) >= POWER


def _not_cleared(above: Judged, alike: Conditional, level: float, chance: Chance) -> Judged:
    """A verdict of no material difference taken back: the test of people alike could not have told."""
    if alike.p_value is not None and alike.p_value <= level:
        reason = "people alike in the features seem to be decided differently, too few to say by how much"
        return replace(above, verdict=INSUFFICIENT, reason=reason)
    power = 0.0 if alike.power is None else alike.power
    people = min(chance.n_source, chance.n_target)
    seen = float(norm.ppf(np.clip(power, 0.05, 0.95))) + float(norm.isf(level))
    wanted = float(norm.ppf(POWER)) + float(norm.isf(level))
    times = max(1.1, (wanted / max(seen, 0.3)) ** 2)
    return replace(above, verdict=INSUFFICIENT, people_needed=_tens(people * times))


def _tens(people: float) -> int:
    return int(np.ceil(people / 10) * 10)


def _people(excess: Estimate, reach: float, chance: Chance) -> int | None:
    """About how many people in each group make the interval fit what a planted difference comes out as."""
    people = min(chance.n_source, chance.n_target)
    if excess.value is None or excess.low is None or excess.high is None:
        return None
    half = (excess.high - excess.low) / 2
    # either a difference of that size is seen with the usual power, or the interval lies within it
    times = max((half * (1 + float(norm.ppf(POWER)) / 1.96) / reach) ** 2, 1.1)
    return _tens(people * times)


def _equal_rates(compared: Compared, matched: list[Matched]) -> float:
    """P-value of rates that are equal on average over the strata, two-sided."""
    if len(matched) == 1:
        return _rates(compared, matched[0])[2]
    total = sum(float(compared.sizes[part.source].sum()) for part in matched)
    gap = variance = 0.0
    for part in matched:
        share = float(compared.sizes[part.source].sum()) / total
        difference, spread, _ = _rates(compared, part)
        gap, variance = gap + share * difference, variance + share**2 * spread
    return 1.0 if variance <= 0 else float(2 * norm.sf(abs(gap) / np.sqrt(variance)))


def _rates(compared: Compared, part: Matched) -> tuple[float, float, float]:
    """Difference of favourable rates in one stratum, its variance if they are equal, and that p-value."""
    decisions, sizes = compared.decisions, compared.sizes
    n, m = float(sizes[part.source].sum()), float(sizes[part.target].sum())
    h, g = (float(sizes[side] @ decisions[side]) for side in (part.source, part.target))
    share = (h + g) / (n + m)
    gap, variance = h / n - g / m, share * (1 - share) * (1 / n + 1 / m)
    if n + m <= _MANY:
        return gap, variance, fisher_mid_p(h, n, g, m)
    return gap, variance, 1.0 if variance <= 0 else float(2 * norm.sf(abs(gap) / np.sqrt(variance)))


def _equal_features(compared: Compared, matched: list[Matched]) -> tuple[float, str]:
    """Smallest p-value of a feature's being none that differs and counts, corrected, and that feature.

    One counts that differs between the groups and goes with decisions within a group: both tests, of
    Kolmogorov and Smirnov, have to reject. A feature that differs and that no decision goes with makes no
    flips. Few distinct values make the tests cautious; Bonferroni over features and strata.
    """
    best, name, looks = 1.0, "", 0
    for part in matched:
        for axis in compared.encoded.axes:
            looks += 1
            column, sizes = compared.encoded.values[:, axis.index], compared.sizes
            differs = _unlike(column, sizes, part.source, part.target)
            favored = np.asarray(compared.decisions, dtype=bool)
            goes = (
                _unlike(column, sizes, side[favored[side]], side[~favored[side]])
                for side in (part.source, part.target)
            )
            p = max(differs, min(1.0, 2 * min(goes)))
            if p < best:
                best, name = p, axis.name
    return min(1.0, looks * best), name


def _unlike(column: np.ndarray, sizes: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """P-value of rows `first` and `second` having values from one distribution."""
    n, m = float(sizes[first].sum()), float(sizes[second].sum())
    if min(n, m) <= 0:
        return 1.0
    gap = _largest_gap(column[first], sizes[first], column[second], sizes[second])
    return float(kstwobign.sf(np.sqrt(n * m / (n + m)) * gap))


def _largest_gap(first: np.ndarray, people: np.ndarray, second: np.ndarray, others: np.ndarray) -> float:
    """Largest gap of two distribution functions."""
    values = np.unique(np.concatenate([first, second]))
    shares = []
    for column, sizes in ((first, people), (second, others)):
        held = np.bincount(np.searchsorted(values, column), sizes, len(values))
        shares.append(np.cumsum(held) / sizes.sum())
    return float(np.abs(shares[0] - shares[1]).max())


def _net(compared: Compared, matched: list[Matched], strata: tuple[Stratum, ...]) -> Estimate:
    """Favourable share of the source minus that of the target, averaged over strata."""
    n, m = sum(item.n_source for item in strata), sum(item.n_target for item in strata)
    if len(strata) > 1:
        return weighted_sum([item.net for item in strata], [item.n_source / n for item in strata])
    part, sizes = matched[0], compared.sizes
    h, g = (float(sizes[side] @ compared.decisions[side]) for side in (part.source, part.target))
    return cautious_difference(h, n, g, m, level=compared.options.level)


def _strata(compared: Compared, matched: list[Matched], flips: Flips) -> tuple[Stratum, ...]:
    found = []
    start = 0
    sizes, decisions = compared.sizes, compared.decisions
    adjusted = holm(np.array([_rates(compared, part)[2] for part in matched]))
    for part, p in zip(matched, adjusted, strict=True):
        ours, theirs = sizes[part.source], sizes[part.target]
        here = slice(start, start + len(part.source))
        start = here.stop
        found.append(
            Stratum(
                value=part.value,
                n_source=float(ours.sum()),
                n_target=float(theirs.sum()),
                positive_size=float(flips.positive[here] @ ours),
                negative_size=float(flips.negative[here] @ ours),
                net=newcombe(
                    float(ours @ decisions[part.source]),
                    float(ours.sum()),
                    float(theirs @ decisions[part.target]),
                    float(theirs.sum()),
                    level=compared.options.level,
                ),
                cost=part.cost,
                slack=part.slack,
                adjusted_p=float(p),
            )
        )
    return tuple(found)


def _noise(chance: Chance) -> Noise:
    larger = chance.null.max(1)
    return Noise(
        permutations=len(larger),
        method=chance.method,
        n_source=chance.n_source,
        n_target=chance.n_target,
        observed=chance.larger,
        null_quantiles={f"{q:g}": float(np.quantile(larger, q)) for q in (0.025, 0.5, 0.95, 0.975)},
        p_value=chance.p_value,
    )
