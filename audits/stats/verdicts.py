"""The three verdicts, each following from one interval, and nothing softer or louder than them.

An audit states one interval, corrected for how many it looked at. Where it excludes no difference, that is
`evidence of a difference`; where it lies wholly within what the auditor calls immaterial, `no material
difference` (two one-sided tests, Schuirmann 1987, here at half the level, because the interval is two-sided);
otherwise the evidence is insufficient. What is only an estimate of the quantity asked about can be no more
than insufficient, whatever its interval.

An audit that looks at an average and at its levels states one `Condition` for each: any of them can be
evidence, and only all of them together clear (`judge_conditions`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.stats.badges import (
    AVERAGE,
    BADGES,
    EVIDENCE,
    FOUR_FIFTHS,
    INSUFFICIENT,
    NO_MATERIAL,
    VERDICTS,
    Badge,
    Judgment,
    Verdict,
)
from audits.stats.estimate import Estimate

__all__ = [
    "AVERAGE",
    "BADGES",
    "DEFAULT_LEVEL",
    "EVIDENCE",
    "FOUR_FIFTHS",
    "INSUFFICIENT",
    "LOW_RATE",
    "MATERIAL_DIFFERENCE",
    "NO_MATERIAL",
    "POWER",
    "VERDICTS",
    "Badge",
    "Condition",
    "Judgment",
    "Verdict",
    "exceeds",
    "judge",
    "judge_across",
    "judge_conditions",
    "judged_of",
    "limit_name",
    "limit_of",
    "on_ratio",
    "settle_all",
    "worst_of",
]

DEFAULT_LEVEL = 0.05
"""Error rate of intervals, tests and verdicts unless the auditor says otherwise."""

MATERIAL_DIFFERENCE = 0.10
"""Difference of two shares that counts as material unless the auditor says otherwise."""

LOW_RATE = 0.2
"""Overall rate below which the ratio is compared with the limit, too."""

_ROUNDING = 1e-12

RUN = 20  # audits: a p-value of a twentieth of the level stands beside as many

POWER = 0.8
"""Power for which the number of people needed is calculated."""


def exceeds(value: float, limit: float) -> bool:
    """Return whether a number lies above a limit by more than what rounding leaves.

    Examples
    --------
    >>> exceeds(0.4 - 0.3, 0.1), exceeds(0.8, 0.32 / 0.4), exceeds(0.1001, 0.1)
    (False, False, True)
    """
    return value > limit and not math.isclose(value, limit, rel_tol=_ROUNDING, abs_tol=1e-15)


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
    cannot_clear: str = "",
    decided_by: str = AVERAGE,
) -> Judgment:
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
    cannot_clear : str
        Why the test can fail a model but never clear it: what is no evidence is then insufficient, and this
        its reason, as no number of people would settle it without a difference. Nor is evidence small.
    decided_by : str
        Name of what the interval is of, where an audit looks at several things.

    Examples
    --------
    >>> share = lambda value, low, high: Estimate(value, low, high, 100, "Newcombe 95%")
    >>> judge(share(0.12, 0.03, 0.21), immaterial=(-0.1, 0.1)).verdict
    'evidence of a difference'
    >>> small = judge(share(0.04, 0.01, 0.07), immaterial=(-0.1, 0.1))
    >>> small.verdict, small.material, small.badge
    ('evidence of a difference', False, 'small difference')
    >>> wide = judge(share(0.09, 0.01, 0.25), immaterial=(-0.1, 0.1))
    >>> wide.verdict, wide.material, wide.badge
    ('evidence of a difference', None, 'difference')
    >>> judge(share(0.01, -0.05, 0.07), immaterial=(-0.1, 0.1)).verdict
    'no material difference'
    >>> judge(share(0.05, -0.04, 0.14), immaterial=(-0.1, 0.1)).verdict
    'insufficient evidence'
    >>> judge(share(0.12, 0.03, 0.21), immaterial=(-0.1, 0.1), p_value=0.2).verdict
    'insufficient evidence'
    """
    first, last = none if isinstance(none, tuple) else (none, none)
    least, most = immaterial
    verdict: Verdict = INSUFFICIENT
    excluded = inside = False
    if _has_ends(interval):
        low, high = float(interval.low), float(interval.high)  # type: ignore[arg-type]
        excluded, inside = low > last or high < first, _is_inside(low, high, least, most)
    if not only_estimated and excluded and (p_value is None or p_value <= level):
        verdict = EVIDENCE
    elif not only_estimated and not cannot_clear and inside and not excluded:
        verdict = NO_MATERIAL
    insufficient, withheld = verdict == INSUFFICIENT, only_estimated or cannot_clear
    size = _material(interval, least, most)
    return Judgment(
        verdict=verdict,
        interval=interval,
        none_low=_end(first),
        none_high=_end(last),
        immaterial_low=_end(least),
        immaterial_high=_end(most),
        material=size or None if cannot_clear and verdict == EVIDENCE else size,
        p_value=p_value,
        people_needed=people_needed if insufficient and not withheld else None,
        reason=(withheld or reason) if insufficient else "",
        decided_by=decided_by,
    )


