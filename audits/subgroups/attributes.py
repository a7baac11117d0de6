"""Rules of one attribute: levels of the people, and every rule as the set of levels it admits.

Section 4.1 of the paper: every proper subset of a category's values, every proper run of adjacent bins
of a number. A missing value is a level of its own; no interval holds it, and one further rule names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from audits.text import join_names

Known = TypeVar("Known")


@dataclass(frozen=True)
class End:
    """The two ends of a bin as words; an equal pair is a single value.

    A bin holds its lower end unless it `opens` after it, and its upper end only if it `closes` with it.
    """

    low: str
    high: str
    opens: bool = False
    closes: bool = False


@dataclass(frozen=True, eq=False)
class Attribute:
    """One attribute with its rules.

    Attributes
    ----------
    name : str
    levels : tuple of str
        The atomic values, (L,): a category's values or a number's bins, the missing one last.
    codes : int array (n,)
        Level of every row.
    rules : bool array (r, L)
        The levels that each rule admits.
    words : tuple of str, (r,)
        Each rule as a reader sees it: ``race = White or Black``, ``40 ≤ age < 80``.
    length : int array (r,)
        Values or ends that the words name: the shortest of several descriptions is shown.
    protected : bool
        False for a context column.
    ordered : bool
        Whether the levels have an order (the missing one, if any, comes last).
    """

    name: str
    levels: tuple[str, ...]
    codes: np.ndarray
    rules: np.ndarray
    words: tuple[str, ...]
    length: np.ndarray
    protected: bool = True
    ordered: bool = False


def category(
    name: str, codes: np.ndarray, levels: Sequence[str], *, subsets: bool = True, protected: bool = True
) -> Attribute:
    """Make the rules of a category: its proper subsets, or its single values.

    Parameters
    ----------
    codes : int array (n,)
        Level of every row, in [0, len(levels)).
    subsets : bool
        All 2^L - 2 proper subsets, or the L single values (one value alone makes no rule).

    Examples
    --------
    >>> race = category("race", np.array([0, 1, 2, 2]), ["Asian", "Black", "White"])
    >>> len(race.rules), race.words[:3], race.words[-1]
    (6, ('race = Asian', 'race = Black', 'race = White'), 'race ≠ Asian')
    """
    size = len(levels)
    if size < 2:
        rules = np.zeros((0, size), dtype=bool)
    elif subsets:
        bits = np.arange(1, 2**size - 1)
        rules = (bits[:, None] >> np.arange(size) & 1).astype(bool)
        rules = rules[np.lexsort((bits, rules.sum(1)))]
    else:
        rules = np.eye(size, dtype=bool)[: 1 if size == 1 else size]
    words = tuple(_category_words(name, rule, levels) for rule in rules)
    length = np.minimum(rules.sum(1), size - rules.sum(1)) if size else np.zeros(0, int)
    return Attribute(name, tuple(levels), codes, rules, words, length, protected)


def interval(
    name: str,
    codes: np.ndarray,
    levels: Sequence[str],
    ends: Sequence[End],
    *,
    missing: bool = False,
    shape: str = "runs",
    protected: bool = True,
) -> Attribute:
    """Make the rules of ordered bins: runs of adjacent ones, one-sided thresholds, or single bins.

    Parameters
    ----------
    codes : int array (n,)
        Bin of every row; with `missing` the level after the last bin.
    levels : sequence of str
        Names of the bins, in order, and of the missing level.
    ends : sequence of End
        Of every bin.
    shape : {"runs", "thresholds", "bins"}

    Examples
    --------
    >>> ends = [End("0", "10"), End("10", "20"), End("20", "30")]
    >>> age = interval("age", np.array([0, 1, 2]), ["a", "b", "c"], ends)
    >>> age.words
    ('age < 10', 'age < 20', '10 ≤ age < 20', 'age ≥ 10', 'age ≥ 20')
    """
    bins = len(ends)
    runs = [
        (first, last)
        for first in range(bins)
        for last in range(first, bins)
        if missing or last - first < bins - 1
    ]
    if shape == "thresholds":
        runs = [(first, last) for first, last in runs if (first == 0) != (last == bins - 1)]
    elif shape == "bins":
        runs = [(first, last) for first, last in runs if first == last]
    place = np.arange(bins)
    rules = np.array([(place >= first) & (place <= last) for first, last in runs], dtype=bool).reshape(
        -1, bins
    )
    words = [_interval_words(name, ends, first, last) for first, last in runs]
    length = [
        1 if first == 0 or last == bins - 1 or ends[first].low == ends[last].high else 2
        for first, last in runs
    ]
    if missing:
        rules = np.pad(rules, ((0, 1), (0, 1)))
        rules[-1, -1] = True
        words.append(f"{name} missing")
        length.append(1)
    return Attribute(
        name, tuple(levels), codes, rules, tuple(words), np.array(length, int), protected, ordered=True
    )


def rule_words(attributes: Sequence[Attribute], rules: np.ndarray) -> list[str]:
    """Return rule sets as a reader sees them: ``sex = Male, 40 ≤ age < 60``."""
    words = np.full(len(rules), "", dtype=object)
    for place, attribute in enumerate(attributes):
        used = rules[:, place] >= 0
        if used.any():
            own = np.array(attribute.words, dtype=object)[rules[used, place]]
            words[used] = np.where(words[used] == "", own, words[used] + ", " + own)
    return words.tolist()


def read_rule_set(known: Mapping[str, Known], words: str) -> list[Known] | None:
    """Return what is `known` of each rule of a rule set, by the rule's words; None of no such rule set.

    Values may hold commas, so all readings are tried.

    Examples
    --------
    >>> read_rule_set({"city = Bonn, Germany": 1, "sex = f": 2}, "city = Bonn, Germany, sex = f")
    [1, 2]
    """
    pieces = words.split(", ")
    for end in range(1, len(pieces) + 1):
        first = ", ".join(pieces[:end])
        rest = read_rule_set(known, ", ".join(pieces[end:])) if first in known and end < len(pieces) else []
        if first in known and rest is not None:
            return [known[first], *rest]
    return None


def _category_words(name: str, rule: np.ndarray, levels: Sequence[str]) -> str:
    inside = [level for level, admitted in zip(levels, rule, strict=True) if admitted]
    outside = [level for level, admitted in zip(levels, rule, strict=True) if not admitted]
    if len(outside) < len(inside):
        return f"{name} ≠ {join_names(outside, 'or', most=len(levels))}"
    return f"{name} = {join_names(inside, 'or', most=len(levels))}"


def _interval_words(name: str, ends: Sequence[End], first: int, last: int) -> str:
    low, high = ends[first], ends[last]
    below, above = "≤" if high.closes else "<", ">" if low.opens else "≥"
    if first == 0 and last == len(ends) - 1:
        return f"{name} known"
    if low.low == high.high:
        return f"{name} = {low.low}"
    if first == 0:
        return f"{name} {below} {high.high}"
    if last == len(ends) - 1:
        return f"{name} {above} {low.low}"
    return f"{low.low} ≤ {name} {below} {high.high}"


def quote_rule_set(rule_set: str) -> str:
    """Return a rule set in quotation marks, which terms of a text already stand in.

    Examples
    --------
    >>> quote_rule_set("sex = f"), quote_rule_set("“gay”")
    ('“sex = f”', '“gay”')
    """
    return rule_set if rule_set.startswith("“") else f"“{rule_set}”"
