"""Rules of one attribute: levels of the people, and every rule as the set of levels it admits.

Section 4.1 of the paper: every proper subset of a category's values, every proper run of adjacent bins
of a number. A missing value is a level of its own; no interval holds it, and one further rule names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from audits.checks import one_of
from audits.data import AuditData
from audits.data.groups import bin_names
from audits.data.values import MISSING, as_text, text_of
from audits.errors import InputError
from audits.rulesets.options import RuleSetsOptions

__all__ = ["Attribute", "End", "category", "interval", "read_attributes"]

MOST_SUBSET_LEVELS = 12
MOST_LEVELS = 100
_NUMBERS = ("continuous", "integer", "ordinal", "datetime")


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


def read_attributes(
    data: AuditData, options: RuleSetsOptions
) -> tuple[tuple[Attribute, ...], tuple[str, ...]]:
    """Return the attributes that rules may constrain, and what a reader should know of them.

    Raises
    ------
    InputError
        No protected attribute, an unknown one, one with too many values, or bins that do not fit.
    """
    names = data.protected if options.protected is None else options.protected
    if not names:
        raise InputError(
            "rule_sets.protected",
            "must name at least one attribute",
            list(names),
            "name one in data.protected",
        )
    for name in names:
        one_of(
            "rule_sets.protected",
            name,
            data.protected,
            what="a protected attribute of the data (data.protected)",
        )
    for name in options.context:
        one_of("rule_sets.context", name, data.frame.columns, what="a column of the data")
        if name in names or name == data.label:
            raise InputError(
                "rule_sets.context", "must be neither protected nor the label", name, "leave it out"
            )
    twice = [name for name in (*names, *options.context) if (*names, *options.context).count(name) > 1]
    if twice:
        raise InputError("rule_sets.protected", "must name every attribute once", twice[0])
    if isinstance(options.bins, dict):
        for name in options.bins:
            one_of(
                "rule_sets.bins", name, (*names, *options.context), what="one of the attributes of the rules"
            )
    notes: list[str] = []
    found = [_read(data, name, options, notes, protected=True) for name in names]
    found += [_read(data, name, options, notes, protected=False) for name in options.context]
    notes += [
        f"Everyone has the same {item.name}, so no rule can use it." for item in found if not len(item.rules)
    ]
    if not any(len(attribute.rules) for attribute in found if attribute.protected):
        raise InputError(
            "rule_sets.protected",
            "must have at least two values to compare groups, but everyone has the same",
            list(names),
            "name another attribute, or audit more rows",
        )
    return tuple(found), tuple(notes)


def _read(
    data: AuditData, name: str, options: RuleSetsOptions, notes: list[str], *, protected: bool
) -> Attribute:
    raw = data.frame[name] if name in data.frame.columns else data.groups[name]
    text = data.groups[name] if protected else as_text(raw).fillna(MISSING)
    chosen = options.bins.get(name) if isinstance(options.bins, dict) else None
    if chosen is None and protected and name in data.bins:
        return _from_ranges(name, text, data.bins[name], options.intervals, protected)
    codes, found = pd.factorize(text, sort=True)
    levels = [str(level) for level in found]
    kind = data.kinds.get(name, "categorical")
    if kind == "ordinal":
        order = [*data.orders.get(name, ()), *sorted(levels)]
        ranks = {level: rank for rank, level in reversed(list(enumerate(order)))}
        return _from_values(
            name, codes, sorted(levels, key=lambda v: (v == MISSING, ranks[v])), levels, options, protected
        )
    if kind in _NUMBERS and pd.api.types.is_numeric_dtype(raw) and not pd.api.types.is_bool_dtype(raw):
        return _from_numbers(name, raw, kind, chosen, options, protected)
    if chosen is not None:
        raise InputError(f"rule_sets.bins.{name}", "needs a column of numbers, but it is a category", chosen)
    return _from_category(name, codes, levels, options, notes, protected)


def _from_category(
    name: str,
    codes: np.ndarray,
    levels: list[str],
    options: RuleSetsOptions,
    notes: list[str],
    protected: bool,
) -> Attribute:
    if len(levels) > MOST_LEVELS:
        raise InputError(
            f"rule_sets.protected: {name!r}" if protected else f"rule_sets.context: {name!r}",
            f"must have at most {MOST_LEVELS} values, but has {len(levels):,}",
            advice="group its values with data.recode, cut numbers with data.bins, or leave it out",
        )
    subsets = options.categories == "subsets"
    if subsets and len(levels) > MOST_SUBSET_LEVELS:
        subsets = False
        notes.append(
            f"{name} has {len(levels)} values: its single values are rules, not its "
            f"{2 ** len(levels) - 2:,} subsets. "
            "Group values with data.recode to look at unions of them."
        )
    return category(name, codes, levels, subsets=subsets, protected=protected)


def _from_values(
    name: str,
    codes: np.ndarray,
    ordered: list[str],
    levels: Sequence[str],
    options: RuleSetsOptions,
    protected: bool,
) -> Attribute:
    """Every distinct value is a bin, in the order given."""
    if len(ordered) > MOST_LEVELS:
        raise InputError(
            f"rule_sets.protected: {name!r}",
            f"must have at most {MOST_LEVELS} values, but has {len(ordered):,}",
            advice="group its values with data.recode, or cut it with bins",
        )
    places = {level: place for place, level in enumerate(ordered)}
    codes = np.array([places[level] for level in levels])[codes]
    ends = [End(level, level, closes=True) for level in ordered if level != MISSING]
    return interval(
        name, codes, ordered, ends, missing=MISSING in places, shape=options.intervals, protected=protected
    )


def _from_ranges(
    name: str, text: pd.Series, edges: Sequence[float], chosen: str, protected: bool
) -> Attribute:
    """The data's own bins, those without people included; the open ends only where someone is."""
    names = bin_names(edges)
    codes = pd.Index([*names, MISSING]).get_indexer(pd.Index(text))
    last = len(names) - 1
    first, stop = int((codes > 0).all()), len(names) - int((codes != last).all())
    texts = [text_of(edge) for edge in edges]
    ends = [
        End("", texts[0]),
        *(End(low, high) for low, high in pairwise(texts)),
        End(texts[-1], "", opens=True),
    ]
    ends[-2] = End(texts[-2], texts[-1], closes=True)
    missing = bool((codes == len(names)).any())
    levels = [*names[first:stop], *([MISSING] if missing else [])]
    codes = np.where(codes == len(names), stop, codes) - first
    return interval(name, codes, levels, ends[first:stop], missing=missing, shape=chosen, protected=protected)


