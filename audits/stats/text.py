"""Numbers as a finding words them: 3 significant digits, no more decimals than the people carry."""

from __future__ import annotations

import math
import re

from audits.stats.estimate import Estimate
from audits.stats.vocabulary import in_words, vocabulary

__all__ = [
    "CURRENCIES",
    "amount",
    "amount_stated",
    "count",
    "estimate_text",
    "in_words",
    "named_group",
    "number",
    "out_of",
    "p_words",
    "people",
    "people_in",
    "percent",
    "percent_interval",
    "says_little",
    "several",
    "so_many",
]

CURRENCIES = tuple("$€£¥₹")
"""Signs that stand before an amount."""
_ONE_DECIMAL_FROM = 1000
_WEIGHTLESS = 1e-6  # what rounding leaves of nobody
_PLAIN = re.compile(r"[^\W\d_]{2,}(?:[-' ][^\W\d_]+){,4}")
_AGED = re.compile(r"(?:(.+)(?: & | × ))?[Aa]ge ((?:below |above )?\d[\d.]*(?: to (?:under )?\d[\d.]*)?)")
_SAYS_LITTLE = {"all", "any", "different", "false", "missing", "na", "no", "none", "null", "other"}
_SAYS_LITTLE |= {"others", "rest", "true", "unknown", "yes"}
_PLURAL = {
    "man": "men",
    "woman": "women",
    "boy": "boys",
    "girl": "girls",
    "child": "children",
    "adult": "adults",
}
_ARE_PEOPLE = {"adults", "boys", "children", "girls", "men", "people", "persons", "women"}
_SOMEBODY = 0.999  # a sum of weights that is one person but for rounding


def count(value: float) -> str:
    """Word a number of people: ``1,785``.

    Examples
    --------
    >>> count(1784.6), count(190.5)  # as `out_of` says it
    ('1,785', '191')
    """
    return f"{math.floor(value + 0.5):,}" if math.isfinite(value) else f"{value}"


def people(value: float) -> str:
    """Word people: ``1 person``, ``1,785 people``.

    Examples
    --------
    >>> people(1), people(0), people(1784.6)
    ('1 person', '0 people', '1,785 people')
    """
    words = count(value)
    return f"{words} {vocabulary().person if words == '1' else vocabulary().people}"


def several(number: float, noun: str) -> str:
    """Word how many of what: ``1 group``, ``1,200 groups``.

    Examples
    --------
    >>> several(1, "group"), several(0, "pair"), several(1200, "group")
    ('1 group', '0 pairs', '1,200 groups')
    """
    words = count(number)
    return f"{words} {noun}{'' if words == '1' else 's'}"


def out_of(some: float, everybody: float) -> str:
    """Word how many of how many, whole people: none and all are said in words, and only where they are so.

    Examples
    --------
    >>> out_of(41, 100), out_of(0, 216), out_of(76.2, 76.2), out_of(1, 1), out_of(0.4, 12.6)
    ('41 of 100', 'none of 216', 'all 76', 'the only one', '1 of 13')
    >>> out_of(0, 0), out_of(0.1, 0.3)
    ('nobody of 0', 'part of 1')
    """
    whole, part = math.floor(everybody + 0.5), math.floor(some + 0.5)
    if everybody < _WEIGHTLESS:
        return "nobody of 0"
    if some < _WEIGHTLESS:
        return f"none of {max(whole, 1):,}"
    if whole < 1:  # rows that together stand for less than one person
        return "all of less than 1" if everybody - some < _WEIGHTLESS else "part of 1"
    if everybody - some < _WEIGHTLESS:
        return "the only one" if whole == 1 else f"all {whole:,}"
    return f"{min(max(part, 1), max(whole - 1, 1)):,} of {whole:,}"


def says_little(value: str) -> bool:
    """Whether a group's value says nothing without its attribute: yes, a number, a range, a missing one."""
    words = {"true", "false", "yes", "no", "y", "n", "(missing)"}  # "f" may be a woman, beside "m"
    number = re.sub("^(below|above) ", "", value)  # outside the ends of all ranges
    return value.lower() in words or value[:1] in "[(" or number.replace(".", "", 1).lstrip("-").isdigit()


def named_group(group: str) -> str:
    """Word a group where people were spoken of, so that no value reads as something else.

    Examples
    --------
    >>> named_group("female"), named_group("Other")
    ('female people', '“Other”')
    """
    return people_in(group).removeprefix(f"{vocabulary().people} in ")


