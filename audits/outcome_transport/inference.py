"""How far outcomes lie apart, and what that and the bias of groups say: estimates and verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from audits.outcome_transport.bias.groups import CellMasses, FeatureSetBias, SourceGroups
from audits.outcome_transport.comparison.sides import TwoSides
from audits.outcome_transport.matching.outcomes import OutcomePlan
from audits.outcome_transport.matching.resampling import BootstrapSpread, effective, whole
from audits.outcome_transport.options import OutcomeTransportOptions
from audits.stats import (
    INSUFFICIENT,
    NO_MATERIAL,
    Estimate,
    Judgment,
    judge,
    limit_of,
    p_value,
    settle_all,
    worst_of,
)
from audits.stats.group_means import GroupMeans, judge_groups
from audits.stats.intervals import largest_gap, newcombe, percent_level
from audits.stats.paired_shares import paired_difference
from audits.stats.text import people_in
from audits.stats.vocabulary import vocabulary


@dataclass(frozen=True, eq=False)
class Space:
    """A set of features: raw columns, and both sides' people encoded, (n, d) and (m, d)."""

    columns: tuple[str, ...]
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True, eq=False)
class ResultParts:
    """Everything a result is made of; what inference was not asked for is None or empty.

    `errors` holds, by cost, how far distances can lie from the truth in each resample, unless outcomes are
    `of_two` values; `tested` compares groups' mean bias in the even coupling; `observed` and `null` are the
    distance and those by chance.
    """

    comparison: TwoSides
    matched: OutcomePlan
    spaces: dict[str, Space]
    groups: SourceGroups
    measured: list[FeatureSetBias]
    ranges: list[tuple[float, float, bool] | None]
    cells: CellMasses
    a: np.ndarray
    b: np.ndarray
    resampled: BootstrapSpread | None = None
    errors: Mapping[str, np.ndarray] = field(default_factory=dict)
    tested: GroupMeans | None = None
    observed: float | None = None
    null: np.ndarray | None = None

    @cached_property
    def mass(self) -> np.ndarray:
        """People each source row stands for who are matched (n,): all of them, or what the blur leaves."""
        if self.matched.exact:
            return self.a
        return self.a * self.matched.matched_share[self.matched.source.of]

    @cached_property
    def outcomes(self) -> np.ndarray:
        """The different outcomes of both sides, (k, d)."""
        return np.unique(np.concatenate([self.matched.x, self.matched.y]), axis=0)

    @property
    def of_two(self) -> bool:
        """Whether outcomes are two values, so that shares of people say how far they lie apart."""
        two = self.matched.on_a_line and len(self.outcomes) == 2
        return self.comparison.kind == "decision" or two

    @property
    def people(self) -> float:
        """People of both sides, counted once."""
        n, m = float(self.a.sum()), float(self.b.sum())
        return n if self.comparison.same_people else n + m

    @cached_property
    def effective(self) -> tuple[float, float]:
        """People of equal weight that would tell as much of either side."""
        return effective(self.a, whole(self.a)), effective(self.b, whole(self.b))

    @property
    def alone(self) -> bool:
        """Whether a side is one person, of whose like nothing is known."""
        return bool(min(self.a.sum(), self.b.sum()) < 2)

    @property
    def no_interval(self) -> str:
        """Why there is no interval, where people were not resampled."""
        return f"no interval: {'one person alone on a side' if self.alone else 'not resampled'}"

    @property
    def distance_p(self) -> float | None:
        """Chance of a distance at least as large if outcomes did not depend on the side."""
        if self.null is None or self.observed is None:
            return None
        return p_value(self.observed, self.null)


def weighted_mean(value: np.ndarray, weights: np.ndarray, members: np.ndarray | bool = True) -> float | None:
    """Return the mean of `value` (n,) over the `members` (n,) of whom it is known; None without any."""
    known = members & np.isfinite(value) & (weights > 0)
    return float(np.average(value[known], weights=weights[known])) if known.any() else None


_ORDERS = {"order_1": "euclidean", "order_2": "squared_euclidean"}
_ONE_WAY = (
    "this test can show a difference but not rule one out: groups can be level while outcomes are unequal"
)
_OPEN = "other optimal couplings leave it undecided, so more people would not settle it"


