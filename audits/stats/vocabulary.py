"""The words of a decision: what people, its outcomes and groups are called in everything that is said.

A data set brings its own (`data.words` of a spec); where it does not, sentences speak of people and of the
favorable decision. As with a locale, what words a sentence takes its words from the context: `speaking`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from audits.checks import Strict

_RANGE = re.compile(r"\[(-?[\d.]+), (-?[\d.]+)([)\]])")
_BEHIND = re.compile(r"(\d|under|over|aged|below|above|from|with|without|in|of|at|who)\b")
_PLURALS = {"people", "children", "men", "women"}


@dataclass(frozen=True)
class DataWords(Strict):
    """What sentences call people and decisions.

    Attributes
    ----------
    people, person : str
        Those who are decided about: ``"applicants"``, ``"applicant"``.
    yes, no : str
        The two decisions, as one says that someone is it: ``"approved"``, ``"declined"``; empty where they
        have no name.
    truth_yes, truth_no : str
        How it turned out: ``"repaid"``, ``"defaulted"``; empty where it has no name.
    verb : str
        What people do with a numeric outcome: ``"earn"``, ``"pay"``, ``"wait"``; empty where nobody says.
    groups : mapping of str to mapping
        By attribute, what people of a value are called: ``{"sex": {"female": "women"}}``; an adjective
        (``"Velian"``), a noun in the plural (``"women"``) or what stands behind one (``"under 30"``).
    """

    people: str = "people"
    person: str = "person"
    yes: str = ""
    no: str = ""
    truth_yes: str = ""
    truth_no: str = ""
    verb: str = ""
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def are_yes(self) -> str:
        """What the favored are, as a verb: ``"are approved"``."""
        return f"are {self.yes}" if self.yes else "get the favorable decision"

    @property
    def are_no(self) -> str:
        """What the others are, as a verb: ``"are declined"``."""
        return f"are {self.no}" if self.no else "do not get the favorable decision"

    @property
    def is_yes(self) -> str:
        """As `are_yes`, of one person."""
        return f"is {self.yes}" if self.yes else "gets the favorable decision"

    @property
    def is_no(self) -> str:
        """As `are_no`, of one person."""
        return f"is {self.no}" if self.no else "does not get the favorable decision"

    @property
    def share_yes(self) -> str:
        """What a rate of the favored is called on an axis: ``"approved"``."""
        return self.yes or "favorable decision"

    @property
    def rate_yes(self) -> str:
        """What the share of the favored is called in a sentence: ``"share approved"``."""
        return f"share {self.yes}" if self.yes else "share with the favorable decision"

    def group(self, group: str, *, one: bool = False) -> str | None:
        """Return the noun phrase of a group, one order for all: adjectives, noun, age; None without words.

        Parameters
        ----------
        group : str
            Its name as results hold it: ``"female & Velian & age [18, 30)"``.
        one : bool
            Whether it is one person of the group.

        Examples
        --------
        >>> named = {"sex": {"female": "women"}, "ethnicity": {"Velian": "Velian"}}
        >>> named["age"] = {"18 to under 30": "under 30"}
        >>> words = DataWords(people="applicants", groups=named)
        >>> words.group("female & Velian & age [18, 30)"), words.group("Velian"), words.group("male")
        ('Velian women under 30', 'Velian applicants', None)
        >>> DataWords(groups={"unit": {"R & D": "researchers"}}).group("R & D")
        'researchers'
        """
        whole = self._part(group)  # a value may itself have the sign that joins several
        said = [self._part(part) for part in re.split(r" & | × ", group)] if whole is None else [whole]
        if None in said:
            return None
        told = [each for each in said if each]
        nouns = [each for each in told if _is_noun(each)]
        behind = [each for each in told if _BEHIND.match(each)]
        adjectives = [each for each in told if each not in nouns and each not in behind]
        if one:
            nouns = [singular(each) for each in nouns]
            return " ".join([*adjectives, " who is a ".join(nouns) or self.person, *behind])
        noun = " who are ".join(nouns) or self.people
        return " ".join([*adjectives, noun, *behind])

    def _part(self, part: str) -> str | None:
        """Return what is said of one value, or of several: ``"Velian or Tamar"``."""
        either = {part, in_words(part)}
        for attribute, names in self.groups.items():
            for written, said in names.items():
                if either & {written, f"{attribute} {written}"}:
                    return said
        several = [self._part(each) for each in part.split(" or ")] if " or " in part else [None]
        *first, last = several
        return None if None in several else f"{', '.join(filter(None, first))} or {last}"


def in_words(group: str) -> str:
    """Word the ranges in the name of a group: ``18 to under 30`` for ``[18, 30)``.

    Examples
    --------
    >>> in_words("female & age [18, 30)"), in_words("[60, 76]"), in_words("a [b, c)")
    ('female & age 18 to under 30', '60 to 76', 'a [b, c)')
    """
    return _RANGE.sub(lambda found: f"{found[1]} to {'' if found[3] == ']' else 'under '}{found[2]}", group)


def _is_noun(said: str) -> bool:
    last = said.split()[-1]
    return last in _PLURALS or (last[0].islower() and last.endswith("s") and not last.endswith(("ss", "us")))


def singular(noun: str) -> str:
    """Return the singular of a noun.

    Examples
    --------
    >>> singular("women"), singular("people"), singular("older men"), singular("parents")
    ('woman', 'person', 'older man', 'parent')
    """
    for plural, single in (("people", "person"), ("children", "child"), ("men", "man")):
        if noun.endswith(plural):
            return noun.removesuffix(plural) + single
    return noun.removesuffix("s")


_current: ContextVar[DataWords] = ContextVar("vocabulary", default=DataWords())  # noqa: B039 - frozen


def vocabulary() -> DataWords:
    """Return the words that sentences take now."""
    return _current.get()


@contextmanager
def speaking(words: DataWords) -> Iterator[None]:
    """Have sentences that are made in the block take `words`."""
    token = _current.set(words)
    try:
        yield
    finally:
        _current.reset(token)
