"""Attributes read from the data: values as categories, numbers and dates cut into bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from audits.checks import one_of
from audits.data import AuditData
from audits.data.preprocessing.groups import bin_names
from audits.data.values import MISSING, as_text, text_of
from audits.errors import InputError
from audits.subgroups.attributes import Attribute, End, category, interval
from audits.subgroups.options import RuleOptions

MAX_SUBSET_LEVELS = 12
MAX_LEVELS = 100
_NUMBERS = ("continuous", "integer", "ordinal")
_MICROSECONDS = {"day": 86_400_000_000, "minute": 60_000_000, "second": 1_000_000}


def read_attributes(data: AuditData, options: RuleOptions) -> tuple[tuple[Attribute, ...], tuple[str, ...]]:
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
    notes += [_unusable(data, item.name) for item in found if not len(item.rules)]
    if not any(len(attribute.rules) for attribute in found if attribute.protected):
        raise InputError(
            "rule_sets.protected",
            "must have at least two values to compare groups, but everyone has the same",
            list(names),
            "name another attribute, or audit more rows",
        )
    return tuple(found), tuple(notes)


def _unusable(data: AuditData, name: str) -> str:
    """Say why no rule can use an attribute: one value, or ranges of which all people are in one."""
    values = data.frame[name] if name in data.frame.columns else data.groups[name]
    if len(values.unique()) > 1:
        return f"All values of “{name}” fall into one range, so no rule can use it."
    return f"Everyone has the same “{name}”, so no rule can use it."


@dataclass(frozen=True, eq=False)
class _Bins:
    """Ordered bins of an attribute: names, ends, the bin of every row, and which rows have no value."""

    levels: Sequence[str]
    ends: Sequence[End]
    codes: np.ndarray
    gone: np.ndarray


def _read(
    data: AuditData, name: str, options: RuleOptions, notes: list[str], *, protected: bool
) -> Attribute:
    raw = data.frame[name] if name in data.frame.columns else data.groups[name]
    text = data.groups[name] if protected else as_text(raw).fillna(MISSING)
    chosen = options.bins.get(name) if isinstance(options.bins, dict) else None
    kind = data.kinds.get(name, "categorical")
    if chosen is None and protected and name in data.bins:
        found = _from_ranges(text, data.bins[name])
    elif kind == "ordinal":
        found = _from_ranks(name, text, data.orders.get(name, ()))
    elif kind in _NUMBERS and pd.api.types.is_numeric_dtype(raw) and not pd.api.types.is_bool_dtype(raw):
        found = _from_numbers(data, name, raw, chosen, options)
    elif kind == "datetime" and pd.api.types.is_datetime64_any_dtype(raw):
        found = _from_dates(data, name, raw, chosen, options)
    elif chosen is not None:
        raise InputError(f"rule_sets.bins.{name}", "needs a column of numbers, but it is a category", chosen)
    else:
        codes, levels = pd.factorize(text, sort=True)
        return _from_category(name, codes, list(map(str, levels)), options, notes, protected)
    missing = bool(found.gone.any())
    return interval(
        name,
        np.where(found.gone, len(found.levels), found.codes),
        [*found.levels, *([MISSING] if missing else [])],
        found.ends,
        missing=missing,
        shape=options.intervals,
        protected=protected,
    )


def _from_category(
    name: str,
    codes: np.ndarray,
    levels: list[str],
    options: RuleOptions,
    notes: list[str],
    protected: bool,
) -> Attribute:
    if len(levels) > MAX_LEVELS:
        raise InputError(
            f"rule_sets.protected: {name!r}" if protected else f"rule_sets.context: {name!r}",
            f"must have at most {MAX_LEVELS} values, but has {len(levels):,}",
            advice="group its values with data.recode, cut numbers with data.bins, or leave it out",
        )
    subsets = options.categories == "subsets"
    if subsets and len(levels) > MAX_SUBSET_LEVELS:
        subsets = False
        notes.append(
            f"“{name}” has {len(levels)} values, so rules use its single values, not its "
            f"{2 ** len(levels) - 2:,} subsets. Group its values to see unions of them."
        )
    return category(name, codes, levels, subsets=subsets, protected=protected)


def _from_ranks(name: str, text: pd.Series, order: Sequence[str]) -> _Bins:
    """Every distinct value is a bin, in the order given."""
    gone = (text == MISSING).to_numpy()
    known = sorted(map(str, text[~gone].unique()))
    if len(known) + gone.any() > MAX_LEVELS:
        raise InputError(
            f"rule_sets.protected: {name!r}",
            f"must have at most {MAX_LEVELS} values, but has {len(known) + gone.any():,}",
            advice="group its values with data.recode, or cut it with bins",
        )
    ranks = {level: rank for rank, level in reversed(list(enumerate([*order, *known])))}
    levels = sorted(known, key=ranks.__getitem__)
    return _Bins(levels, _each(levels), pd.Index(levels).get_indexer(pd.Index(text.astype(str))), gone)


def _each(texts: Sequence[str]) -> list[End]:
    """Return the ends of bins that hold one value each."""
    return [End(text, text, closes=True) for text in texts]


def _from_ranges(text: pd.Series, edges: Sequence[float]) -> _Bins:
    """The data's own bins, those without people included; the open ends only where someone is."""
    names = bin_names(edges)
    codes = pd.Index([*names, MISSING]).get_indexer(pd.Index(text))
    below, above = bool((codes == 0).any()), bool((codes == len(names) - 1).any())
    levels, ends = ranges(edges, below=below, above=above)
    return _Bins(levels, ends, codes - (0 if below else 1), codes == len(names))