def people_in(group: str) -> str:
    """Word the people of a group so that no value reads as something else: ``female people``.

    Examples
    --------
    >>> people_in("African-American"), people_in("Other"), people_in("female & Velian")
    ('African-American people', 'people in “Other”', 'female & Velian people')
    >>> people_in("age [18, 30)"), people_in("Female & Other"), people_in("(missing)")
    ('people aged 18 to under 30', 'people in “Female & Other”', 'people in “(missing)”')
    >>> people_in("female & age 25"), people_in("Age [30, 45]")
    ('female people aged 25', 'people aged 30 to 45')
    >>> people_in("age below 18"), people_in("Self-employed contractors of the simplified scheme")
    ('people aged below 18', 'people in “Self-employed contractors of the simplified scheme”')
    >>> people_in("women"), people_in("black & Older men"), people_in("everyone else")
    ('women', 'black & Older men', 'other people')
    >>> people_in("Woman"), people_in("black & man")
    ('women', 'black & men')
    >>> people_in("married no"), people_in("not Other"), people_in("sex (missing)")
    ('people in “married no”', 'people in “not Other”', 'people whose sex is not recorded')
    """
    if (said := vocabulary().group(group)) is not None:
        return said
    group = re.sub(r"(^| & | × )everyone else$", r"\1other people", in_words(group))
    *before, last = group.split(" ")
    if (plural := _PLURAL.get(last.lower())) is not None and before[-1:] != ["not"]:
        return " ".join([*before, plural])
    if last.lower() in _ARE_PEOPLE:
        return group
    if last == "(missing)" and before and not re.search(r" & | × ", group):
        return f"{vocabulary().people} whose {' '.join(before)} is not recorded"
    if (aged := _AGED.fullmatch(group)) is not None:
        return f"{people_in(aged[1]) if aged[1] else vocabulary().people} aged {aged[2]}"
    parts = re.split(r" & | × ", group)
    plain = all(_PLAIN.fullmatch(part) and part.lower().split()[-1] not in _SAYS_LITTLE for part in parts)
    people = vocabulary().people
    return f"{group} {people}" if plain else f"{people} in “{group}”"


def so_many(some: float, group: str) -> str:
    """Word so many people of a group.

    Examples
    --------
    >>> so_many(60, "south"), so_many(1, "south"), so_many(2, "Other"), so_many(1, "Other")
    ('60 south people', '1 south person', '2 people in “Other”', '1 person in “Other”')
    >>> so_many(1, "women"), so_many(1, "age 25")
    ('1 person among women', '1 person aged 25')
    """
    words, told = count(some), people_in(group)
    if words == "1" and (one := vocabulary().group(group, one=True)) is not None:
        return f"1 {one}"
    if words == "1":
        people = re.escape(vocabulary().people)
        one = re.sub(rf"^{people}(?= in “| aged )|(?<= ){people}$", vocabulary().person, told)
        told = one if one != told else f"person among {told}"
    return f"{words} {told}"


def number(value: float | None) -> str:
    """Word a number with 3 significant digits and thousands separators.

    Examples
    --------
    >>> number(-0.30088), number(12345.6), number(None)
    ('−0.301', '12,346', '–')
    >>> number(-4e-17), number(-4e-5)
    ('0.00', '−0.00004')
    >>> number(0.9996), number(999.7), number(-0.42)
    ('1.00', '1,000', '−0.420')
    """
    if value is None or not math.isfinite(value):
        return "–"
    rounded = abs(float(f"{value:.2e}"))  # 0.9996 has the digits of 1.00
    if rounded >= 1000:
        return f"{value:,.0f}".replace("-", "−")
    digits = 2 if rounded == 0 else 2 - math.floor(math.log10(rounded))
    text = f"{value:.{min(max(digits, 0), 12)}f}"
    if float(text) == 0:
        return "0.00"  # what is left of a rounding error has no sign
    text = text.rstrip("0").rstrip(".") if "." in text and len(text.lstrip("-")) > 5 else text
    return text.replace("-", "−")


