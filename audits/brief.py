"""What sentences are made of: first ones as short as they are promised to be, whatever groups are called."""

from __future__ import annotations

import re
from typing import Protocol

__all__ = ["begun", "between", "brief", "cut_apart", "named_apart", "shortest"]

MOST_WORDS = 30
_AND = re.compile(r" (?:&|×) ")


def shortest(*sentences: str) -> str:
    """Return the first of some sentences that has at most 30 words, and else the one with fewest.

    Examples
    --------
    >>> shortest("word " * 31, "Said in short."), shortest("Short as it is.", "Shorter.")
    ('Said in short.', 'Short as it is.')
    """
    fits = (sentence for sentence in sentences if len(sentence.split()) <= MOST_WORDS)
    return next(fits, min(sentences, key=lambda sentence: len(sentence.split())))


def begun(words: str) -> str:
    """Return words as a sentence begins: with a capital."""
    return words[:1].upper() + words[1:]


class _Interval(Protocol):
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def between(share: _Interval) -> str:
    """Return the interval of an estimated share in percentage points.

    Examples
    --------
    >>> from audits.stats import Estimate
    >>> between(Estimate(0.14, -0.021, 0.3, 50, "")), between(Estimate(0.14, None, None, 1, ""))
    ('−2.1 to 30.0', 'no interval')
    """
    if share.low is None or share.high is None:
        return "no interval"
    return " to ".join(f"{100 * end:.1f}".replace("-", "−") for end in (share.low, share.high))


def brief(words: str, most: int = 12) -> str:
    """Return the words that name a group, in few: ands as commas, and what is too long cut.

    Examples
    --------
    >>> brief("“female & Velian & age 18 to under 30”")
    '“female, Velian, age 18 to under 30”'
    >>> brief("people in “a long name that goes on and on”", 6)
    'people in “a long name that …”'
    """
    told = _AND.sub(", ", words)
    parts = told.split()
    if len(parts) <= most:
        return told
    return " ".join(parts[:most]) + (" …”" if "“" in told else " …")


def named_apart(group: str, other: str) -> str:
    """Return the name of a group without what it shares with another one; its whole name where that is all.

    Examples
    --------
    >>> named_apart("male & Velian & age [18, 30)", "female & Velian & age [18, 30)"), named_apart("a", "a")
    ('male', 'a')
    """
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