def ranges(edges: Sequence[float], *, below: bool, above: bool) -> tuple[list[str], list[End]]:
    """Names and ends of the data's own bins; of those outside the edges only where someone is."""
    texts = [text_of(edge) for edge in edges]
    ends = [
        End("", texts[0]),
        *(End(low, high) for low, high in pairwise(texts)),
        End(texts[-1], "", opens=True),
    ]
    ends[-2] = End(texts[-2], texts[-1], closes=True)
    first, stop = 0 if below else 1, len(ends) if above else len(ends) - 1
    return bin_names(edges)[first:stop], ends[first:stop]


def _from_numbers(
    data: AuditData, name: str, raw: pd.Series, chosen: int | tuple[float, ...] | None, options: RuleOptions
) -> _Bins:
    values = raw.to_numpy(dtype=float, na_value=np.nan)
    gone = np.isnan(values)
    known = values[~gone]
    if known.size and not np.isfinite(known).all():
        raise InputError(f"column {name!r}", "must hold finite numbers", float(known[~np.isfinite(known)][0]))
    distinct = np.unique(known)
    if isinstance(chosen, tuple):
        edges = _given_edges(name, chosen, known)
    elif len(distinct) <= (count := _number_of_bins(chosen, options)):
        return _singles(distinct, values, gone, [f"{value:.12g}" for value in distinct])
    else:
        times = _times(data, ~gone)
        edges = number_edges(known, count, options.binning, whole=data.kinds[name] == "integer", times=times)
    texts = [f"{edge:.12g}" for edge in edges]
    return _between(edges, values, gone, texts, bin_names(edges.tolist())[1:-1])


def _times(data: AuditData, known: np.ndarray) -> np.ndarray | None:
    """Return how many people, or rows that were gathered, the rows `known` (n,) stand for; None: one each."""
    if data.gathered is not None:
        return data.gathered["rows"].to_numpy()[known]
    return None if data.weights is None else data.weights[known]