def distances(
    parts: ResultParts, options: OutcomeTransportOptions
) -> tuple[Estimate, dict[str, Estimate | None]]:
    """Distance of the chosen cost, and of both orders: on a line one exact coupling serves both."""
    matched = parts.matched
    values = {
        "order_1": matched.mean_cost("euclidean"),
        "order_2": float(np.sqrt(matched.mean_cost("squared_euclidean"))),
    }
    chosen = next(name for name, cost in _ORDERS.items() if cost == options.cost)
    both = matched.on_a_line and matched.exact
    exactly = {
        name: _exact_distance(parts, options, value, _ORDERS[name])
        if matched.exact
        else _blurred_cost(parts, options, value, k)
        for k, (name, value) in enumerate(values.items())
        if both or name == chosen
    }
    return exactly[chosen], {name: exactly.get(name) for name in _ORDERS}


def _exact_distance(
    parts: ResultParts, options: OutcomeTransportOptions, value: float, cost: str
) -> Estimate:
    """An exact distance with its interval, which touches 0 unless the permutation test rejects."""
    n, level, outcomes = parts.people, options.level, parts.outcomes
    if parts.resampled is None:
        return Estimate(value, None, None, n, parts.no_interval)
    decided = parts.comparison.kind == "decision"
    if len(outcomes) == 1 and not decided:
        return Estimate(value, None, None, n, "no interval: everyone has the same outcome")
    if parts.of_two:
        far = parts.comparison.unit if decided else float(outcomes[1, 0] - outcomes[0, 0])
        gap = _difference_of_shares(parts, level, above=far / 2 if decided else float(outcomes[0, 0]))
        # all mass that moves moves as far
        power = 1.0 if cost == "euclidean" else 0.5
        low, high = (far * float(end or 0.0) ** power for end in (gap.low, gap.high))
        method = gap.method
    else:
        reach = float(np.quantile(parts.errors[cost], 1 - level, method="higher"))
        few = max(min(parts.effective) - 1, 1.0)
        reach *= float(student.isf(level / 2, few) / norm.isf(level / 2))
        low, high = max(value - reach, 0.0), max(value + reach, _unseen(parts, outcomes, level, cost))
        method = f"norm of the resampled error, {percent_level(level)}"
    if parts.distance_p is not None and parts.distance_p > level:
        low = 0.0
    return Estimate(value, low, high, n, method)


def _difference_of_shares(parts: ResultParts, level: float, *, above: float) -> Estimate:
    """By how much the shares of people with outcomes beyond `above` differ, whichever is larger.

    Few people's resamples say too little of chance: none at all where everybody of a side is alike.
    """
    n, m = parts.effective
    first, second = (
        side.outcomes[:, 0] > above for side in (parts.comparison.source, parts.comparison.target)
    )
    if not parts.comparison.same_people:
        shares = np.average(first, weights=parts.a), np.average(second, weights=parts.b)
        gap = largest_gap(np.array([n, m]) * shares, np.array([n, m]), level=level)
        return replace(gap, method=f"Newcombe {percent_level(level)}")
    four = np.bincount(3 - 2 * first - second, parts.a, 4) / parts.a.sum() * n
    gap = paired_difference(*four.tolist(), level=level)
    low, high = float(gap.low or 0.0), float(gap.high or 0.0)
    return replace(gap, low=max(low, -high, 0.0), high=max(-low, high))


def _unseen(parts: ResultParts, outcomes: np.ndarray, level: float, cost: str) -> float:
    """Return how far apart sides can lie by outcomes as far as any that a share of people have and none here.

    That share is at most what Newcombe's interval says of 0 people of each side.
    """
    share = float(newcombe(0.0, parts.effective[0], 0.0, parts.effective[1], level=level).high or 0.0)
    far = float(np.linalg.norm(np.ptp(outcomes, axis=0)))
    if parts.comparison.kind == "probability":
        far = parts.comparison.unit
    return far * (share if cost == "euclidean" else float(np.sqrt(share)))


