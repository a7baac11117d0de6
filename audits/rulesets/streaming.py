"""Cells of a table larger than memory: Parquet in two passes, one for the levels, one for the counts.

The same fold as everywhere: a part of the rows gives a part of the counts, and counts add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from audits.checks import one_of
from audits.data.groups import bin_names
from audits.data.values import MISSING, text_of
from audits.errors import InputError
from audits.progress import Progress, silent
from audits.rulesets.attributes import Attribute, End, category, interval
from audits.rulesets.cells import Cells
from audits.rulesets.reading import MOST_LEVELS, MOST_SUBSET_LEVELS, number_edges

__all__ = ["count_parquet"]

_MOST_CELLS = 50_000_000
_NOBODY = np.empty(0, dtype=np.int64)


def count_parquet(
    path: Path | str,
    protected: Sequence[str],
    favorable: str,
    *,
    bins: int = 10,
    intervals: str = "runs",
    progress: Progress = silent,
) -> tuple[tuple[Attribute, ...], Cells]:
    """Read a Parquet file or folder and count people per cell, without holding its rows.

    Parameters
    ----------
    path : path
        A file, or a folder of files with the same columns.
    protected : sequence of str
        Columns of the rules: numbers are cut into `bins` of equal width, others are categories.
    favorable : str
        Column of favourable decisions, true or false.

    Returns
    -------
    attributes, cells
        What `Search` takes; `codes` and `row_cell` are empty, because no row is kept.

    Raises
    ------
    InputError
        An unknown column, too many values or combinations, or decisions that are not true or false.
    """
    if not protected:
        raise InputError("protected", "must name at least one column")
    twice = [name for name in protected if list(protected).count(name) > 1 or name == favorable]
    if twice:
        raise InputError("protected", "must name every column once, and not the decisions", twice[0])
    data = _open(Path(path))
    for name in (*protected, favorable):
        one_of("column", name, data.schema.names, what="a column of the Parquet data")
    if not pa.types.is_boolean(data.schema.field(favorable).type):
        raise InputError(
            "favorable", "must be a column of true and false", str(data.schema.field(favorable).type)
        )
    rows = data.count_rows()
    if not rows:
        raise InputError("the Parquet data", "must hold at least one row")
    readers = [_Reader(name, data.schema.field(name).type, bins) for name in protected]
    for done, batch in _batches(data, list(protected)):
        progress(0.4 * done / rows, "Finding the values of each attribute")
        for reader in readers:
            reader.meet(batch.column(reader.name))
    sizes = [reader.settle() for reader in readers]
    if np.prod(sizes, dtype=float) > _MOST_CELLS:
        raise InputError(
            "protected", f"make {np.prod(sizes, dtype=float):,.0f} combinations at most", list(protected)
        )
    n, good = np.zeros(int(np.prod(sizes))), np.zeros(int(np.prod(sizes)))
    for done, batch in _batches(data, [*protected, favorable]):
        progress(0.4 + 0.6 * done / rows, "Counting people")
        decided = batch.column(favorable)
        if decided.null_count:
            raise InputError(
                "favorable", f"must be true or false for everyone, but {decided.null_count:,} rows have none"
            )
        index = np.ravel_multi_index([reader.codes(batch.column(reader.name)) for reader in readers], sizes)
        n += np.bincount(index, minlength=len(n))
        good += np.bincount(index[decided.to_numpy(zero_copy_only=False)], minlength=len(n))
    occupied = np.flatnonzero(n)
    codes = np.column_stack(np.unravel_index(occupied, sizes)).astype(np.int64)
    return tuple(reader.attribute(intervals) for reader in readers), Cells(
        codes, n[occupied], good[occupied], _NOBODY
    )


def _open(path: Path) -> ds.Dataset:
    if not path.exists():
        raise InputError("path", "must be a Parquet file or a folder of them", str(path))
    try:
        return ds.dataset(path, format="parquet")
    except (pa.ArrowInvalid, OSError):
        raise InputError("path", "must hold Parquet files that can be read", str(path)) from None


def _batches(data: ds.Dataset, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    done = 0
    for batch in data.to_batches(columns=columns, batch_size=2**18, fragment_readahead=1, batch_readahead=2):
        done += batch.num_rows
        yield done, batch


class _Reader:
    """Levels of one column, met batch by batch, then the level of every row."""

    def __init__(self, name: str, kind: pa.DataType, bins: int) -> None:
        self.name, self.bins = name, bins
        self.number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        self.whole = pa.types.is_integer(kind)
        self.low, self.high, self.missing = np.inf, -np.inf, False
        self.few = True  # numbers with no more values than bins are not cut
        self.values: set[Any] = set()
        self.levels: list[Any] = []

    def meet(self, column: pa.Array) -> None:
        known = pc.drop_null(column)
        if self.number:
            known = known.filter(pc.is_finite(known)) if not self.whole else known
            if pc.any(pc.is_inf(column)).as_py():
                raise InputError(f"column {self.name!r}", "must hold finite numbers")
            ends = pc.min_max(known)
            if ends["min"].is_valid:
                self.low, self.high = min(self.low, ends["min"].as_py()), max(self.high, ends["max"].as_py())
        self.missing |= len(known) < len(column)
        if self.few:
            self.values.update(pc.unique(known).to_pylist())
            self.few = not self.number or len(self.values) <= self.bins
        if not self.number and len(self.values) > MOST_LEVELS:
            raise InputError(
                f"protected: {self.name!r}", f"must have at most {MOST_LEVELS} values", advice="group them"
            )

    def settle(self) -> int:
        if self.number and not self.few:
            ends = np.array([self.low, self.high], dtype=float)
            self.edges = number_edges(ends, self.bins, "width", whole=self.whole)
            return len(self.edges) - 1 + self.missing
        self.levels = sorted(self.values, key=None if self.number else text_of)
        return len(self.levels) + self.missing

    def codes(self, column: pa.Array) -> np.ndarray:
        if not self.number:
            return self._places(column)
        gone = column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=float)
        if self.few:
            places = np.searchsorted(np.asarray(self.levels, dtype=float), values)
            return np.where(gone, len(self.levels), places)
        places = np.clip(np.searchsorted(self.edges, values, side="right") - 1, 0, len(self.edges) - 2)
        return np.where(gone, len(self.edges) - 1, places)

    def _places(self, column: pa.Array) -> np.ndarray:
        if not isinstance(column, pa.DictionaryArray):
            column = column.dictionary_encode()
        places = pc.index_in(column.dictionary, value_set=pa.array(self.levels, column.dictionary.type))
        places = places.fill_null(len(self.levels)).to_numpy(zero_copy_only=False).astype(np.int64)
        table = np.append(places, len(self.levels))
        return table[column.indices.fill_null(len(column.dictionary)).to_numpy()]

    def attribute(self, intervals: str) -> Attribute:
        gone = [MISSING] if self.missing else []
        if not self.number:
            levels = [*map(text_of, self.levels), *gone]
            return category(self.name, _NOBODY, levels, subsets=len(levels) <= MOST_SUBSET_LEVELS)
        if self.few:
            texts = [f"{value:.12g}" for value in self.levels]
            ends = [End(text, text, closes=True) for text in texts]
            inner = texts
        else:
            texts = [f"{edge:.12g}" for edge in self.edges]
            ends = [End(low, high) for low, high in pairwise(texts)]
            inner = bin_names(self.edges.tolist())[1:-1]
        return interval(self.name, _NOBODY, [*inner, *gone], ends, missing=self.missing, shape=intervals)