def _from_dates(
    data: AuditData, name: str, raw: pd.Series, chosen: int | tuple[float, ...] | None, options: RuleOptions
) -> _Bins:
    """Bins of dates, cut between whole days; between minutes or seconds where all happens within few days."""
    if isinstance(chosen, tuple):
        raise InputError(f"rule_sets.bins.{name}", "must be a number of bins for dates", list(chosen))
    moments = raw.to_numpy().astype("datetime64[us]")
    gone = np.isnat(moments)
    known, count = moments[~gone], _number_of_bins(chosen, options)
    distinct = np.unique(known)
    if len(distinct) <= count:
        return _singles(distinct, moments, gone, [text_of(moment) for moment in distinct])
    edges = _date_edges(known, count, options.binning, _times(data, ~gone))
    texts = [text_of(edge) for edge in edges]
    return _between(edges, moments, gone, texts, [f"[{low}, {high})" for low, high in pairwise(texts)])


def _number_of_bins(chosen: int | None, options: RuleOptions) -> int:
    return chosen or (options.bins if isinstance(options.bins, int) else 10)


def _singles(distinct: np.ndarray, values: np.ndarray, gone: np.ndarray, texts: list[str]) -> _Bins:
    """Every distinct number, or moment, is a bin."""
    return _Bins(texts, _each(texts), np.searchsorted(distinct, values), gone)


def _between(
    edges: np.ndarray, values: np.ndarray, gone: np.ndarray, texts: list[str], levels: list[str]
) -> _Bins:
    """Bins between edges, which are told by `texts`."""
    codes = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    return _Bins(levels, [End(low, high) for low, high in pairwise(texts)], codes, gone)


def _date_edges(known: np.ndarray, count: int, binning: str, times: np.ndarray | None) -> np.ndarray:
    """Edges as whole units, the largest of which there are as many as bins; the last lies after everyone."""
    ticks = known.astype(np.int64)
    low, high = int(ticks.min()), int(ticks.max())
    unit = next((size for size in _MICROSECONDS.values() if high - low >= count * size), 1)
    if binning == "quantile":
        cuts = _quantiles(ticks - low, times, np.linspace(0, 1, count + 1)[1:-1])
    else:
        cuts = np.linspace(0, high - low, count + 1)[1:-1]
    inner = -(-(low + np.rint(cuts).astype(np.int64)) // unit) * unit
    edges = np.unique(np.concatenate([[low // unit * unit], inner, [(high // unit + 1) * unit]]))
    return edges.astype("datetime64[us]")


def _given_edges(name: str, edges: tuple[float, ...], known: np.ndarray) -> np.ndarray:
    found = np.asarray(edges, dtype=float)
    if len(found) < 3 or (np.diff(found) <= 0).any():
        raise InputError(f"rule_sets.bins.{name}", "must be at least three rising edges", list(edges))
    outside = known[(known < found[0]) | (known > found[-1])]
    if outside.size:
        raise InputError(
            f"rule_sets.bins.{name}",
            f"must hold everyone, but {outside.size:,} values are outside (such as {outside[0]:g})",
            list(edges),
            "widen the first or the last bin",
        )
    return found


def number_edges(
    known: np.ndarray, count: int, binning: str, *, whole: bool, times: np.ndarray | None = None
) -> np.ndarray:
    """Edges of equal width or with equal shares of people; rounded up to integers they cut integers alike.

    `times` says how many people, or rows, each number stands for.
    """
    low, high = float(known.min()), float(known.max())
    if binning == "quantile":
        shares = np.linspace(0, 1, count + 1)
        edges = _quantiles(known, times, shares)
    else:
        edges = np.linspace(low, high, count + 1)
    if whole:
        edges = np.ceil(edges)
    else:
        # a thousandth of a bin is shorter to read and moves nobody who matters
        digits = int(np.ceil(-np.log10((high - low) / count))) + 3
        edges = np.concatenate([[low], np.round(edges[1:-1], digits), [high]])
    return np.unique(edges)


def _quantiles(values: np.ndarray, times: np.ndarray | None, shares: np.ndarray) -> np.ndarray:
    """Return what `np.quantile` does of values that occur so many times each."""
    if times is None:
        return np.asarray(np.quantile(values, shares))
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(times[order])
    place = shares * (upto[-1] - 1)
    low, high = (
        values[order][np.searchsorted(upto, end(place), side="right")] for end in (np.floor, np.ceil)
    )
    return low + (high - low) * (place - np.floor(place))