def _material(interval: Estimate, least: float, most: float) -> bool | None:
    """Whether the interval lies outside the limit, inside it, or neither."""
    if not _has_ends(interval):
        return None
    low, high = float(interval.low), float(interval.high)  # type: ignore[arg-type]
    if _is_inside(low, high, least, most):
        return False
    return None if exceeds(most, low) and exceeds(high, least) else True


def _is_inside(low: float, high: float, least: float, most: float) -> bool:
    return not exceeds(least, low) and not exceeds(high, most)


def on_ratio(material_on: str, overall: float | None) -> bool:
    """Return whether the limit is on the ratio of two decision rates, beside their difference or alone."""
    if overall == 0:  # where nobody is favored there is no ratio
        return False
    low = overall is not None and overall < LOW_RATE
    return material_on == "ratio" or (material_on == "either" and low)


def limit_of(
    material: float, material_on: str, *, rate: float | None, overall: float | None
) -> tuple[float, float]:
    """Return the differences from a decision rate that are immaterial.

    Parameters
    ----------
    material : float
        Smallest difference that matters to you.
    material_on : {"difference", "ratio", "either"}
        What the limit is on; "either" holds the ratio against it where the overall rate is below 20%.
    rate, overall : float or None
        The rate that another is compared with, and that of all who are compared; None where unknown. Where
        nobody is favored there is no ratio.

    Examples
    --------
    >>> limit_of(0.1, "either", rate=0.5, overall=0.45), limit_of(0.1, "ratio", rate=0.5, overall=0.45)
    ((-0.1, 0.1), (-0.1, 0.125))
    >>> limit_of(0.1, "either", rate=0.1, overall=0.08)
    (-0.02, 0.025)
    """
    if rate is None:
        return -material, material
    # without an overall rate only a limit that is on ratios alone is on them
    everyone = np.array([1.0 if overall is None else overall])
    low, high = limits_of(material, material_on, rate=np.array([rate]), overall=everyone)
    return float(low[0]), float(high[0])


def limit_name(material: float, material_on: str, limit: float) -> str:
    """Return what a `limit` on differences is called where a ratio of rates makes it, else nothing."""
    return f"ratio of {FOUR_FIFTHS}" if material_on == "ratio" or limit < material - 1e-12 else ""


