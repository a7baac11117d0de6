"""Attributes read from the data: values as categories, numbers and dates cut into bins."""

from __future__ import annotations

from collections.abc import Sequence
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

__all__ = ["MAX_LEVELS", "MAX_SUBSET_LEVELS", "number_edges", "ranges", "read_attributes"]

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
    notes += [
        f"Everyone has the same “{item.name}”, so no rule can use it."
        for item in found
        if not len(item.rules)
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
    data: AuditData, name: str, options: RuleOptions, notes: list[str], *, protected: bool
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
        return _from_numbers(data, name, raw, kind, chosen, options, protected)
    if kind == "datetime" and pd.api.types.is_datetime64_any_dtype(raw):
        return _from_dates(name, raw, chosen, options, protected)
    if chosen is not None:
        raise InputError(f"rule_sets.bins.{name}", "needs a column of numbers, but it is a category", chosen)
    return _from_category(name, codes, levels, options, notes, protected)


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


def _from_values(
    name: str,
    codes: np.ndarray,
    ordered: list[str],
    levels: Sequence[str],
    options: RuleOptions,
    protected: bool,
) -> Attribute:
    """Every distinct value is a bin, in the order given."""
    if len(ordered) > MAX_LEVELS:
        raise InputError(
            f"rule_sets.protected: {name!r}",
            f"must have at most {MAX_LEVELS} values, but has {len(ordered):,}",
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
    below, above = bool((codes == 0).any()), bool((codes == len(names) - 1).any())
    levels, ends = ranges(edges, below=below, above=above)
    missing = bool((codes == len(names)).any())
    codes = np.where(codes == len(names), len(levels), codes - (0 if below else 1))
    levels = [*levels, *([MISSING] if missing else [])]
    return interval(name, codes, levels, ends, missing=missing, shape=chosen, protected=protected)


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
    data: AuditData,
    name: str,
    raw: pd.Series,
    kind: str,
    chosen: int | tuple[float, ...] | None,
    options: RuleOptions,
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
        times = None if data.gathered is None else data.gathered["rows"].to_numpy()[~gone]
        edges = number_edges(known, count, options.binning, whole=kind == "integer", times=times)
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


def _from_dates(
    name: str,
    raw: pd.Series,
    chosen: int | tuple[float, ...] | None,
    options: RuleOptions,
    protected: bool,
) -> Attribute:
    """Bins of dates, cut between whole days; between minutes or seconds where all happens within few days."""
    if isinstance(chosen, tuple):
        raise InputError(f"rule_sets.bins.{name}", "must be a number of bins for dates", list(chosen))
    moments = raw.to_numpy().astype("datetime64[us]")
    gone = np.isnat(moments)
    known = moments[~gone]
    count = chosen or (options.bins if isinstance(options.bins, int) else 10)
    distinct = np.unique(known)
    if len(distinct) <= count:
        texts = [text_of(moment) for moment in distinct]
        codes = np.searchsorted(distinct, np.where(gone, distinct[:1], moments)) if len(distinct) else 0
        ends = [End(text, text, closes=True) for text in texts]
        levels = list(texts)
    else:
        edges = _date_edges(known, count, options.binning)
        codes = np.clip(np.searchsorted(edges, moments, side="right") - 1, 0, len(edges) - 2)
        texts = [text_of(edge) for edge in edges]
        ends = [End(low, high) for low, high in pairwise(texts)]
        levels = [f"[{low}, {high})" for low, high in pairwise(texts)]
    codes = np.where(gone, len(levels), codes)
    if gone.any():
        levels.append(MISSING)
    return interval(
        name, codes, levels, ends, missing=bool(gone.any()), shape=options.intervals, protected=protected
    )


def _date_edges(known: np.ndarray, count: int, binning: str) -> np.ndarray:
    """Edges as whole units, the largest of which there are as many as bins; the last lies after everyone."""
    ticks = known.astype(np.int64)
    low, high = int(ticks.min()), int(ticks.max())
    unit = next((size for size in _MICROSECONDS.values() if high - low >= count * size), 1)
    if binning == "quantile":
        cuts = np.quantile(ticks - low, np.linspace(0, 1, count + 1)[1:-1])
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
    """Edges of equal width or with equal shares of rows; rounded up to integers they cut integers alike.

    `times` says how many rows each number stands for.
    """
    low, high = float(known.min()), float(known.max())
    if binning == "quantile":
        shares = np.linspace(0, 1, count + 1)
        edges = np.quantile(known, shares) if times is None else _quantiles(known, times, shares)
    else:
        edges = np.linspace(low, high, count + 1)
    if whole:
        edges = np.ceil(edges)
    else:
        # a thousandth of a bin is shorter to read and moves nobody who matters
        digits = int(np.ceil(-np.log10((high - low) / count))) + 3
        edges = np.concatenate([[low], np.round(edges[1:-1], digits), [high]])
    return np.unique(edges)


def _quantiles(values: np.ndarray, times: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return what `np.quantile` does of values that occur so many times each."""
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(times[order])
    place = shares * (upto[-1] - 1)
    low, high = (
        values[order][np.searchsorted(upto, end(place), side="right")] for end in (np.floor, np.ceil)
    )
    found: np.ndarray = low + (high - low) * (place - np.floor(place))
    return found
