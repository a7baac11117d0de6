"""The rule-set audit of decisions in Parquet files that need not fit into memory.

One pass finds the levels of each attribute, one counts: a part of the rows gives a part of the counts, and
counts add up.

For a notebook; the table of a spec is counted by `audits.runs.reading.large`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from audits.checks import checked, generator, one_of
from audits.data.io.columns import convert_text
from audits.data.preprocessing.groups import bin_names
from audits.data.values import MISSING, as_text, text_of
from audits.errors import InputError, not_counted
from audits.mining.attributes import Attribute, End, category, interval
from audits.mining.cells import Cells
from audits.mining.reading import MOST_LEVELS, MOST_SUBSET_LEVELS, number_edges
from audits.progress import Progress, part, silent
from audits.rule_sets.audit import audit_cells
from audits.rule_sets.options import RuleSetsOptions
from audits.rule_sets.packing import AuditedPeople
from audits.rule_sets.result import RuleSetsResult

__all__ = [
    "Decided",
    "Levels",
    "Ruled",
    "count_parquet",
    "open_parquet",
    "rule_sets_parquet",
    "true_or_false",
]

_MOST_CELLS = 50_000_000
_BROKEN = (pa.ArrowException, OSError)


def rule_sets_parquet(
    path: Path | str,
    options: RuleSetsOptions | None = None,
    *,
    favorable: str,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> RuleSetsResult:
    """Find the groups that were decided differently, in Parquet files read twice, batch by batch.

    Parameters
    ----------
    path : path
        A file, or a folder of files with the same columns.
    options : RuleSetsOptions
        Its `protected` names the columns of the rules: numbers are cut into bins, others are categories.
    favorable : str
        Column of favourable decisions, true or false, without gaps.

    Returns
    -------
    RuleSetsResult
        As of `rule_sets`, but its ``people`` have no rows, and nothing is perturbed: no model is called.

    Raises
    ------
    InputError
        No such file or column, too many values or combinations, decisions that are not true or false,
        no group as large as the support, or an option that needs all rows at once.
    """
    options = replace(checked(RuleSetsOptions, options, "rule_sets"), samples=0)
    _check_streamed(options)
    ruled = [_ruled(name, options, protected=True) for name in options.protected or ()]
    ruled += [_ruled(name, options, protected=False) for name in options.context]
    attributes, cells = count_parquet(
        open_parquet([Path(path)]), ruled, true_or_false(favorable), progress=part(progress, 0.0, 0.5)
    )
    return _audit(attributes, cells, options, favorable, rng, progress)


def _check_streamed(options: RuleSetsOptions) -> None:
    """Refuse what would need every row at once, or would be passed over in silence."""
    for where, there in {
        "rule_sets.text": options.text is not None,
        "rule_sets.binning: quantile": options.binning == "quantile",
    }.items():
        if there:
            raise not_counted(where)


def _ruled(name: str, options: RuleSetsOptions, *, protected: bool) -> Ruled:
    chosen = options.bins.get(name) if isinstance(options.bins, dict) else options.bins
    return Ruled(
        name=name,
        bins=10 if chosen is None else chosen,
        subsets=options.categories == "subsets",
        intervals=options.intervals,
        protected=protected,
    )


def _audit(
    attributes: tuple[Attribute, ...],
    cells: Cells,
    options: RuleSetsOptions,
    outcome: str,
    rng: np.random.Generator | int | None,
    progress: Progress,
) -> RuleSetsResult:
    nobody = pd.DataFrame(
        {"cell": np.empty(0, np.int64), "favorable": np.empty(0, bool), "score": np.empty(0)},
        index=pd.RangeIndex(0, name="row"),
    )
    audited = AuditedPeople(rows=int(cells.total), outcome=outcome, invents=False, people=nobody)
    notes = tuple(
        f"Everyone has the same “{item.name}”, so no rule can use it."
        for item in attributes
        if not len(item.rules)
    )
    return audit_cells(
        audited,
        attributes,
        cells,
        options,
        notes,
        generator(rng).spawn(5),
        lambda *_: None,
        part(progress, 0.5, 1.0),
    )


@dataclass(frozen=True)
class Decided:
    """Where decisions come from: a column, and how a batch of it says who is decided favourably.

    Attributes
    ----------
    check : callable
        Told the type of the column; raises InputError if it cannot be read so.
    favorable : callable
        Array of a batch to bool (n,); raises InputError for a row without a decision.
    """

    column: str
    check: Callable[[pa.DataType], None]
    favorable: Callable[[pa.Array], np.ndarray]


def true_or_false(column: str) -> Decided:
    """Decisions as a column of true and false, without gaps."""

    def check(kind: pa.DataType) -> None:
        if not pa.types.is_boolean(kind):
            raise InputError("favorable", "must be a column of true and false", str(kind))

    def favorable(batch: pa.Array) -> np.ndarray:
        if batch.null_count:
            raise InputError(
                "favorable", f"must be true or false for everyone, but {batch.null_count:,} rows have none"
            )
        return np.asarray(batch.to_numpy(zero_copy_only=False), dtype=bool)

    return Decided(column, check, favorable)


def open_parquet(paths: Sequence[Path]) -> ds.Dataset:
    """Open Parquet files, or folders of them, as one table whose files have the same columns.

    Raises
    ------
    InputError
        A path that does not exist, a file that is no Parquet, or files that differ in their columns.
    """
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise InputError("path", "must be a Parquet file or a folder of them", str(missing[0]))
    try:
        parts = [ds.dataset(path, format="parquet", partitioning="hive") for path in paths]
        data = parts[0] if len(parts) == 1 else ds.dataset(parts)
        for part in parts:
            for file in part.get_fragments():
                _check_same(file, parts[0])
    except _BROKEN:
        named = ", ".join(map(str, paths))
        raise InputError("path", "must hold Parquet files that can be read", named) from None
    return data


def _check_same(file: ds.Fragment, first: ds.Dataset) -> None:
    """A column that is not there would be read as missing values."""
    wanted = next(first.get_fragments()).physical_schema.names
    absent = [name for name in wanted if name not in file.physical_schema.names]
    if absent:
        raise InputError(
            Path(file.path).name,
            f"must have the same columns as the first file, but {absent[0]!r} is not there",
        )


def count_parquet(
    data: ds.Dataset, ruled: Sequence[Ruled], decided: Decided, *, progress: Progress = silent
) -> tuple[tuple[Attribute, ...], Cells]:
    """Read Parquet files and count people per cell, without holding their rows.

    Parameters
    ----------
    data : Dataset
        From `open_parquet`.
    ruled : sequence of Ruled
        Columns of the rules.
    decided : Decided
        Column of decisions.

    Returns
    -------
    attributes, cells
        What `Search` takes; `codes` and `row_cell` are empty, because no row is kept.

    Raises
    ------
    InputError
        An unknown column, too many values or combinations, or rows without a decision.
    """
    names = [item.name for item in ruled]
    if not any(item.protected for item in ruled):
        raise InputError("protected", "must name at least one column")
    twice = [name for name in names if names.count(name) > 1 or name == decided.column]
    if twice:
        raise InputError("protected", "must name every column once, and not the decisions", twice[0])
    for name in (*names, decided.column):
        one_of("column", name, data.schema.names, what="a column of the Parquet data")
    decided.check(data.schema.field(decided.column).type)
    rows = data.count_rows()
    if not rows:
        raise InputError("the Parquet data", "must hold at least one row")
    readers = [Levels(item, data.schema.field(item.name).type) for item in ruled]
    for done, batch in _batches(data, names):
        progress(0.4 * done / rows, "Finding the values of each attribute")
        for reader in readers:
            reader.meet(batch.column(reader.name))
    sizes = [reader.settle() for reader in readers]
    if np.prod(sizes, dtype=float) > _MOST_CELLS:
        raise InputError(
            "protected",
            f"must make at most {_MOST_CELLS:,} combinations of values, but "
            f"{' x '.join(map(str, sizes))} are {np.prod(sizes, dtype=float):,.0f}",
            names,
            "leave one out, or use fewer bins",
        )
    n, good = np.zeros(int(np.prod(sizes))), np.zeros(int(np.prod(sizes)))
    for done, batch in _batches(data, [*names, decided.column]):
        progress(0.4 + 0.6 * done / rows, "Counting people")
        favorable = decided.favorable(batch.column(decided.column))
        index = np.ravel_multi_index([reader.codes(batch.column(reader.name)) for reader in readers], sizes)
        n += np.bincount(index, minlength=len(n))
        good += np.bincount(index[favorable], minlength=len(n))
    occupied, nobody = np.flatnonzero(n), np.empty(0, dtype=np.int64)
    codes = np.column_stack(np.unravel_index(occupied, sizes)).astype(np.int64)
    return tuple(reader.attribute() for reader in readers), Cells(codes, n[occupied], good[occupied], nobody)


def _batches(data: ds.Dataset, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    done = 0
    try:
        for batch in data.to_batches(
            columns=columns, batch_size=2**18, fragment_readahead=1, batch_readahead=2
        ):
            done += batch.num_rows
            yield done, batch
    except _BROKEN as error:
        reason = str(error).strip().splitlines()[0][:160]
        raise InputError("the Parquet data", f"cannot be read to the end ({reason.rstrip('.')})") from None


_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Ruled:
    """A column that rules may constrain, and how.

    Attributes
    ----------
    bins : int or tuple of float
        Bins of equal width of a number, or their edges.
    subsets : bool
        Rules on a category: its subsets, or its single values.
    intervals : {"runs", "thresholds", "bins"}
        Rules on bins.
    """

    name: str
    bins: int | tuple[float, ...] = 10
    subsets: bool = True
    intervals: str = "runs"
    protected: bool = True


class Levels:
    """Meets every batch of a column once, settles its levels, then says each row's.

    Parameters
    ----------
    ruled : Ruled
    kind : DataType
        Of the column.
    """

    def __init__(self, ruled: Ruled, kind: pa.DataType) -> None:
        self.ruled, self.name = ruled, ruled.name
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        self.number = numeric
        self.whole = numeric  # until a fraction is met
        if not numeric and isinstance(ruled.bins, tuple):
            raise InputError(f"bins of {self.name!r}", "can only cut a column of numbers", str(kind))
        self.low, self.high, self.missing = np.inf, -np.inf, False
        # numbers with no more values than bins are not cut
        self.few = not self.number or isinstance(ruled.bins, int)
        self.values: set[Any] = set()
        self.levels: list[str] = []

    def meet(self, column: pa.Array) -> None:
        """Take note of the values of one batch."""
        known = pc.drop_null(column)
        if pa.types.is_floating(known.type):
            if pc.any(pc.is_inf(known)).as_py():
                raise InputError(f"column {self.name!r}", "must hold finite numbers")
            known = known.filter(pc.is_finite(known))
            self.whole = self.whole and pc.all(pc.equal(known, pc.floor(known))).as_py() is not False
        if self.number:
            ends = pc.min_max(known)
            if ends["min"].is_valid:
                self.low, self.high = min(self.low, ends["min"].as_py()), max(self.high, ends["max"].as_py())
        self.missing |= len(known) < len(column)
        if self.few:
            self.values.update(pc.unique(known).to_pylist())
            self.few = not self.number or len(self.values) <= self._most_bins
        if not self.number and len(self.values) > MOST_LEVELS:
            raise InputError(
                f"rule_sets.protected: {self.name!r}" if self.ruled.protected else f"context: {self.name!r}",
                f"must have at most {MOST_LEVELS} values, but has more",
                advice="group its values in the file, or leave it out",
            )

    @property
    def _most_bins(self) -> int:
        return self.ruled.bins if isinstance(self.ruled.bins, int) else 0

    def settle(self) -> int:
        """Return the number of levels, once every batch has been met."""
        if self.number and not self.few:
            self._settle_edges()
            return len(self.ends) + self.missing
        raw = sorted(self.values, key=None if self.number else text_of)
        if self.number:
            self.levels = [f"{value:.12g}" for value in raw]
            self.places = {value: place for place, value in enumerate(raw)}
            self.places[None] = len(raw)
            return len(self.levels) + self.missing
        # the same words for a missing value as in a table that is read whole
        texts: pd.Series = pd.Series(raw, dtype=object)
        if raw and all(isinstance(value, str) for value in raw):
            words = convert_text(self.name, pa.chunked_array([pa.array(raw)])).values
            texts = as_text(words) if words.notna().any() else pd.Series([None] * len(raw), dtype=object)
        named = [MISSING if pd.isna(text) else text_of(text) for text in texts]
        self.levels = sorted({*named, MISSING} if self.missing else {*named})
        at = {text: place for place, text in enumerate(self.levels)}
        self.places = {value: at[text] for value, text in zip(raw, named, strict=True)}
        self.places[None] = at.get(MISSING, 0)
        return len(self.levels)

    def _settle_edges(self) -> None:
        if isinstance(self.ruled.bins, tuple):
            self.edges = np.array(self.ruled.bins, dtype=float)
            if self.low < self.edges[0] or self.high > self.edges[-1]:
                raise InputError(
                    f"rule_sets.bins.{self.name}",
                    f"must hold everyone, but values run from {self.low:g} to {self.high:g}",
                    list(self.ruled.bins),
                    "widen the first or the last bin",
                )
        else:
            both = np.array([self.low, self.high], dtype=float)
            self.edges = number_edges(both, self.ruled.bins, "width", whole=self.whole)
        texts = [f"{edge:.12g}" for edge in self.edges]
        self.ends = [End(low, high) for low, high in pairwise(texts)]
        self.levels = bin_names(self.edges.tolist())[1:-1]

    def codes(self, column: pa.Array) -> np.ndarray:
        """Return the level of every row of a batch, (n,)."""
        if self.few:
            return self._places(column)
        gone = column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=float)
        found = np.searchsorted(self.edges, values, side="right")
        found = np.clip(found - 1, 0, len(self.edges) - 2)
        return np.where(gone, len(self.ends), found)

    def _places(self, column: pa.Array) -> np.ndarray:
        if not isinstance(column, pa.DictionaryArray):
            column = column.dictionary_encode()
        gone = self.places[None]  # NaN is no value that was met
        table = [self.places.get(value, gone) for value in column.dictionary.to_pylist()]
        indices = column.indices.fill_null(len(table)).to_numpy()
        return np.array([*table, gone], dtype=np.int64)[indices]

    def attribute(self) -> Attribute:
        """Return the attribute with its rules; its `codes` are empty, because no row is kept."""
        gone, ruled = [MISSING] if self.missing else [], self.ruled
        if not self.number:
            subsets = ruled.subsets and len(self.levels) <= MOST_SUBSET_LEVELS
            return category(self.name, _NOBODY, self.levels, subsets=subsets, protected=ruled.protected)
        ends = [End(text, text, closes=True) for text in self.levels] if self.few else self.ends
        return interval(
            self.name, _NOBODY, [*self.levels, *gone], ends,
            missing=self.missing, shape=ruled.intervals, protected=ruled.protected,
        )  # fmt: skip
