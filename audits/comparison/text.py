"""A change in one sentence for everyone, and in figures."""

from __future__ import annotations

import re
from functools import partial

from audits.comparison.pairs import Kind
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, Judgment
from audits.stats.badges import short_number
from audits.stats.text import number
from audits.text import cut_apart, cut_words, points_of, points_words, shortest


def sentence(name: str, kind: Kind, first: Estimate, second: Estimate, judged: Judgment) -> str:
    """Say how one number changed, in at most 30 words.

    Examples
    --------
    >>> from audits.stats import judge
    >>> gap = lambda value, low, high: Estimate(value, low, high, 400, "")
    >>> moved = judge(gap(0.07, 0.04, 0.09), immaterial=(-0.05, 0.05))
    >>> before, after = gap(-0.12, -0.2, -0.04), gap(-0.05, -0.1, 0.02)
    >>> sentence("gap in rates between women and men", "gap", before, after, moved)
    'The second model narrows the gap in rates between women and men from 12 to 5 points (4 to 9 fewer).'
    """

    def told(words: str) -> str:
        if kind == "gap":
            return _gap(words, first, second, judged)
        return _number(words, kind, first, second, judged)

    quoted = [_QUOTED.sub(partial(_cut, name=name, most=most), name) for most in (99, 6, 4, 3, 2)]
    every = [told(each) for each in (*quoted, *(_cut_group(quoted[-1], most) for most in (12, 9)))]
    return shortest(*(end for each in every for end in (each, _without_interval(each))))


_RESTS = (" and everyone else", " and the others in the same context")
_QUOTED = re.compile("“([^”]*)”")


def _cut(found: re.Match[str], name: str, most: int) -> str:
    """Shorten a quoted name of a group, from where it differs from another one beside it."""
    others = [each for each in _QUOTED.findall(name) if each != found[1]]
    return f"“{cut_apart(found[1], others[0] if others else '', most)}”"


def _cut_group(name: str, most: int) -> str:
    """Shorten the name of a number by its group, and keep whom that is compared with.

    Examples
    --------
    >>> _cut_group("gap in rates between men with a long name that goes on and everyone else", 8)
    'gap in rates between men with a long … and everyone else'
    """
    own = name.removesuffix(next((rest for rest in _RESTS if name.endswith(rest)), ""))
    return cut_words(own, most) + name[len(own) :]


def _number(name: str, kind: Kind, first: Estimate, second: Estimate, judged: Judgment) -> str:
    change, unit = judged.interval, "%" if kind == "share" else ""
    sides = (stated_words(each, kind).removesuffix("%") for each in (first, second))
    before, after = sides
    if judged.verdict == EVIDENCE:
        way = "raises" if float(change.value or 0) > 0 else "lowers"
        if before == after:  # so small a change that the numbers are told alike
            side = "above" if way == "raises" else "below"
            return f"The second model {way} the {name} a little {side} {before}{unit}{_ends(change, kind)}."
        less = "" if judged.material is not False else ", by less than matters"
        return f"The second model {way} the {name} from {before} to {after}{unit}{less}{_ends(change, kind)}."
    told = f"{after}{unit} with either" if before == after else f"from {before} to {after}{unit}"
    if judged.verdict == NO_MATERIAL:
        return f"The second model changes the {name} {_NOTHING}: {told}."
    return f"{_UNTOLD} the {name}: {told}{_ends(change, kind)}."


_NOTHING = "by less than matters, if at all"
_UNTOLD = "We can't tell whether the second model changes"


def stated_words(estimate: Estimate, kind: Kind) -> str:
    """Word a number as its kind is worded: points, per cent, or a plain number."""
    if estimate.value is None:
        return "–"
    if kind == "gap":
        return points_of(estimate.value, estimate.n)
    if kind == "share":
        return f"{points_of(estimate.value, estimate.n)}%"
    return number(estimate.value)