def limits_of(
    material: float, material_on: str, *, rate: np.ndarray, overall: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of many differences, as `limit_of` those of one.

    Parameters
    ----------
    rate, overall : float array (n,)

    Returns
    -------
    low, high : float array (n,)
    """
    ratio = (overall > 0) & ((material_on == "ratio") | ((material_on == "either") & (overall < LOW_RATE)))
    most = np.inf if material_on == "ratio" else material
    low, high = ((rate * (bound - 1)).round(12) for bound in (FOUR_FIFTHS, 1 / FOUR_FIFTHS))
    return np.where(ratio, np.maximum(low, -most), -material), np.where(
        ratio, np.minimum(high, most), material
    )


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One thing that an audit looks at: a quantity, its interval, and the limit that it is held to.

    Attributes
    ----------
    name : str
        ``"average"``, ``"level: gpa 3.0–3.4"``, ``"ratio"``: what `Judgment.decided_by` says.
    interval : Estimate
        Simultaneous over the conditions of the audit.
    immaterial : pair of float
        Closed range of values that an all-clear needs; ±inf is without end.
    times : float
        How many times the auditor's limit that is, as for levels: evidence is held to the limit itself.
    none : float or pair of float
        The value, or closed range of values, that is no difference.
    p_value : float, optional
        Of a test for no difference, corrected likewise.
    accuses : bool
        Whether it can be evidence; where not, it only has to hold for the audit to clear.
    """

    name: str
    interval: Estimate
    immaterial: tuple[float, float]
    none: float | tuple[float, float] = 0.0
    p_value: float | None = None
    accuses: bool = True
    times: float = 1.0

    @property
    def limit(self) -> tuple[float, float]:
        """The auditor's limit."""
        none = self.none if isinstance(self.none, tuple) else (self.none, self.none)
        low, high = ((at - end) / self.times + end for at, end in zip(self.immaterial, none, strict=True))
        return low, high


def judge_conditions(
    conditions: Sequence[Condition],
    *,
    level: float = DEFAULT_LEVEL,
    people_needed: int | None = None,
    reason: str = "",
    only_estimated: str = "",
    cannot_clear: str = "",
) -> Judgment:
    """Return the verdict that follows from several conditions, stated by the interval that decides.

    One condition that accuses and excludes no difference is evidence; the one that excludes it by most, in
    widths of its own interval, decides, of those that are surely material where one's p-value stands in any
    run's correction. Otherwise all have to lie inside their limits for the audit to clear, and the nearest
    one to failing, or failing by most, decides; of an all-clear one that holds no difference.

    Parameters
    ----------
    conditions : sequence of Condition
        At least one; the first is the one that a tie goes to.
    level, people_needed, reason, only_estimated, cannot_clear
        As in `judge`.

    Examples
    --------
    >>> share = lambda value, low, high: Estimate(value, low, high, 100, "Newcombe 95%")
    >>> average = Condition(name="average", interval=share(0.0, -0.05, 0.05), immaterial=(-0.1, 0.1))
    >>> mothers = Condition(name="level: parent", interval=share(-0.4, -0.5, -0.3), immaterial=(-0.2, 0.2))
    >>> fathers = Condition(name="level: no parent", interval=share(0.1, -0.05, 0.25), immaterial=(-0.2, 0.2))
    >>> found = judge_conditions([average, mothers])
    >>> found.verdict, found.decided_by
    ('evidence of a difference', 'level: parent')
    >>> found = judge_conditions([average, fathers])
    >>> found.verdict, found.decided_by
    ('insufficient evidence', 'level: no parent')
    >>> judge_conditions([average]).verdict
    'no material difference'
    >>> older = Condition(name="level: older", interval=share(0.1, 0.02, 0.19), immaterial=(-0.2, 0.2),
    ...                   accuses=False)
    >>> found = judge_conditions([average, older])
    >>> found.verdict, found.decided_by
    ('no material difference', 'average')
    """

    def held_to(each: Condition, immaterial: tuple[float, float]) -> Judgment:
        return judge(
            each.interval,
            none=each.none,
            immaterial=immaterial,
            p_value=each.p_value,
            level=level,
            people_needed=people_needed,
            reason=reason,
            only_estimated=only_estimated,
            cannot_clear=cannot_clear,
            decided_by=each.name,
        )

    judged = [held_to(each, each.immaterial) for each in conditions]
    pairs = list(zip(judged, conditions, strict=True))
    evident = [
        (held_to(each, each.limit), each) for part, each in pairs if each.accuses and part.verdict == EVIDENCE
    ]
    if evident:

        def rank(pair: tuple[Judgment, Condition]) -> tuple[bool, float]:
            stands = outlasts_run(pair[1].p_value, level) and pair[0].material is True
            return stands, _beyond_none(pair[0])

        decides, own = max(evident, key=rank)
        others = [part for part, each in pairs if each is not own]
        return replace(decides, material=_material_of_all([decides, *others]))
    inside = all(
        part.verdict == NO_MATERIAL or (part.material is False and not each.accuses) for part, each in pairs
    )
    clear = inside and not only_estimated and not cannot_clear
    # what only has to hold may leave out no difference inside its limit: an all-clear is not stated by that
    decides, own = min(pairs, key=lambda pair: (clear and pair[0].verdict != NO_MATERIAL, _room(pair[0])))
    decides = replace(decides, times=own.times)
    if clear:
        return replace(decides, verdict=NO_MATERIAL, people_needed=None, reason="")
    withheld = only_estimated or cannot_clear
    return replace(
        decides,
        verdict=INSUFFICIENT,
        people_needed=None if withheld else people_needed,
        reason=withheld or reason,
    )


def outlasts_run(p_value: float | None, level: float) -> bool:
    """Whether evidence stays evidence after the correction for all audits of any run."""
    return p_value is not None and p_value <= level / RUN


def place_of_evidence(material: bool | None, *, outlasts: bool) -> int:
    """Place of evidence among other: first what is not surely small and outlasts a run's correction."""
    places = {True: 0, None: 1, False: 3} if outlasts else {True: 2, None: 4, False: 5}
    return places[material]


def _material_of_all(judged: Sequence[Judgment]) -> bool | None:
    """Outside one limit is material; only inside all of them is not."""
    if any(part.material for part in judged):
        return True
    return False if all(part.material is False for part in judged) else None


def _beyond_none(part: Judgment) -> float:
    """By how many widths of its own the interval lies beyond no difference."""
    low, high = float(part.interval.low), float(part.interval.high)  # type: ignore[arg-type]
    first = -math.inf if part.none_low is None else part.none_low
    last = math.inf if part.none_high is None else part.none_high
    return round(max(low - last, first - high) / max(high - low, 1e-12), 9)


def _room(part: Judgment) -> float:
    """How far inside its limit the interval ends, in widths of the limit; negative where it passes it."""
    if not _has_ends(part.interval):
        return -math.inf
    low, high = float(part.interval.low), float(part.interval.high)  # type: ignore[arg-type]
    rooms = []
    for end, limit in ((low, part.immaterial_low), (high, part.immaterial_high)):
        if limit is not None:
            none = part.none_low if limit == part.immaterial_low else part.none_high
            width = abs(limit - (none or 0.0)) or 1.0
            rooms.append((end - limit if limit == part.immaterial_low else limit - end) / width)
    return round(min(rooms, default=math.inf), 9)


def judged_of(result: Any) -> Judgment:
    """Return what an audit's verdict follows from; without an interval where a plugin states none."""
    found: Judgment | None = getattr(result, "judged", None)
    if found is not None:
        return found
    return Judgment(verdict=result.verdict, interval=Estimate(None, None, None, 0.0, "not stated"))


def worst_of(parts: Iterable[Judgment]) -> Judgment:
    """Return the part that an audit's verdict rests on: evidence first, the largest material one first.

    Parts must have been corrected for one another. Among evidence that is material, and among parts that are
    not, the smallest p-value comes first, then the interval that lies farthest from no difference.
    """
    return min(parts, key=_rank)


def settle_all(
    parts: Iterable[Judgment | None], people: str, *, sizes: Sequence[float] = (), everyone: float
) -> tuple[Judgment | None, ...]:
    """Say of each part how many `people` in all settle every part, not how many of its own settle it alone.

    Parameters
    ----------
    parts : iterable of Judgment or None
        All grow alike. Where one that is open does not say how many it needs, no number is known.
    sizes : sequence of float
        Of how many people each says it; by default those of its interval.
    everyone : float
        People in all.

    Examples
    --------
    >>> one = lambda n, needs: judge(Estimate(0.0, -0.2, 0.2, n, "drawn"), immaterial=(-0.1, 0.1),
    ...                              people_needed=needs)
    >>> [part.people_needed for part in settle_all([one(990, 2000), one(10, 80)], "people", everyone=1000)]
    [8000, 8000]
    """
    parts = tuple(parts)
    of = sizes or [part.interval.n if part else 0.0 for part in parts]
    times = max(
        (
            (part.people_needed or math.inf) / n
            for part, n in zip(parts, of, strict=True)
            if part and part.verdict == INSUFFICIENT
        ),
        default=math.inf,
    )
    needed = math.ceil(round(times * everyone, 6)) if math.isfinite(times) else None
    return tuple(
        replace(part, people_needed=needed, people_of=people)
        if part and part.people_needed is not None
        else part
        for part in parts
    )


def _rank(part: Judgment) -> tuple[int, bool, float, float]:
    interval = part.interval
    gap = 0.0
    if _has_ends(interval):
        first = -math.inf if part.none_low is None else part.none_low
        last = math.inf if part.none_high is None else part.none_high
        gap = max(float(interval.low) - last, first - float(interval.high))  # type: ignore[arg-type]
    p = 1.0 if part.p_value is None else part.p_value
    return VERDICTS.index(part.verdict), part.material is False, float(f"{p:.9g}"), round(-gap, 9)


def judge_across(judged: Judgment, adjusted_p: float | None, *, level: float = 0.05) -> Judgment:
    """Return the verdict of one audit after correction for all audits of a run.

    Evidence stays evidence where the audit's p-value, adjusted over the run, is at most `level`; otherwise
    it is insufficient, because what was seen may be the luck of many audits. Other verdicts stay.
    """
    if judged.verdict != EVIDENCE or (adjusted_p is not None and adjusted_p <= level):
        return judged
    return replace(judged, verdict=INSUFFICIENT)


def _has_ends(interval: Estimate) -> bool:
    return interval.value is not None and interval.low is not None and interval.high is not None


def _end(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
