"""From the two tests to a verdict at any tolerance, without another look at the people."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import norm

from audits.data import group_name
from audits.stats import EVIDENCE, Estimate, Judgment, judge
from audits.stats.intervals import least_level
from audits.stats.means import MIN, MeanTest
from audits.stats.paired_ratio import PairedRatio
from audits.stats.text import number, p_words, people, people_in
from audits.stats.verdicts import POWER
from audits.stats.vocabulary import vocabulary

_NEVER = "this search can fail a model but not clear it"  # it stops early, where no optimum is certain


@dataclass(frozen=True)
class RatioTest:
    """A ratio compared with the tolerance: Eq. 3.10 or 3.13.

    Attributes
    ----------
    statistic : Estimate
        S_n with its two-sided interval; 1 means no difference.
    lower_bound : float or None
        T_n: the true ratio is larger, with confidence 1 - level.
    interval : tuple
        Ends of the two-sided interval; an end that does not exist is None.
    p_value : float or None
        Of the hypothesis that the true ratio is at most the tolerance.
    reject : bool
        Whether T_n lies above the tolerance; without gradients also what rows that can be written down reach.
    """

    statistic: Estimate
    lower_bound: float | None
    interval: tuple[float | None, float | None]
    p_value: float | None
    tolerance: float
    reject: bool


@dataclass(frozen=True)
class GroupRatio:
    """The loss ratio within one group; the intervals of all groups hold together.

    Attributes
    ----------
    reached : float, optional
        Of a search without gradient: lower end over rows that could be written down.
    """

    attribute: str
    group: str
    statistic: Estimate
    reached: float | None = None

    def beyond(self, tolerance: float) -> bool:
        """Whether the ratio lies above the tolerance beyond chance."""
        low = self.statistic.low
        return low is not None and low > tolerance and (self.reached is None or self.reached > tolerance)


def spanning(found: Sequence[Estimate]) -> Estimate:
    """Return the first estimate with an interval that holds those of all; no ratio of losses is below 0.

    Of two, the second is of the metric along which answers change least: nothing says how high it may be.
    """
    low, high = ([getattr(each, end) for each in found] for end in ("low", "high"))
    return dataclasses.replace(
        found[0],
        low=None if None in low else max(min(low), 0.0),
        high=None if None in high or len(found) == 2 else max(high),
        method=found[0].method + ", over the directions that the data allow" * (len(found) > 1),
    )


@dataclass(frozen=True)
class Envelope:
    """Tests of one ratio by several metrics, the first of which is stated: what all of them allow.

    Where directions are learned, the others are those within their confidence region, of error rate `level`,
    along which the model's answers change least and most.
    """

    tests: tuple[MeanTest | PairedRatio, ...]
    level: float

    @property
    def n(self) -> float:
        """People."""
        return self.tests[0].n

    def interval(self, level: float) -> Estimate:
        """Ratio of the first with an interval that holds those of all."""
        return spanning([test.interval(level) for test in self.tests])

    def lower_bound(self, level: float) -> float | None:
        """The least of all lower bounds; None where one does not exist."""
        found = [test.lower_bound(level) for test in self.tests]
        return None if None in found else min(found)  # type: ignore[type-var]

    def p_value(self, tolerance: float) -> float | None:
        """Return the largest of all p-values; None where one does not exist."""
        found = [self._p_value(test, tolerance) for test in self.tests]
        return None if None in found else max(found)  # type: ignore[type-var]

    def _p_value(self, test: MeanTest | PairedRatio, tolerance: float) -> float | None:
        """Return a test's p-value; an end lies farther off the smaller the error rate."""
        p, (first, own) = test.p_value(tolerance), (_ratio_of(each) or 0.0 for each in (self.tests[0], test))
        if p is None or own >= first or p > self.level:
            return p

        def rejects(level: float) -> bool:
            times = max(float(norm.isf(level / 2) / norm.isf(self.level / 2)), 1.0)
            found = test.p_value(tolerance + (times - 1.0) * (first - own))
            return found is not None and found <= level

        return least_level(rejects)


def _ratio_of(test: MeanTest | PairedRatio) -> float | None:
    return test.mean if isinstance(test, MeanTest) else test.value


@dataclass(frozen=True)
class Grounds:
    """What verdict and finding rest on beside the two tests.

    Attributes
    ----------
    directions : str
        In which directions people are moved.
    nothing : str
        Why there is nothing to move along, a clause; empty otherwise.
    told_p : float
        That no direction is tied to any attribute (see `Metrics.p_value`).
    reached : float, optional
        Of a search without gradient: lower bound of the mean ratio over rows that could be written down.
    """

    directions: str
    nothing: str = ""
    told_p: float = 0.0
    reached: float | None = None


@dataclass(frozen=True)
class RatioVerdict:
    """Verdict and finding at one tolerance."""

    loss: RatioTest
    errors: RatioTest
    judged: Judgment
    finding: str


