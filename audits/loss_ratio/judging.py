"""From the two tests to a verdict at any tolerance, without another look at the people."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from scipy.stats import norm

from audits.stats import INSUFFICIENT, Estimate, Verdict, verdict
from audits.stats.means import MeanTest
from audits.stats.paired import PairedRatio
from audits.stats.verdicts import POWER
from audits.stats.words import number, p_words, people

__all__ = ["Standing", "Tested", "stand"]


@dataclass(frozen=True)
class Tested:
    """A ratio held against the tolerance: Eq. 3.10 or 3.13.

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
        Whether T_n lies above the tolerance.
    """

    statistic: Estimate
    lower_bound: float | None
    interval: tuple[float | None, float | None]
    p_value: float | None
    tolerance: float
    reject: bool


@dataclass(frozen=True)
class Standing:
    """Verdict and finding at one tolerance."""

    loss: Tested
    errors: Tested
    verdict: Verdict
    people_needed: int | None
    finding: str


def stand(
    loss_test: MeanTest,
    error_test: PairedRatio,
    words: dict[str, Any],
    *,
    tolerance: float,
    level: float,
    material: float,
) -> Standing:
    """Hold both ratios against `tolerance`.

    Parameters
    ----------
    words : dict
        The ``directions`` in which people are moved, for the finding.
    material : float
        Silence counts only if a mean ratio of `material` times the tolerance would have been seen.
    """
    loss = _tested(loss_test, tolerance, level)
    errors = _tested(error_test, tolerance, level)
    power, needed = _power(loss_test, tolerance, level, material)
    judged = verdict(excludes_no_difference=loss.reject, power=power)
    people = needed if judged == INSUFFICIENT else None
    return Standing(
        loss, errors, judged, people, _finding(loss, errors, words, level, material, people, judged)
    )


def _tested(test: MeanTest | PairedRatio, tolerance: float, level: float) -> Tested:
    statistic, bound = test.interval(level), test.lower_bound(level)
    reject = bound is not None and bound > tolerance
    return Tested(
        statistic, bound, (statistic.low, statistic.high), test.p_value(tolerance), tolerance, reject
    )


def _power(test: MeanTest, tolerance: float, level: float, material: float) -> tuple[float, int]:
    """Power against a mean of `material` times the tolerance, and the people needed for 80 % of it.

    The spread of ratios grows with their mean, and is at least that of an exponential excess over 1:
    ten people who all have ratio 1 do not show that others have it too.
    """
    mean = material * tolerance
    spread = max(test.deviation * max(mean / test.mean, 1.0) if test.mean > 0 else 0.0, mean - 1)
    gap = mean - tolerance
    reach = gap * math.sqrt(max(test.n, 0.0)) / spread - float(norm.isf(level))
    needed = (spread * (float(norm.isf(level)) + float(norm.isf(1 - POWER))) / gap) ** 2
    return float(norm.cdf(reach)), math.ceil(needed)


def _finding(
    loss: Tested,
    errors: Tested,
    words: dict[str, Any],
    level: float,
    material: float,
    needed: int | None,
    judged: Verdict,
) -> str:
    low, high = loss.interval
    sure = "no interval" if low is None else f"{number(low)}–{number(high)}"
    text = (
        f"The model's loss for {people(loss.statistic.n)} is {number(loss.statistic.value)} "
        f"times as large on average ({sure}) once each is moved {words['directions']}"
    )
    if loss.lower_bound is None:
        return f"{text}; so few people allow no test."
    text += (
        f"; with {100 * (1 - level):.4g} % confidence at least {number(loss.lower_bound)} times, "
        f"{'above' if loss.reject else 'not above'} the tolerance of {number(loss.tolerance)}"
    )
    if loss.p_value is not None:
        text += f" (p {'' if loss.p_value < 0.001 else '= '}{p_words(loss.p_value)})"
    text += "."
    if errors.statistic.value is not None:
        text += f" Misclassifications become {number(errors.statistic.value)} times as many"
        low, high = errors.interval
        text += "." if low is None or high is None else f" ({number(low)}–{number(high)})."
    larger = number(material * loss.tolerance)
    if judged == INSUFFICIENT:
        return f"{text} About {needed:,} people would be needed to see a ratio of {larger}."
    if not loss.reject:
        return f"{text} A ratio of {larger} would have been seen at this size."
    return text
