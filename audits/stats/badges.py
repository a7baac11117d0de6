"""A verdict with all that it follows from, and its badge: one of five, an icon and words, made here alone.

A badge says what a verdict comes to, on pages, in reports, notebooks and on the command line: how large
against the auditor's limit, what would settle it, or why nothing would. It has no color: icon and words carry
it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Literal, get_args

from audits.stats.estimate import Estimate
from audits.stats.text import CURRENCIES, amount, amount_stated, people_in, says_little
from audits.stats.vocabulary import vocabulary
from audits.text import points_words

Verdict = Literal["evidence of a difference", "no material difference", "insufficient evidence"]

EVIDENCE: Verdict = "evidence of a difference"
NO_MATERIAL: Verdict = "no material difference"
INSUFFICIENT: Verdict = "insufficient evidence"

VERDICTS: tuple[Verdict, ...] = (EVIDENCE, INSUFFICIENT, NO_MATERIAL)
"""In the order in which to show them."""

AVERAGE = "average"
"""The deciding condition, unless an audit has several."""

FOUR_FIFTHS = 0.8
"""Ratio of two decision rates beyond which a difference is material, either way."""

_MAX_PEOPLE = 10**9  # beyond it a number of people settles nothing
_NOTHING = 1e-9  # what rounding leaves of no difference

Badge = Literal["difference", "small difference", "cannot tell yet", "no verdict", "no material difference"]

BADGES: tuple[Badge, ...] = get_args(Badge)
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


@dataclass(frozen=True, kw_only=True)
class Judgment:
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
        Whether the interval lies wholly outside the limit of what is immaterial (True), wholly inside it
        (False), or neither (None, also of evidence where nothing can be cleared). Where several limits hold
        (a difference and a ratio), outside one is True, and only inside all is False.
    p_value : float or None
        Of the test for no difference that has to agree, corrected like the interval; where an audit has no
        test of its own None.
    people_needed : int or None
        About how many people would settle insufficient evidence.
    people_of : str
        Who they are: ``"women"``, ``"people in each group"``; empty for people of any group.
    reason : str
        Why more people would not settle it, or what it rests on that is only an estimate; empty otherwise.
    decided_by : str
        The condition whose interval it is: ``"average"``, ``"level: gpa 3.0–3.4"``.
    see : str
        What the run's search found in the attribute that this clears on average, or whom an average hides;
        empty where nothing.
    times : float
        How many times the auditor's limit the immaterial values are, as where a level decides an all-clear.
    unit : str
        What the values are counted in where the limit does not tell: ``"standard deviations"``, or
        ``"points"`` of shares, which are a hundredth.
    limit_name : str
        What the auditor's limit is called where these values were computed from it: ``"ratio of 0.8"``.
    missing : tuple of (str, str)
        Verdicts that people whose outcome is missing do not allow, of a change towards another model neither,
        each with the reason.
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
    decided_by: str = AVERAGE
    see: str = ""
    times: float = 1.0
    unit: str = ""
    limit_name: str = ""
    missing: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    people_of: str = ""

    @property
    def badge_text(self) -> str:
        """The badge's icon and words."""
        return badge_text(self)

    @property
    def badge(self) -> Badge:
        """What pages show of it: the verdict, its size against the limit, and what would settle it."""
        if self.verdict == EVIDENCE:
            return "small difference" if self.material is False else "difference"
        if self.verdict == NO_MATERIAL:
            return "no material difference"
        return "no verdict" if self.reason and self.people_needed is None else "cannot tell yet"

    def __post_init__(self) -> None:
        if self.people_needed is not None and self.people_needed > _MAX_PEOPLE:
            object.__setattr__(self, "people_needed", None)
            object.__setattr__(self, "reason", self.reason or "it would take more people than there could be")


@dataclass(frozen=True)
class _Limit:
    """What the auditor calls material, from no difference outward, on the side of the estimate."""

    none: float
    at: float

    @property
    def width(self) -> float:
        return abs(self.at - self.none)


