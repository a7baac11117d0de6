"""Cells of a table larger than memory: Parquet in two passes, one for the levels, one for the counts.

The same fold as everywhere: a part of the rows gives a part of the counts, and counts add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from audits.checks import one_of
from audits.errors import InputError
from audits.progress import Progress, silent
from audits.rule_sets.attributes import Attribute
from audits.rule_sets.cells import Cells
from audits.rule_sets.levels import Levels, Ruled

__all__ = ["Decided", "count_parquet", "open_parquet", "true_or_false"]

_MOST_CELLS = 50_000_000
_NOBODY = np.empty(0, dtype=np.int64)
_BROKEN = (pa.ArrowException, OSError)


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
    occupied = np.flatnonzero(n)
    codes = np.column_stack(np.unravel_index(occupied, sizes)).astype(np.int64)
    return tuple(reader.attribute() for reader in readers), Cells(codes, n[occupied], good[occupied], _NOBODY)


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
