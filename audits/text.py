"""What sentences are made of: first ones as short as they are promised to be, whatever groups are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from jinja2 import Template

MAX_WORDS = 30
_PLAIN_DIGITS, _MAX = 4, 1e15
_DECIMAL_FROM = 1000  # people
_AND = re.compile(r" (?:&|×) ")
_NAME = re.compile(r"[^\W\d_]\w*[\d_]")  # of a column


def shortest(*sentences: str) -> str:
    """Return the first of some sentences that has at most 30 words, and else the one with fewest.

    Examples
    --------
    >>> shortest("word " * 31, "Said in short."), shortest("Short as it is.", "Shorter.")
    ('Said in short.', 'Short as it is.')
    """
    fits = (sentence for sentence in sentences if len(sentence.split()) <= MAX_WORDS)
    return next(fits, min(sentences, key=lambda sentence: len(sentence.split())))


def begun(words: str) -> str:
    """Return words as a sentence begins: with a capital, but for the name of a column.

    Examples
    --------
    >>> begun("women"), begun("hourly_wage is 2 lower"), begun("column128 is missing")
    ('Women', 'hourly_wage is 2 lower', 'column128 is missing')
    """
    return words if _NAME.match(words) else words[:1].upper() + words[1:]


def rows_words(data: Mapping[str, Any]) -> str:
    """Say how many rows a run used, as its results say of the data, and whom it counts besides.

    Examples
    --------
    >>> rows_words({"rows_read": 4000, "rows_used": 2452, "rows_unlabeled": 1548})
    '2,452 of 4,000 rows used, and 1,548 more, without a label, where only decisions count'
    """
    read = data["rows_read"]
    return f"{data['rows_used']:,} of {read:,} row{'' if read == 1 else 's'} used{unlabeled_words(data)}"


def audited_words(data: Mapping[str, Any]) -> str:
    """Say how many rows were audited of those read, and for how many people they stand.

    Examples
    --------
    >>> audited_words({"rows_read": 16, "rows_audited": 16, "people_audited": 2000.0})
    '16 rows audited of 16 read, of 2,000 people'
    """
    rows, people = data["rows_audited"], data.get("people_audited")
    stand_for = "" if people is None or abs(people - rows) < 0.5 else f", of {people:,.0f} people"
    return f"{rows:,} rows audited of {data['rows_read']:,} read{stand_for}{unlabeled_words(data)}"


def unlabeled_words(data: Mapping[str, Any]) -> str:
    """Say how many rows count without a label, behind how many have one; empty where none does."""
    more = data.get("rows_unlabeled")
    return f", and {more:,} more, without a label, where only decisions count" if more else ""


def of_people(told: str) -> str:
    """Return how many of how many as it stands before people, of whom there may be one.

    Examples
    --------
    >>> of_people("12 of 80"), of_people("the only one")
    ('12 of 80', '1 of 1')
    """
    return "1 of 1" if told == "the only one" else told


def value_words(value: float) -> str:
    """Word a value of a column of numbers; what has four digits has no separator, for it may be a year.

    Examples
    --------
    >>> [value_words(value) for value in (2024, 3600.0, 32500, 32500.25, 0.25, -12, 1e308)]
    ['2024', '3600', '32,500', '32,500.2', '0.25', '-12', '1e+308']
    """
    size = abs(value)
    if size < 10**_PLAIN_DIGITS or not size < _MAX:
        return f"{value:.6g}"
    return f"{value:,.0f}" if size >= 10 ** (_PLAIN_DIGITS + 1) or value == int(value) else f"{value:,.6g}"


class _Interval(Protocol):
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def points_of(share: float, n: float) -> str:
    """Return a share of `n` people in percentage points: one decimal from 1,000 people on, none below.

    What is not zero is not worded as zero, so that an interval without zero is seen to be one.

    Examples
    --------
    >>> [points_of(*each) for each in ((0.3041, 7529.0), (-0.0031, 46.0), (0.0, 46.0), (-1e-9, 46.0))]
    ['30.4', '−0.3', '0', '0']
    """
    digits = 1 if n >= _DECIMAL_FROM else 0
    least = next((more for more in range(digits, 5) if round(abs(100 * share), more) > 0), digits)
    text = f"{100 * share:.{least}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def points_words(size: str) -> str:
    """Word a number of percentage points: ``1 point``, ``30.4 points``."""
    return f"{size} point{'' if size.lstrip('-−') == '1' else 's'}"


def join_names(names: Iterable[object], last: str = "and", *, most: int = 5, quoted: bool = False) -> str:
    """Return names in words, the first few of many.

    Examples
    --------
    >>> join_names(["sex"]), join_names(["sex", "race"], "or"), join_names("abcd", most=3)
    ('sex', 'sex or race', 'a, b and 2 more')
    """
    shown = [repr(name) if quoted else str(name) for name in names]
    shown = shown if len(shown) <= most else [*shown[: most - 1], f"{len(shown) - most + 1} more"]
    return f" {last} ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def in_points(share: float, *, signed: bool = False) -> str:
    """Return a share in percentage points, with one decimal; what rounds to nothing has no sign.

    Examples
    --------
    >>> in_points(-0.021), in_points(-0.0004), in_points(0.15, signed=True), in_points(0.0, signed=True)
    ('−2.1', '0.0', '+15.0', '0.0')
    """
    text = f"{100 * share:{'+' if signed else ''}.1f}"
    return text.lstrip("+-") if float(text) == 0 else text.replace("-", "−")


def between(share: _Interval) -> str:
    """Return the interval of an estimated share in percentage points.

    Examples
    --------
    >>> from audits.stats import Estimate
    >>> between(Estimate(0.14, -0.021, 0.3, 50, "")), between(Estimate(0.14, None, None, 1, ""))
    ('−2.1 to 30.0', 'no interval')
    >>> between(Estimate(0.14, -0.0004, 0.3, 50, ""))
    '0.0 to 30.0'
    """
    if share.low is None or share.high is None:
        return "no interval"
    return " to ".join(map(in_points, (share.low, share.high)))


def brief(words: str, most: int = 12, *, of: int | None = None) -> str:
    """Return the words that name a group, in few: ands as commas, and what is too long cut.

    `of` says of how many attributes it is, where that is known: a value may itself have an "&".

    Examples
    --------
    >>> brief("“female & Velian & age 18 to under 30”")
    '“female, Velian, age 18 to under 30”'
    >>> brief("people in “Black & Asian”", of=1), brief("female & Black & Asian", of=2)
    ('people in “Black & Asian”', 'female & Black & Asian')
    >>> brief("people in “a long name that goes on and on”", 6)
    'people in “a long name that …”'
    >>> brief("people in “some” alike in whatever there is", 5)
    'people in “some” alike in …'
    """
    joins = _AND.findall(words)
    return cut_words(_AND.sub(", ", words) if of in {None, len(joins) + 1} else words, most)


def attributes_in(attribute: str) -> int:
    """Return how many attributes one stands for: several are joined by " × "."""
    return attribute.count(" × ") + 1


def cut_words(words: str, most: int) -> str:
    """Return the first words, and whether there are more; an "&" stays what it is, as in a name with one.

    Examples
    --------
    >>> cut_words("people with race = Black & Asian and age below 30", 6)
    'people with race = Black & …'
    """
    parts = words.split()
    if len(parts) <= most:
        return words
    kept = " ".join(parts[:most])
    return f"{kept} …”" if kept.count("“") > kept.count("”") else f"{kept} …"


def named_apart(group: str, other: str, of: tuple[int, int] | None = None) -> str:
    """Return the name of a group without what it shares with another one; its whole name where that is all.

    `of` says of how many attributes both are, where that is known, as for `brief`.

    Examples
    --------
    >>> named_apart("male & Velian & age [18, 30)", "female & Velian & age [18, 30)"), named_apart("a", "a")
    ('male', 'a')
    >>> named_apart("Black & Asian", "White & Asian", (1, 1))
    'Black & Asian'
    """
    if of not in {None, (len(_AND.split(group)), len(_AND.split(other)))}:
        return group
    shared = set(_AND.split(other))
    own = [part for part in _AND.split(group) if part not in shared]
    return " & ".join(own) or group


def cut_apart(group: str, other: str, most: int) -> str:
    """Return the name of a group in at most so many words, from where it differs from another one's.

    Examples
    --------
    >>> cut_apart("people of the inner upper district", "people of the inner lower district", 2)
    '…upper district'
    >>> cut_apart("people of the inner upper district", "somebody", 2), cut_apart("a", "b", 2)
    ('people of …', 'a')
    """
    own, theirs = group.split(), other.split()
    if len(own) <= most:
        return group
    pairs = enumerate(zip(own, theirs, strict=False))
    first = next((k for k, (mine, its) in pairs if mine != its), 0)
    told = own[first : first + most]
    return ("…" if first else "") + " ".join(told) + (" …" if first + most < len(own) else "")


class Raw(str):
    """Text of a template that is ours, marks and all."""


def text_template(path: Path, escape: Callable[[Any], Any], **more: Any) -> Template:
    """Return a template of Markdown or YAML, never of HTML.

    Parameters
    ----------
    path : Path
        Of the template; those that it includes lie beside it.
    escape : callable
        Applied to every value that is put in, but `Raw` ones; the filter ``raw`` makes them.
    more
        Functions that the template may use, also as filters.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # late: few commands write any

    environment = Environment(
        loader=FileSystemLoader(path.parent), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Raw) else escape(value),
        keep_trailing_newline=True, autoescape=False,  # noqa: S701 - what comes out is text
    )  # fmt: skip
    environment.filters |= {"raw": Raw, **more}
    environment.globals |= more
    return environment.get_template(path.name)
