"""What the people of a rule set are called in a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from audits.stats.vocabulary import vocabulary

_LIMITS = re.compile(r"(?:(?P<low>.+?) ≤ )?(?P<name>.+?) (?P<sign>[<>≤≥]) (?P<end>\S+)$")
_SIGN = re.compile("(.+?) ([=≠]) (.+)")
_AGE = {"<": "under {}", "≤": "up to {}", "≥": "aged {} or more", ">": "over {}"}
_ENDS = {"<": "below {}", "≤": "up to {}", "≥": "{} or more", ">": "above {}"}


def group_of(rules: Sequence[Mapping[str, Any]], *, longest: int | None = None) -> str:
    """Return the people of a rule set as a noun phrase, in the data's own words as far as it has any.

    Parameters
    ----------
    rules : sequence of dict
        ``attribute``, ``words`` (``"age < 30"``) and ``values``, the levels that it admits.
    longest : int, optional
        Letters of a condition, of which more are cut in its middle.

    Examples
    --------
    >>> rules = [{"attribute": "age", "words": "age < 30", "values": ["[18, 30)"]}]
    >>> rules.append({"attribute": "race", "words": "race ≠ White", "values": ["Asian", "Black"]})
    >>> group_of(rules)
    'people under 30 with race ≠ White'
    >>> group_of(rules, longest=11)
    'people under 30 with race ≠ Wh…e'
    >>> from audits.stats.vocabulary import DataWords, speaking
    >>> with speaking(DataWords(groups={"race": {"Asian": "Asian", "Black": "Black"}})):
    ...     group_of(rules)
    'Asian or Black people under 30'
    """
    words = vocabulary()
    named, ages, clauses, terms = list[str](), list[str](), list[str](), list[str]()
    for rule in rules:
        own = " or ".join(f"{rule['attribute']} {value}" for value in rule["values"])
        limits = _LIMITS.fullmatch(rule["words"])
        if rule["words"].startswith("“"):
            terms.append(_cut(rule["words"], longest))
        elif words.group(own) is not None and not (limits and len(rule["values"]) > 1):
            named.append(own)
        elif limits and limits["name"].lower() == "age":
            ages.append(_within(limits, _AGE, "aged {} to {}"))
        else:
            within = f"{limits['name']} {_within(limits, _ENDS, '{} to {}')}" if limits else rule["words"]
            clauses.append(_cut(within, longest))
    if terms:
        return f"texts with {' and '.join(terms)}"
    who = words.group(" & ".join(named)) if named else words.people
    more = f"with {' and '.join(clauses)}" if clauses else ""
    return " ".join(filter(None, [who, *ages, more]))


def _cut(words: str, longest: int | None) -> str:
    """Cut what is too long in its middle: the attribute, the value, and never the sign between."""
    if longest is None or len(words) <= longest:
        return words
    if parts := _SIGN.fullmatch(words):
        name, sign, value = parts.groups()
        name = name if len(name) <= longest // 2 else f"{name[: longest // 2 - 1].rstrip()}…"
        return f"{name} {sign} {_cut(value, max(3, longest - len(name) - 3))}"
    return f"{words[: longest // 2].rstrip()}…{words[longest // 2 + 1 - longest :].lstrip()}"


def _within(limits: re.Match[str], ends: Mapping[str, str], between: str) -> str:
    """Word a range: both of its ends, or the one that it has."""
    if limits["low"] is None:
        return ends[limits["sign"]].format(limits["end"])
    under = "under " if limits["sign"] == "<" else ""
    return between.format(limits["low"], f"{under}{limits['end']}")