def _blurred_cost(parts: ResultParts, options: OutcomeTransportOptions, value: float, k: int) -> Estimate:
    """The mean cost of a blurred coupling, which is no distance."""
    resampled = parts.resampled
    if resampled is None:
        return Estimate(value, None, None, parts.people, parts.no_interval)
    reach = float(norm.isf(options.level / 2))
    spread = reach * float(resampled.distance[k])
    upward = spread if k else max(spread, reach * _largest_error(parts))
    excess = float(resampled.excess[k])
    method = (
        f"mean cost of the {options.matching} coupling; bootstrap of {resampled.pool:,} people, coupled "
        f"again, {percent_level(options.level)}"
    )
    return Estimate(value, max(value - excess - spread, 0.0), value + upward, parts.people, method)


def _largest_error(parts: ResultParts) -> float:
    """Bound the standard error of the distance of order 1 between two groups; 0 for the same people.

    Its first-order variance is that of the dual potentials, which change no faster than the outcome does, so
    that their variance is at most the outcomes' own. The bootstrap falls below where distances are near 0.
    """
    if parts.comparison.same_people:
        return 0.0
    variance = 0.0
    for side, weights in ((parts.comparison.source, parts.a), (parts.comparison.target, parts.b)):
        apart = side.outcomes - np.average(side.outcomes, axis=0, weights=weights)
        spread = float(np.average((apart**2).sum(axis=1), weights=weights))
        variance += spread / effective(weights, whole(weights))
    return float(np.sqrt(variance))


@dataclass(frozen=True)
class BiasJudgments:
    """All that was judged: the one that the verdict rests on, and groups' differences in bias by name.

    `even` are the same differences in the even coupling alone, which says nothing of the others.
    """

    judged: Judgment
    groups: Mapping[str, Judgment] = field(default_factory=dict)
    even: Mapping[str, Judgment] = field(default_factory=dict)


def judge_all(parts: ResultParts, options: OutcomeTransportOptions, distance: Estimate) -> BiasJudgments:
    """Two groups are judged by the distance of their outcomes, two policies by how groups' bias differs.

    The distance is the same in all optimal couplings. Bias is not, so there a verdict has to hold in all; and
    it never clears, because a model can take from a whole group what leaves its bias as it was.
    """
    if not parts.comparison.same_people:
        return BiasJudgments(_of_distance(parts, options, distance))
    tested = parts.tested
    if tested is None:
        nothing = Estimate(None, None, None, parts.people, "groups' bias was not compared")
        why = "" if options.permutations else "chance was not measured: permutations is 0"
        unknown = "the data name no features" if np.isnan(parts.measured[0].value).all() else ""
        why = why or unknown or "there is one group only"
        return BiasJudgments(judge(nothing, immaterial=(0.0, 0.0), reason=why))
    bias, mass = parts.measured[0].value, parts.mass
    material = options.material * (weighted_mean(bias, mass) or 0.0)
    even = judge_groups(tested, material=material)
    ranges = _difference_ranges(parts, tested)
    everywhere = (
        even if ranges is None else judge_groups(tested, material=material, ranges=ranges, open_reason=_OPEN)
    )
    everywhere = settle_all(everywhere, f"{vocabulary().people} in all", everyone=float(tested.size.sum()))
    names = parts.comparison.source.groups
    found, alone = (
        {
            name: replace(_never_clear(one), unit="standard deviations")
            for name, one in zip(names, each, strict=True)
            if one is not None
        }
        for each in (everywhere, even)
    )
    first = sorted(found.values(), key=lambda one: -(one.interval.value or 0.0))
    # of two groups both differences are the same one, and the larger bias the one to name
    return BiasJudgments(worst_of(first[:1] if len(first) == 2 else first), found, alone)


def _never_clear(judged: Judgment) -> Judgment:
    """Return what a group's bias can say: a model that takes points from a whole group can leave it level."""
    if judged.verdict != NO_MATERIAL:
        return judged
    return replace(judged, verdict=INSUFFICIENT, reason=_ONE_WAY, people_needed=None)