def badge_text(judged: Judgment) -> str:
    """Return a badge's icon and words.

    Examples
    --------
    >>> import dataclasses
    >>> from audits.stats import Estimate, judge
    >>> share = lambda value, low, high: Estimate(value, low, high, 100, "Newcombe 95%")
    >>> badge_text(judge(share(0.25, 0.12, 0.38), immaterial=(-0.1, 0.1)))
    '● Difference found'
    >>> badge_text(judge(share(0.12, 0.03, 0.21), immaterial=(-0.1, 0.1)))
    '● Difference found · may be less than your 10 points'
    >>> dollars = judge(Estimate(1.8, 1.0, 2.6, 300, "Welch"), immaterial=(-1.2, 1.2))
    >>> badge_text(dataclasses.replace(dollars, unit="$"))
    '● Difference found · may be less than your limit'
    >>> badge_text(judge(Estimate(0.77, 0.66, 0.89, 400, "drawn"), none=1.0, immaterial=(0.8, 1.25)))
    '● Difference found · may be within your limit (0.8 times)'
    >>> none, limit = (-math.inf, 1.25), (-math.inf, 1.5625)
    >>> error = judge(Estimate(3.98, 1.34, 7.13, 395, "t"), none=none, immaterial=limit)
    >>> badge_text(dataclasses.replace(error, limit_name="1.25 times your limit"))
    '● Difference found · may be within 1.25 times your limit'
    >>> badge_text(judge(share(0.04, 0.01, 0.07), immaterial=(-0.1, 0.1)))
    '◐ Small difference'
    >>> badge_text(judge(share(0.05, -0.04, 0.14), immaterial=(-0.1, 0.1), people_needed=8712))
    "○ Can't tell yet · needs about 8,700 people"
    >>> few = judge(share(0.05, -0.04, 0.14), immaterial=(-0.1, 0.1), people_needed=450)
    >>> badge_text(dataclasses.replace(few, people_of="women"))
    "○ Can't tell yet · needs about 450 women"
    >>> badge_text(judge(share(0.05, -0.04, 0.14), immaterial=(-0.1, 0.1), reason="nobody is comparable"))
    '◌ No verdict · nobody is comparable'
    >>> badge_text(judge(share(0.01, -0.05, 0.07), immaterial=(-0.1, 0.1)))
    '✓ No material difference · on average, limit 10 points'
    """
    badge = judged.badge
    more = ""
    if badge == "difference":
        unsure = judged.material is None and judged.interval.low is not None
        if unsure and (at := _limit(judged)) is not None and at.width:
            limit = limit_words(judged)
            more = f"may be less than your {limit or 'limit'}"
            if limit.endswith("your limit"):
                more = f"may be within {limit}"
            elif limit.startswith("ratio") or limit.endswith("times"):  # one below 1 is beyond its limit
                more = f"may be within your limit ({limit})"
    elif badge == "small difference":
        more = f"on average; see {judged.see}" if judged.see else ""
    elif badge == "cannot tell yet":
        needs = (
            f"needs about {_round(judged.people_needed):,} {judged.people_of or vocabulary().people}"
            if judged.people_needed
            else ""
        )
        more = "; ".join(filter(None, [needs, judged.see and f"see {judged.see}"]))
    elif badge == "no verdict":
        more = "; ".join(filter(None, [judged.reason, judged.see and f"see {judged.see}"]))
    elif badge == "no material difference":
        limit = limit_words(judged)
        more = f"; see {judged.see}" if judged.see else f", limit {limit}" if limit else ""
        more = f"on average{more}"
    return " · ".join(filter(None, [f"{ICONS[badge]} {_NAMES[badge]}", more]))