def _from_numbers(
    name: str,
    raw: pd.Series,
    kind: str,
    chosen: int | tuple[float, ...] | None,
    options: RuleSetsOptions,
    protected: bool,
) -> Attribute:
    values = raw.to_numpy(dtype=float, na_value=np.nan)
    gone = np.isnan(values)
    known = values[~gone]
    if known.size and not np.isfinite(known).all():
        raise InputError(f"column {name!r}", "must hold finite numbers", float(known[~np.isfinite(known)][0]))
    count = chosen if isinstance(chosen, int) else options.bins if isinstance(options.bins, int) else 10
    distinct = np.unique(known)
    if isinstance(chosen, tuple):
        edges = _given_edges(name, chosen, known)
    elif len(distinct) <= count:
        texts = [f"{value:.12g}" for value in distinct]
        codes = np.where(gone, len(distinct), np.searchsorted(distinct, np.where(gone, 0, values)))
        levels = [*texts, MISSING] if gone.any() else texts
        ends = [End(text, text, closes=True) for text in texts]
        return interval(
            name, codes, levels, ends, missing=bool(gone.any()), shape=options.intervals, protected=protected
        )
    else:
        edges = _edges(known, count, options.binning, whole=kind == "integer")
    codes = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    codes = np.where(gone, len(edges) - 1, codes)
    texts = [f"{edge:.12g}" for edge in edges]
    ends = [End(low, high) for low, high in pairwise(texts)]
    levels = bin_names(edges.tolist())[1:-1]
    if gone.any():
        levels.append(MISSING)
    return interval(
        name, codes, levels, ends, missing=bool(gone.any()), shape=options.intervals, protected=protected
    )


def _given_edges(name: str, edges: tuple[float, ...], known: np.ndarray) -> np.ndarray:
    found = np.asarray(edges, dtype=float)
    if len(found) < 3 or (np.diff(found) <= 0).any():
        raise InputError(f"rule_sets.bins.{name}", "must be at least three rising edges", list(edges))
    outside = known[(known < found[0]) | (known > found[-1])]
    if outside.size:
        raise InputError(
            f"rule_sets.bins.{name}",
            f"must hold everyone, but {outside.size:,} values lie outside (such as {outside[0]:g})",
            list(edges),
            "widen the first or the last bin",
        )
    return found


def _edges(known: np.ndarray, count: int, binning: str, *, whole: bool) -> np.ndarray:
    """Edges of equal width or with equal shares of people; rounded up to integers they cut integers alike."""
    low, high = float(known.min()), float(known.max())
    if binning == "quantile":
        edges = np.quantile(known, np.linspace(0, 1, count + 1))
    else:
        edges = np.linspace(low, high, count + 1)
    if whole:
        edges = np.ceil(edges)
    else:
        # a thousandth of a bin is shorter to read and moves nobody who matters
        digits = int(np.ceil(-np.log10((high - low) / count))) + 3
        edges = np.concatenate([[low], np.round(edges[1:-1], digits), [high]])
    return np.unique(edges)


def _category_words(name: str, rule: np.ndarray, levels: Sequence[str]) -> str:
    inside = [level for level, admitted in zip(levels, rule, strict=True) if admitted]
    outside = [level for level, admitted in zip(levels, rule, strict=True) if not admitted]
    if len(outside) < len(inside):
        return f"{name} ≠ {_either(outside)}"
    return f"{name} = {_either(inside)}"


def _either(names: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


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