def _of_distance(parts: ResultParts, options: OutcomeTransportOptions, distance: Estimate) -> Judgment:
    material = _limit(parts, options)
    if not parts.matched.exact and parts.observed is not None:
        distance = _exact_distance(parts, options, parts.observed, options.cost)
    p, why = parts.distance_p, ""
    if p is None:
        why = "chance was not measured: permutations is 0"
    elif distance.low is None:
        why = distance.method
    needed = None
    if not why and distance.value is not None and distance.high is not None:
        # an interval that is half as long as what matters either excludes 0 or lies within it
        # (squared distances of decisions: shares, whose intervals shorten so, are those of the roots)
        power = 2 if parts.comparison.kind == "decision" and options.cost == "squared_euclidean" else 1
        reach = distance.high**power - distance.value**power
        small = min(float(parts.a.sum()), float(parts.b.sum()))
        needed = (
            max(small + 1, np.ceil(small * (2 * reach / material**power) ** 2)) if material > 0 else np.inf
        )
    judged = judge(
        distance,
        immaterial=(-math.inf, material),
        p_value=p,
        level=options.level,
        people_needed=None if needed is None or needed > 1e12 else int(needed),
        reason=why,
        only_estimated=why if p is None else "",
    )
    if parts.comparison.kind == "probability" and judged.material and distance.low is not None:
        # probabilities may lie so far apart and their means not: outside the ratio is none of the means
        judged = replace(judged, material=True if distance.low > options.material * _unit(parts) else None)
    sides = parts.comparison.source.name, parts.comparison.target.name
    smaller = people_in(sides[int(parts.b.sum() < parts.a.sum())])
    return replace(judged, unit="apart", people_of="" if parts.comparison.same_people else smaller)


def _difference_ranges(parts: ResultParts, tested: GroupMeans) -> tuple[np.ndarray, np.ndarray] | None:
    """Smallest and largest difference of each group from everyone else over all optimal couplings.

    None for a blurred coupling, which is unique. Each group's range is taken as if it could be chosen freely,
    so the differences err on the safe side; anything is possible where a range is not known.
    """
    if not parts.matched.exact:
        return None
    low, high = [], []
    for k, level in enumerate(parts.groups.levels):
        if level != "group":
            continue
        ends = parts.ranges[k]
        mean = weighted_mean(parts.measured[0].value, parts.mass, parts.groups.members[k]) or 0.0
        far = float(parts.measured[0].bias.farthest.max())
        low.append(0.0 if ends is None else min(ends[0], mean))  # rounding must not shut the even one out
        high.append(far if ends is None else max(ends[1], mean))
    least, most, share = np.array(low), np.array(high), tested.share
    rest = np.maximum(1 - share, 1e-300)
    others = [(share @ ends - share * ends) / rest for ends in (least, most)]
    return least - others[1], most - others[0]


def _limit(parts: ResultParts, options: OutcomeTransportOptions) -> float:
    """Distance that matters: the auditor's, or less where few of both sides are favored.

    The distance of decisions is their rates' difference, that of probabilities at least their means'.
    """
    if parts.comparison.kind not in {"decision", "probability"}:
        return options.material * _unit(parts)
    ours, theirs = parts.comparison.source, parts.comparison.target
    favored = [float(parts.a @ ours.outcomes[:, 0]), float(parts.b @ theirs.outcomes[:, 0])]
    a, b = (each / float(n.sum()) / _unit(parts) for each, n in zip(favored, (parts.a, parts.b), strict=True))
    overall = sum(favored) / float(parts.a.sum() + parts.b.sum()) / _unit(parts)
    low, high = limit_of(options.material, options.material_on, rate=b, overall=overall)
    if parts.comparison.kind == "probability":
        return min(-low, high) * _unit(parts)
    # of squared distances, a share of decisions makes its root
    power = 0.5 if options.cost == "squared_euclidean" else 1.0
    return (-low if a < b else high) ** power * _unit(parts)


def _unit(parts: ResultParts) -> float:
    """Distance that the auditor's material difference is a share of."""
    if parts.comparison.kind != "score":
        return float(np.sqrt(2.0))
    both = np.concatenate([parts.comparison.source.outcomes, parts.comparison.target.outcomes])[:, 0]
    weights = np.concatenate([parts.a, parts.b])
    return float(np.sqrt(np.average((both - np.average(both, weights=weights)) ** 2, weights=weights))) or 1.0