def interval_text(judged: Judgment) -> str:
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
    >>> interval_text(dataclasses.replace(burden, unit="crimes"))
    '0.0463 crimes (−0.0551 to 0.148)'
    >>> unread = Estimate(0.0, 0.0, 0.0, 256, "exact: the model does not read it")
    >>> interval_text(judge(unread, immaterial=(-0.1, 0.1)))
    'exactly 0 points'
    >>> open_share = Estimate(0.09, -0.05, 0.22, 100, "Newcombe 95%")
    >>> interval_text(judge(open_share, immaterial=(-0.2, 0.2), decided_by="level: history = none"))
    '9 points (−5 to 22) · history = none'
    >>> interval_text(dataclasses.replace(burden, decided_by="race: Black"))
    '4.6 points (−5.5 to 15) · Black people'
    >>> interval_text(dataclasses.replace(burden, decided_by="black: yes"))
    '4.6 points (−5.5 to 15) · people in “black yes”'
    """
    interval = judged.interval
    if interval.value is None or (interval.low is None and interval.high is None):
        return ""
    if judged.unit[:1] in CURRENCIES:
        return amount_stated(interval, judged.unit)
    scale, unit = _unit(judged)
    decimals = 1 if unit == " points" else 2
    of_amounts = judged.unit not in {"", "points", "standard deviations", "apart"}  # as sentences word them
    value, low, high = (
        None if end is None else amount(end) if of_amounts else short_number(scale * end, decimals)
        for end in (interval.value, interval.low, interval.high)
    )
    reach = f"{low} to {high}" if low and high else f"{low} or more" if low else f"up to {high}"
    # the sentence beside it names what accuses, and no level otherwise
    unsaid = judged.decided_by.startswith("level: ") and judged.verdict != EVIDENCE
    named = judged.decided_by == AVERAGE or (_FORMULA.search(judged.decided_by) and not unsaid)
    about = judged.decided_by.removeprefix("level: ")
    attribute, _, group = about.rpartition(": ")
    group = f"{attribute} {group}" if attribute and says_little(group) else group
    whom = people_in(group) if attribute else about
    where = "" if named else f" · {vocabulary().group(group) or whom}"
    size = points_words(value or "") if unit == " points" else f"{value}{unit}"
    if interval.low == interval.high:  # without width it says nothing of how sure it is, unless by logic
        return f"exactly {size}{where}" if interval.method.startswith("exact:") else f"{size}{where}"
    return f"{size} ({reach}){where}"


def short_number(value: float, decimals: int = 2) -> str:
    """Word a number as it is read: whole from 10, few decimals below; only what is 0 is said to be 0.

    Examples
    --------
    >>> short_number(-26.96), short_number(1.594), short_number(0.0463), short_number(-5.4e-18)
    ('−27', '1.59', '0.05', '0')
    >>> short_number(8.651, 1), short_number(0.00042), short_number(-3767.2)
    ('8.7', '0.0004', '−3,767')
    """
    value = 0.0 if abs(value) < _NOTHING else value
    if value and abs(value) < 0.5 * 10.0**-decimals:
        decimals = -math.floor(math.log10(abs(value)))  # one digit of its own
    text = f"{value:,.{0 if abs(value) >= 9.95 else decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return ("0" if text == "-0" else text).replace("-", "−")


def size_against_limit(judged: Judgment) -> float:
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


def limit_words(judged: Judgment) -> str:
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
    if judged.limit_name:
        return judged.limit_name
    if judged.unit and judged.unit != "points":
        return ""  # a share of the mean
    low, high = judged.immaterial_low, judged.immaterial_high
    if judged.none_low == 0 and low and high and abs(FOUR_FIFTHS * high + low) < 1e-9:
        return f"ratio of {FOUR_FIFTHS}"
    if limit.none >= 1:
        return f"{limit.at:.3g} times"
    return _points(limit.at) if abs(limit.at) < 1 else ""


def limit_phrase(judged: Judgment) -> str:
    """Return the limit as a sentence has it: ``10 points``, ``a ratio of 0.8``; never empty."""
    words = limit_words(judged)
    return f"a {words}" if words.startswith("ratio") else words or "what is material"


def _unit(judged: Judgment) -> tuple[float, str]:
    """Return what an interval is multiplied by and called: its own unit, or that of either side's limit."""
    if judged.unit:
        return 100.0 if judged.unit == "points" else 1.0, f" {judged.unit}"
    ends = [judged.immaterial_low, judged.immaterial_high]
    words = [
        limit_words(judged),
        *(_points(end / judged.times) for end in ends if end and judged.none_low == 0),
    ]
    if any(each.endswith(("point", "points")) or each.startswith("ratio") for each in words):
        return 100.0, " points"
    return 1.0, " times" if words[0] else ""


def _points(share: float) -> str:
    """Word a limit on shares that someone chose: to a tenth of a point; empty for any other."""
    points = 100 * abs(share)
    return points_words(f"{points:g}") if points < 100 and abs(points - round(points, 1)) < 1e-9 else ""


def _limit(judged: Judgment) -> _Limit | None:
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
