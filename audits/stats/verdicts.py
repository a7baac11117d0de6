"""The three verdicts, each following from one interval, and nothing softer or louder than them.

An audit states one interval, corrected for how many it looked at. Where it excludes no difference, that is
`evidence of a difference`; where it lies wholly within what the auditor calls immaterial, `no material
difference` (two one-sided tests, Schuirmann 1987, here at half the level, because the interval is two-sided);
otherwise the evidence is insufficient. What is only an estimate of the quantity asked about can be no more
than insufficient, whatever its interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from audits.stats.estimate import Estimate

__all__ = [
    "DEFAULT_LEVEL",
    "EVIDENCE",
    "INSUFFICIENT",
    "MATERIAL_DIFFERENCE",
    "NO_MATERIAL",
    "POWER",
    "VERDICTS",
    "Judged",
    "Verdict",
    "judge",
    "judge_across",
    "worst_of",
]

Verdict = Literal["evidence of a difference", "no material difference", "insufficient evidence"]

EVIDENCE: Verdict = "evidence of a difference"
NO_MATERIAL: Verdict = "no material difference"
INSUFFICIENT: Verdict = "insufficient evidence"

VERDICTS: tuple[Verdict, ...] = (EVIDENCE, INSUFFICIENT, NO_MATERIAL)
"""In the order in which a reader should see them."""

DEFAULT_LEVEL = 0.05
"""Error rate of intervals, tests and verdicts unless the auditor says otherwise."""

MATERIAL_DIFFERENCE = 0.10
"""Difference of two shares that counts as material unless the auditor says otherwise."""

POWER = 0.8
"""Power to which numbers of people needed are worked out."""


_MOST_PEOPLE = 10**9  # beyond it a number of people settles nothing


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A verdict, and all that it follows from.

    Attributes
    ----------
    verdict : Verdict
    interval : Estimate
        The one interval that it follows from: badge, sentence, figure and report state this one.
    none_low, none_high : float or None
        Values that are no difference: 0 for a difference, 1 for a ratio, or a range up to the auditor's
        tolerance; None is without end.
    immaterial_low, immaterial_high : float or None
        Values that are no material difference; None is without end.
    material : bool or None
        For evidence: whether the estimate itself lies outside what is immaterial. None for other verdicts.
    p_value : float or None
        Of the test for no difference that has to agree, corrected like the interval; where an audit has no
        test of its own None.
    people_needed : int or None
        About how many people in each group would settle insufficient evidence.
    reason : str
        Why more people would not settle it, or what it rests on that is only an estimate; empty otherwise.
    """

    verdict: Verdict
    interval: Estimate
    none_low: float | None = 0.0
    none_high: float | None = 0.0
    immaterial_low: float | None = None
    immaterial_high: float | None = None
    material: bool | None = None
    p_value: float | None = None
    people_needed: int | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if self.people_needed is not None and self.people_needed > _MOST_PEOPLE:
            object.__setattr__(self, "people_needed", None)
            object.__setattr__(self, "reason", self.reason or "it would take more people than can be had")


def judge(
    interval: Estimate,
    *,
    none: float | tuple[float, float] = 0.0,
    immaterial: tuple[float, float],
    p_value: float | None = None,
    level: float = 0.05,
    people_needed: int | None = None,
    reason: str = "",
    only_estimated: str = "",
) -> Judged:
    """Return the verdict that follows from one interval.

    Parameters
    ----------
    interval : Estimate
        Estimate with its interval at `level`, corrected for how many were looked at; without ends where none
        can be had.
    none : float or pair of float
        The value, or closed range of values, that is no difference.
    immaterial : pair of float
        Closed range of values that do not matter to the auditor; holds `none`. ±inf is without end.
    p_value : float, optional
        Of a test for no difference, corrected likewise: evidence needs it to be at most `level` too.
    level : float
        Error rate of interval and test.
    people_needed : int, optional
        Stated with insufficient evidence.
    reason : str
        Why more people would not settle it; stated with insufficient evidence.
    only_estimated : str
        What the interval rests on that is only an estimate of the quantity asked about (a black-box search,
        a distrusted map): the verdict is then insufficient evidence, and this its reason.

    Examples
    --------
    >>> share = lambda value, low, high: Estimate(value, low, high, 100, "Newcombe 95 %")
    >>> judge(share(0.12, 0.03, 0.21), immaterial=(-0.1, 0.1)).verdict
    'evidence of a difference'
    >>> small = judge(share(0.04, 0.01, 0.07), immaterial=(-0.1, 0.1))
    >>> small.verdict, small.material
    ('evidence of a difference', False)
    >>> judge(share(0.01, -0.05, 0.07), immaterial=(-0.1, 0.1)).verdict
    'no material difference'
    >>> judge(share(0.05, -0.04, 0.14), immaterial=(-0.1, 0.1)).verdict
    'insufficient evidence'
    >>> judge(share(0.12, 0.03, 0.21), immaterial=(-0.1, 0.1), p_value=0.2).verdict
    'insufficient evidence'
    """
    first, last = none if isinstance(none, tuple) else (none, none)
    least, most = immaterial
    verdict, material = INSUFFICIENT, None
    if not only_estimated and _has_ends(interval):
        low, high = float(interval.low), float(interval.high)  # type: ignore[arg-type]
        excluded = low > last or high < first
        if excluded and (p_value is None or p_value <= level):
            verdict = EVIDENCE
            material = not least < float(interval.value) < most  # type: ignore[arg-type]
        elif least <= low and high <= most and not excluded:
            verdict = NO_MATERIAL
    insufficient = verdict == INSUFFICIENT
    return Judged(
        verdict=verdict,
        interval=interval,
        none_low=_end(first),
        none_high=_end(last),
        immaterial_low=_end(least),
        immaterial_high=_end(most),
        material=material,
        p_value=p_value,
        people_needed=people_needed if insufficient and not only_estimated else None,
        reason=(only_estimated or reason) if insufficient else "",
    )


def worst_of(parts: Iterable[Judged]) -> Judged:
    """Return the part that an audit's verdict rests on: evidence first, the largest material one first.

    Parts must have been corrected for one another. Among evidence that is material, and among parts that are
    not, the smallest p-value comes first, then the interval that lies farthest from no difference.
    """
    return min(parts, key=_rank)


def _rank(part: Judged) -> tuple[int, bool, float, float]:
    interval = part.interval
    gap = 0.0
    if _has_ends(interval):
        first = -math.inf if part.none_low is None else part.none_low
        last = math.inf if part.none_high is None else part.none_high
        gap = max(float(interval.low) - last, first - float(interval.high))  # type: ignore[arg-type]
    p = 1.0 if part.p_value is None else part.p_value
    return VERDICTS.index(part.verdict), part.material is False, p, -gap


def judge_across(judged: Judged, adjusted_p: float | None, *, level: float = 0.05) -> Judged:
    """Return the verdict of one audit after correction for all audits of a run.

    Evidence stays evidence where the audit's p-value, adjusted over the run, is at most `level`; otherwise
    it is insufficient, because what was seen may be the luck of many audits. Other verdicts stay.
    """
    if judged.verdict != EVIDENCE or (adjusted_p is not None and adjusted_p <= level):
        return judged
    return replace(
        judged,
        verdict=INSUFFICIENT,
        material=None,
        reason="among so many audits on the same people one such difference is likely by chance",
    )


def _has_ends(interval: Estimate) -> bool:
    return interval.value is not None and interval.low is not None and interval.high is not None


def _end(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