def change_words(change: Estimate, kind: Kind) -> str:
    """Word a change with its interval: ``+7 points (+4 to +9)``; of a gap, of its signed value.

    Examples
    --------
    >>> change_words(Estimate(-0.034, -0.06, -0.01, 1200, ""), "share")
    '−3.4 points (−6 to −1)'
    >>> change_words(Estimate(0.4, None, None, 12, "no interval"), "number")
    '+0.4, no interval'
    """
    if change.value is None:
        return "–"
    unit = "" if kind == "number" else " points"
    if change.low is None or change.high is None:
        value = _signed_number(change.value, kind)
        return f"{value}{unit[:-1] if value in {'+1', '−1'} else unit}, no interval"
    ends = " to ".join(_signed_number(end, kind) for end in (change.low, change.high))
    return f"{_signed_number(change.value, kind)}{unit} ({ends})"


def _gap(name: str, first: Estimate, second: Estimate, judged: Judgment) -> str:
    """Say of a signed difference whether it narrows, widens or turns round."""
    before, after = float(first.value or 0.0), float(second.value or 0.0)
    change = judged.interval
    sizes = points_of(abs(before), change.n), points_of(abs(after), change.n)
    turned = before * after < 0
    if judged.verdict == NO_MATERIAL:
        told = f"{points_words(sizes[0])} with either" if sizes[0] == sizes[1] else _from_to(*sizes)
        if turned:
            told = f"from {points_words(sizes[0])} to {sizes[1]} the other way"
        return f"The second model changes the {name} {_NOTHING}: {told}."
    if judged.verdict != EVIDENCE:
        way = ", the other way round" if turned else ""
        told = f"{sizes[0]} against {points_words(sizes[1])}"
        if sizes[0] == sizes[1] and not turned:
            told = f"{points_words(sizes[0])} with either"
        return f"{_UNTOLD} the {name}: {told}{way}{_ends(change, 'gap')}."
    if turned and _sure(first) and _sure(second):
        ways = f"{points_words(sizes[0])} one way, then {sizes[1]} the other"
        return f"The second model turns the {name} round: {ways}."
    if turned:
        goes = _from_to(points_of(before, change.n), points_of(after, change.n))
        return f"The second model moves the {name} {goes}."  # signed, as its figure draws them
    way = "narrows" if abs(after) < abs(before) else "widens"
    sign = -1.0 if before < 0 or (before == 0 and after < 0) else 1.0
    ends = sorted(sign * float(end or 0.0) for end in (change.low, change.high))
    more = "fewer" if way == "narrows" else "more"
    least, most = (sorted(-end for end in ends)) if way == "narrows" else ends
    told = f" ({short_number(100 * least, 1)} to {short_number(100 * most, 1)} {more})" if least >= 0 else ""
    less = "" if judged.material is not False else ", by less than matters"
    return f"The second model {way} the {name} {_from_to(*sizes)}{less}{told}."


def _from_to(before: str, after: str) -> str:
    """Word two sizes of a gap: ``from 12 to 5 points``, ``from 12 points to 1``."""
    return f"from {points_words(before)} to {after}" if after == "1" else f"from {before} to {after} points"


def _sure(gap: Estimate) -> bool:
    """Whether a gap's own interval leaves out 0."""
    return gap.low is not None and gap.high is not None and (gap.low > 0 or gap.high < 0)


def _ends(change: Estimate, kind: Kind) -> str:
    if change.low is None or change.high is None:
        return ""
    unit = "" if kind == "number" else " points"
    ends = (_signed_number(end, kind) for end in (change.low, change.high))
    return f" ({' to '.join(ends)}{unit})"


def _signed_number(value: float, kind: Kind) -> str:
    text = short_number(value) if kind == "number" else short_number(100 * value, 1)  # as `interval_text`
    return text if text.startswith("−") or float(text.replace(",", "")) == 0 else f"+{text}"


def _without_interval(told: str) -> str:
    """Leave out the interval in brackets, which stands below."""
    head, _, rest = told.rpartition(" (")
    return f"{head}{rest.rpartition(')')[2]}" if head else told