def percent(share: float | None, n: float, beside: float | None = None) -> str:
    """Word a share of `n` people: one decimal from 1,000 people on, none below.

    Of a share `beside` that of so many others it has the digits of fewer people. A share of at least one
    person is never worded as nobody, nor as everyone where one is missing: it gets one decimal more, and
    where that is too few, says less than or more than.

    Examples
    --------
    >>> percent(0.3053, 953), percent(0.3053, 9530)
    ('31%', '30.5%')
    >>> percent(2 / 678, 678), percent(677 / 678, 678), percent(0.0, 678)
    ('0.3%', '99.9%', '0%')
    >>> percent(0.732, 4876, beside=124)
    '73%'
    >>> percent(1 / 9999, 9999), percent(1 / 99999, 99999)
    ('0.01%', 'below 0.01%')
    """
    if share is None:
        return "–"
    digits = 1 if min(n, n if beside is None else beside) >= _ONE_DECIMAL_FROM else 0
    text = f"{100 * share:.{digits}f}"
    some = share * n >= _SOMEBODY and (1 - share) * n >= _SOMEBODY
    if some and float(text) in (0, 100):
        text = f"{100 * share:.{digits + 1}f}"
        if float(text) in (0, 100):
            step = 10.0 ** -(digits + 1)
            text = f"below {step:g}" if share < 0.5 else f"above {100 - step:g}"
    return f"{text}%"


def percent_interval(share: Estimate) -> str:
    """Word a share with its interval: ``31%, 23–40%``."""
    if share.value is None:
        return "no share: nobody to count"
    if share.low is None or share.high is None:
        return f"{percent(share.value, share.n)}, no interval"
    low = percent(share.low, share.n).removesuffix("%")
    return f"{percent(share.value, share.n)}, {low}–{percent(share.high, share.n)}"


def estimate_text(estimate: Estimate, scale: float = 1.0, unit: str = "") -> str:
    """Word an estimate with its interval, as far as there are any: ``−18.3 points (−34.6 to −0.505)``.

    Examples
    --------
    >>> estimate_text(Estimate(-0.183, -0.346, 0.02, 60, "Newcombe 95%"), 100, " points")
    '−18.3 points (−34.6 to 2.00)'
    >>> estimate_text(Estimate(0.3, None, None, 1, "none"))
    '0.300, no interval'
    >>> estimate_text(Estimate(0.3, 0.2, None, 9, "order statistics"))
    '0.300 (at least 0.200)'
    >>> estimate_text(Estimate(None, None, None, 0, "nobody"))
    'no value'
    """
    value, low, high = (
        None if end is None else number(scale * end) for end in (estimate.value, estimate.low, estimate.high)
    )
    if value is None:
        return "no value"
    ends = f"{low} to {high}"
    if low is None or high is None:
        ends = f"at least {low}" if low is not None else "" if high is None else f"at most {high}"
    return f"{value}{unit} ({ends})" if ends else f"{value}{unit}, no interval"


def amount(value: float, unit: str = "") -> str:
    """Word a number in its unit; a currency's sign stands before it, and small money has two decimals.

    Examples
    --------
    >>> amount(3.1, "$ an hour"), amount(-12345.6, "€"), amount(4.25, "days"), amount(0.5)
    ('$3.10 an hour', '−€12,346', '4.25 days', '0.5')
    >>> amount(-0.0000612, "€"), amount(0.0, "€"), amount(0.004, "days")
    ('−€0.0000612', '€0.00', '0.004 days')
    """
    sign, rest = (unit[0], unit[1:].strip()) if unit[:1] in CURRENCIES else ("", unit)
    size = abs(value)
    text = f"{size:,.0f}" if size >= 99.95 else f"{size:.2f}" if sign else f"{size:.3g}"
    if size < (0.005 if sign else 0.0001):
        text = number(size) if size else text
    minus = "−" if value < 0 and text.strip("0.") else ""
    return f"{minus}{sign}{text}{' ' if rest else ''}{rest}"


def amount_stated(estimate: Estimate, unit: str = "") -> str:
    """Word an amount with its interval, the unit once: ``$3.10 an hour ($2.40 to $3.80)``.

    Examples
    --------
    >>> amount_stated(Estimate(3.1, 2.4, 3.8, 900, "Welch"), "$ an hour")
    '$3.10 an hour ($2.40 to $3.80)'
    >>> amount_stated(Estimate(3.1, None, None, 5, "none"), "days")
    '3.1 days, no interval'
    """
    if estimate.value is None:
        return "no value"
    if estimate.low is None or estimate.high is None:
        return f"{amount(estimate.value, unit)}, no interval"
    short = unit[:1] if unit[:1] in CURRENCIES else ""
    ends = (amount(end, short) for end in (estimate.low, estimate.high))
    return f"{amount(estimate.value, unit)} ({' to '.join(ends)})"


def p_words(p: float) -> str:
    """Word a p-value: ``0.032`` or ``< 0.001``."""
    return "< 0.001" if p < 0.001 else f"{p:.2g}" if p >= 0.01 else f"{p:.3f}"
