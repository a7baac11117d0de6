"""The five badges, an icon and words each, made here alone: pages, reports, notebooks and the command line.

A badge says what a verdict comes to: how large against the auditor's limit, what would settle it, or why
nothing would. It has no color: icon and words carry it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, Protocol

from audits.stats.estimate import Estimate
from audits.stats.text import CURRENCIES, amount_stated
from audits.stats.vocabulary import vocabulary

__all__ = [
    "BADGES",
    "FOUR_FIFTHS",
    "ICONS",
    "Badge",
    "badge_text",
    "interval_text",
    "limit_words",
    "short_number",
    "size_against_limit",
]

FOUR_FIFTHS = 0.8
"""Ratio of two decision rates beyond which a difference is material, either way."""

_NOTHING = 1e-9  # what rounding leaves of no difference

Badge = Literal["difference", "small difference", "cannot tell yet", "no verdict", "no material difference"]

BADGES: tuple[Badge, ...] = (
    "difference",
    "small difference",
    "cannot tell yet",
    "no verdict",
    "no material difference",
)
"""In order of weight: a place with several audits shows the first of these."""

ICONS: dict[Badge, str] = {
    "difference": "●",
    "small difference": "◐",
    "cannot tell yet": "○",
    "no verdict": "◌",
    "no material difference": "✓",
}
_NAMES: dict[Badge, str] = {
    "difference": "Difference found",
    "small difference": "Small difference",
    "cannot tell yet": "Can't tell yet",
    "no verdict": "No verdict",
    "no material difference": "No material difference",
}


_FORMULA = re.compile(r" [=≠<≤≥&→] ")
"""In the name of a group, which the sentence says in words."""


class _JudgmentLike(Protocol):
    """What a badge is made of; see `audits.stats.verdicts.Judgment`."""

    @property
    def badge(self) -> Badge: ...
    @property
    def interval(self) -> Estimate: ...
    @property
    def none_low(self) -> float | None: ...
    @property
    def none_high(self) -> float | None: ...
    @property
    def immaterial_low(self) -> float | None: ...
    @property
    def immaterial_high(self) -> float | None: ...
    @property
    def material(self) -> bool | None: ...
    @property
    def people_needed(self) -> int | None: ...
    @property
    def reason(self) -> str: ...
    @property
    def see(self) -> str: ...
    @property
    def decided_by(self) -> str: ...
    @property
    def times(self) -> float: ...
    @property
    def unit(self) -> str: ...


@dataclass(frozen=True)
class _Limit:
    """What the auditor calls material, from no difference outward, on the side of the estimate."""

    none: float
    at: float

    @property
    def width(self) -> float:
        return abs(self.at - self.none)


def badge_text(judged: _JudgmentLike) -> str:
    """Return a badge's icon and words.

    Examples
    --------
    >>> from audits.stats import Estimate, judge
    >>> share = lambda value, low, high: Estimate(value, low, high, 100, "Newcombe 95%")
    >>> badge_text(judge(share(0.25, 0.12, 0.38), immaterial=(-0.1, 0.1)))
    '● Difference found'
    >>> badge_text(judge(share(0.12, 0.03, 0.21), immaterial=(-0.1, 0.1)))
    '● Difference found · may be less than your 10 points'
    >>> badge_text(judge(share(0.04, 0.01, 0.07), immaterial=(-0.1, 0.1)))
    '◐ Small difference'
    >>> badge_text(judge(share(0.05, -0.04, 0.14), immaterial=(-0.1, 0.1), people_needed=8712))
    "○ Can't tell yet · needs about 8,700 people"
    >>> badge_text(judge(share(0.05, -0.04, 0.14), immaterial=(-0.1, 0.1), reason="nobody is comparable"))
    '◌ No verdict · nobody is comparable'
    >>> badge_text(judge(share(0.01, -0.05, 0.07), immaterial=(-0.1, 0.1)))
    '✓ No material difference · on average, limit 10 points'
    """
    badge = judged.badge
    more = ""
    if badge == "difference":
        limit = limit_words(judged)
        more = (
            f"may be less than your {limit}"
            if limit and judged.material is None and judged.interval.low is not None
            else ""
        )
    elif badge == "small difference":
        more = f"on average; see {judged.see}" if judged.see else ""
    elif badge == "cannot tell yet":
        needs = f"needs about {_round(judged.people_needed):,} people" if judged.people_needed else ""
        more = "; ".join(filter(None, [needs, judged.see and f"see {judged.see}"]))
    elif badge == "no verdict":
        more = "; ".join(filter(None, [judged.reason, judged.see and f"see {judged.see}"]))
    elif badge == "no material difference":
        limit = limit_words(judged)
        more = f"; see {judged.see}" if judged.see else f", limit {limit}" if limit else ""
        more = f"on average{more}"
    return " · ".join(filter(None, [f"{ICONS[badge]} {_NAMES[badge]}", more]))


def interval_text(judged: _JudgmentLike) -> str:
    """Return the interval that a verdict follows from, in the unit of its limit; empty where it has no ends.

    Examples
    --------
    >>> import dataclasses
    >>> from audits.stats import Estimate, judge
    >>> share = Estimate(0.13, 0.01, 0.25, 100, "Newcombe 95%")
    >>> interval_text(judge(share, immaterial=(-0.1, 0.1)))
    '13 points (1 to 25)'
    >>> interval_text(judge(Estimate(1.594, 1.3, None, 100, "MOVER-R"), none=1.0, immaterial=(0.8, 1.25)))
    '1.59 times (1.3 or more)'
    >>> burden = judge(Estimate(0.0463, -0.0551, 0.148, 100, "Welch"), immaterial=(-0.2, 0.2))
    >>> interval_text(dataclasses.replace(burden, unit="standard deviations"))
    '0.05 standard deviations (−0.06 to 0.15)'
    """
    interval = judged.interval
    if interval.value is None or (interval.low is None and interval.high is None):
        return ""
    if judged.unit[:1] in CURRENCIES:
        return amount_stated(interval, judged.unit)
    scale, unit = _unit(judged)
    decimals = 1 if unit == " points" else 2
    value, low, high = (
        None if end is None else short_number(scale * end, decimals)
        for end in (interval.value, interval.low, interval.high)
    )
    reach = f"{low} to {high}" if low and high else f"{low} or more" if low else f"up to {high}"
    named = judged.decided_by == "average" or _FORMULA.search(judged.decided_by)  # in the sentence beside it
    about = judged.decided_by.removeprefix("level: ")
    where = "" if named else f" · {vocabulary().group(about.rpartition(': ')[2]) or about}"
    return f"{value}{unit} ({reach}){where}"


def short_number(value: float, decimals: int = 2) -> str:
    """Word a number as it is read: whole from 10, few decimals below; only what is 0 is said to be 0.

    Examples
    --------
    >>> short_number(-26.96), short_number(1.594), short_number(0.0463), short_number(-5.4e-18)
    ('−27', '1.59', '0.05', '0')
    >>> short_number(8.651, 1), short_number(0.00042)
    ('8.7', '0.0004')
    """
    value = 0.0 if abs(value) < _NOTHING else value
    if value and abs(value) < 0.5 * 10.0**-decimals:
        decimals = -math.floor(math.log10(abs(value)))  # one digit of its own
    text = f"{value:.{0 if abs(value) >= 9.95 else decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return ("0" if text == "-0" else text).replace("-", "−")


def size_against_limit(judged: _JudgmentLike) -> float:
    """Return how far the estimate lies from no difference, in units of the limit.

    Examples
    --------
    >>> from audits.stats import Estimate, judge
    >>> gap = Estimate(-0.28, -0.31, -0.25, 100, "Newcombe 95%")
    >>> round(size_against_limit(judge(gap, immaterial=(-0.1, 0.1))), 2)
    2.8
    """
    value = judged.interval.value
    limit = _limit(judged)
    if value is None or limit is None or limit.width == 0:
        return 0.0
    return abs(value - limit.none) / limit.width


def limit_words(judged: _JudgmentLike) -> str:
    """Return the limit as the auditor wrote it; empty where it was computed from the data.

    Examples
    --------
    >>> from audits.stats import Estimate, judge
    >>> limit_words(judge(Estimate(1.1, 0.9, 1.2, 100, "bootstrap"), none=1.0, immaterial=(0.8, 1.25)))
    '1.25 times'
    >>> limit_words(judge(Estimate(0.03, 0.02, 0.04, 900, "Newcombe 95%"), immaterial=(-0.035, 0.04375)))
    'ratio of 0.8'
    """
    limit = _limit(judged)
    if limit is None or limit.width == 0:
        return ""
    if judged.unit and judged.unit != "points":
        return ""  # a share of the mean
    low, high = judged.immaterial_low, judged.immaterial_high
    if judged.none_low == 0 and low and high and abs(FOUR_FIFTHS * high + low) < 1e-9:
        return f"ratio of {FOUR_FIFTHS}"
    if limit.none >= 1:
        return f"{limit.at:.3g} times"
    return _points(limit.width) if abs(limit.at) < 1 else ""


def _unit(judged: _JudgmentLike) -> tuple[float, str]:
    """Return what an interval is multiplied by and called: its own unit, or that of either side's limit."""
    if judged.unit:
        return 100.0 if judged.unit == "points" else 1.0, f" {judged.unit}"
    ends = [judged.immaterial_low, judged.immaterial_high]
    words = [
        limit_words(judged),
        *(_points(end / judged.times) for end in ends if end and judged.none_low == 0),
    ]
    if any(each.endswith("points") or each.startswith("ratio") for each in words):
        return 100.0, " points"
    return 1.0, " times" if words[0] else ""


def _points(share: float) -> str:
    """Word a limit on shares that someone chose: to a tenth of a point; empty for any other."""
    points = 100 * abs(share)
    return f"{points:g} points" if points < 100 and abs(points - round(points, 1)) < 1e-9 else ""


def _limit(judged: _JudgmentLike) -> _Limit | None:
    """The limit on the estimate's side; where that side has none, the other."""
    sides = [(judged.none_high, judged.immaterial_high), (judged.none_low, judged.immaterial_low)]
    value = judged.interval.value
    if value is not None and judged.none_low is not None and value < judged.none_low:
        sides.reverse()
    found = ((none, at) for none, at in sides if none is not None and at is not None)
    return next((_Limit(none, none + (at - none) / judged.times) for none, at in found), None)


def _round(people: int) -> int:
    """Two digits: the number is about so many.

    Examples
    --------
    >>> [_round(each) for each in (7, 96, 8712, 1049)]
    [7, 96, 8700, 1000]
    """
    return round(people, min(0, 2 - len(str(people))))