def stand(
    loss_tests: Sequence[MeanTest],
    error_tests: Sequence[PairedRatio],
    grounds: Grounds,
    groups: Sequence[GroupRatio] = (),
    *,
    tolerance: float,
    level: float,
    material: float,
) -> RatioVerdict:
    """Compare both ratios with `tolerance`.

    Parameters
    ----------
    loss_tests, error_tests : sequence
        By the metric, and by those at the ends of what the data allow (see `Envelope`).
    groups : sequence of GroupRatio
        An average clears nobody: the verdict names the worst group beyond the tolerance.
    material : float
        A mean ratio below `material` times the tolerance is no material difference.
    """
    seen = grounds.reached is None or grounds.reached > tolerance  # by rows that could be written down
    loss = _test_ratio(Envelope(tuple(loss_tests), level), tolerance, level, seen=seen)
    errors = _test_ratio(Envelope(tuple(error_tests), level), tolerance, level, seen=seen)
    judged = judge_ratio(loss_tests, grounds, tolerance=tolerance, level=level, material=material)
    worst = worst_group(groups, tolerance)
    if judged.verdict != EVIDENCE and worst and not grounds.nothing and grounds.told_p <= level:
        judged = dataclasses.replace(judged, see=people_in(group_name({worst.attribute: worst.group})))
    return RatioVerdict(loss, errors, judged, _finding(loss, errors, grounds, judged))


def worst_group(groups: Sequence[GroupRatio], tolerance: float) -> GroupRatio | None:
    """Return the group whose ratio is largest of those beyond the tolerance; None where there is none."""
    beyond = [each for each in groups if each.beyond(tolerance)]
    return max(beyond, key=lambda each: float(each.statistic.value or 0.0), default=None)


def judge_ratio(
    tests: Sequence[MeanTest], grounds: Grounds, *, tolerance: float, level: float, material: float
) -> Judgment:
    """Return the verdict on a mean ratio: no difference up to the tolerance, material from some times it.

    What a search without gradient found is evidence if rows that could be written down reach it. That a
    search found no more cannot show that there is no more: neither of them clears anybody, and more people
    are asked for only where they would give evidence. Where nothing tells the attributes there is no verdict.
    """
    test = Envelope(tuple(tests), level)
    interval, p = test.interval(level), test.p_value(tolerance)
    if grounds.nothing:
        return _judge(interval, tolerance, material, level, p, only_estimated=grounds.nothing)
    p = None if p is None else max(p, grounds.told_p)
    if not all(each.enough for each in tests):
        few = any(each.n < MIN for each in tests)
        reason = (
            f"{people(test.n)} are too few for an interval"
            if few
            else "few people with one and the same ratio say little about others"
        )
        return _judge(interval, tolerance, material, level, p, reason=reason)
    if grounds.reached is not None and grounds.reached <= tolerance < (interval.low or 0.0):
        between = "part of this is between categories, where no row can be, and whole rows do not show it"
        return _judge(interval, tolerance, material, level, p, only_estimated=between)
    needed = _people_needed(interval, tolerance, level) if grounds.reached is None else None
    judged = _judge(interval, tolerance, material, level, p, cannot_clear=_NEVER)
    if judged.verdict == EVIDENCE or judged.material is False or needed is None:
        return judged
    return dataclasses.replace(judged, people_needed=needed, reason="")  # who would show a difference


def _judge(
    interval: Estimate, tolerance: float, material: float, level: float, p: float | None, **told: Any
) -> Judgment:
    none, immaterial = (-math.inf, tolerance), (-math.inf, material * tolerance)
    ends = dataclasses.replace(interval, high=math.inf) if interval.high is None else interval
    judged = judge(ends, none=none, immaterial=immaterial, p_value=p, level=level, **told)
    named, who = f"{material:g} times your limit", f"{vocabulary().people} in all"  # which is the tolerance
    return dataclasses.replace(judged, interval=interval, people_of=who, limit_name=named)


def _people_needed(interval: Estimate, tolerance: float, level: float) -> int | None:
    """People with whom the interval would leave out the tolerance in 80 of 100 samples.

    Its lower end comes nearer with the root of the people; None where the ratio is not above the tolerance.
    """
    if interval.value is None or interval.low is None or interval.value <= tolerance:
        return None
    times = ((interval.value - interval.low) / (interval.value - tolerance)) ** 2
    beyond = float((norm.isf(level / 2) + norm.isf(1 - POWER)) / norm.isf(level / 2)) ** 2
    return math.ceil(interval.n * times * beyond)


def _test_ratio(test: Envelope, tolerance: float, level: float, *, seen: bool) -> RatioTest:
    statistic, bound = test.interval(level), test.lower_bound(level)
    reject = seen and bound is not None and bound > tolerance
    return RatioTest(
        statistic, bound, (statistic.low, statistic.high), test.p_value(tolerance), tolerance, reject
    )


def _finding(loss: RatioTest, errors: RatioTest, grounds: Grounds, judged: Judgment) -> str:
    low, high = loss.interval
    sure = "no interval" if low is None else _reach(low, high)
    text = (
        f"The model's loss for {people(loss.statistic.n)} is {number(loss.statistic.value)} "
        f"times as large on average ({sure}) once each is moved {grounds.directions}"
    )
    if low is None:
        return f"{text}. {judged.reason[:1].upper()}{judged.reason[1:]}."
    where = "wholly above" if low > loss.tolerance else "not wholly above"
    text += f". That is {where} your limit of {number(loss.tolerance)}"
    if loss.p_value is not None:
        text += f" (p {'' if loss.p_value < 0.001 else '= '}{p_words(loss.p_value)})"
    text += "."
    if errors.statistic.value is not None:
        text += f" Misclassifications become {number(errors.statistic.value)} times as many"
        low, high = errors.interval
        text += "." if low is None else f" ({_reach(low, high)})."
    if judged.verdict == EVIDENCE:
        return text
    if judged.reason:
        return f"{text} {judged.reason[:1].upper()}{judged.reason[1:]}."
    return f"{text} About {people(judged.people_needed or 0)} would be needed to settle it."


def _reach(low: float, high: float | None) -> str:
    return f"{number(low)} or more" if high is None else f"{number(low)}–{number(high)}"
