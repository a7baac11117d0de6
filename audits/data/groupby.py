"""People counted by what they have in common, batch by batch: a table of any length becomes a short one.

A fold: `partial` counts a batch, `merge` adds counts up, `finish` makes a table of them. One line of the
result stands for all rows that agree in every column counted, so that filters, recodes, labels, groups and
thresholds are applied to it as to the rows themselves, and whatever is a sum over people is the same number.

A column of numbers with many values is cut where something asks on which side of a number they lie: at
filters, bins, thresholds. Between two cuts all its values do the same, and one of them stands for all. Of a
column of scores their sums are kept besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from audits.data.io.batches import Batches, Piece, reopened
from audits.data.io.typed_tables import without_dictionaries
from audits.dividing import others
from audits.errors import InputError
from audits.progress import Progress, silent

__all__ = [
    "MOST_VALUES",
    "Asked",
    "Quantiles",
    "TooMany",
    "count_rows",
    "finish",
    "merge",
    "partial",
]

MOST_VALUES = 2_000
"""Different values that a column is counted by."""


@dataclass(frozen=True)
class Quantiles:
    """So many bins of about as many people."""

    bins: int


Asked = tuple[float, ...] | int | Quantiles | None
"""How an audit cuts a column of numbers: at edges, into so many bins of a width, at quantiles, not at all."""

_MOST_LINES = 2_000_000
_GATHERED = 2**18  # lines of parts, from which they are added up


class TooMany(Exception):
    """A column that is counted by value has too many of them."""

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self.column = column


def partial(batch: pa.RecordBatch, cuts: Mapping[str, np.ndarray], *, scored: str | None = None) -> pa.Table:
    """Count the rows of a batch: a table with one line for those that agree.

    ``v:NAME`` is the value of a column counted by value. Of a column that is cut, ``c:NAME`` says where a
    line lies between the cuts (the last place is "missing"), ``low:NAME`` and ``high:NAME`` are its smallest
    and its largest number. ``rows`` are a line's rows; ``sum`` and ``square`` add up how far its
    scores lie from ``anchor``.

    Parameters
    ----------
    batch : RecordBatch
        The columns to count by.
    cuts : mapping of str to rising array
        Columns that are cut, and where.
    scored : str, optional
        The column whose sums are kept.

    Raises
    ------
    TooMany
        For a column that is not cut and has too many values.
    """
    held: dict[str, pa.Array | np.ndarray] = {"rows": np.ones(batch.num_rows, dtype=np.int64)}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name not in cuts and name != scored:
            held[f"v:{name}"] = column
            continue
        values = _numbers(column)
        anchor = values
        if name in cuts:
            place = np.searchsorted(cuts[name], values, side="right")
            anchor = cuts[name][np.maximum(place - 1, 0)]
            held[f"c:{name}"] = _between(values, place, cuts[name])
            held[f"low:{name}"] = held[f"high:{name}"] = pa.array(values, from_pandas=True)
        else:
            held[f"v:{name}"] = column
        if name == scored:
            apart = values - anchor
            held |= {"anchor": anchor, "sum": apart, "square": apart**2}
    return without_dictionaries(_grouped(pa.table(held)))


def merge(parts: Sequence[pa.Table]) -> pa.Table:
    """Add up the counts of parts of the rows."""
    if len(parts) == 1:
        return parts[0]
    found = _grouped(pa.concat_tables(parts))
    if found.num_rows > _MOST_LINES:
        raise InputError(
            "data",
            f"must leave at most {_MOST_LINES:,} combinations of values of the columns counted by",
            [name[2:] for name in found.column_names if name.startswith(("v:", "c:"))],
            "cut a column of numbers with data.bins, recode one to fewer values, or leave one out",
        )
    return found


def _grouped(table: pa.Table) -> pa.Table:
    """Return one line for each combination of values and places, what is counted added up."""
    keys = [name for name in table.column_names if name.startswith(("v:", "c:"))]
    for name in keys:
        if name.startswith("v:") and _most_values(table.column(name)) > MOST_VALUES:
            raise TooMany(name[2:])
    ends = {"low:": "min", "high": "max", "anch": "min"}
    added = [(name, ends.get(name[:4], "sum")) for name in table.column_names if name not in keys]
    found = table.group_by(keys, use_threads=False).aggregate(added)
    return found.rename_columns([*keys, *(name for name, _ in added)])


def _most_values(column: pa.ChunkedArray) -> int:
    if pa.types.is_dictionary(column.type):
        if all(len(chunk.dictionary) <= MOST_VALUES for chunk in column.chunks):
            return 0
        column = pa.chunked_array([chunk.indices for chunk in column.chunks])
    return len(column.unique())


def finish(
    counts: pa.Table, schema: pa.Schema, *, scored: str | None = None
) -> tuple[pa.Table, pd.DataFrame]:
    """Return the lines as a table of the columns counted, and what each line was gathered from.

    Returns
    -------
    table : Table
        In a column that is cut, the smallest number between two cuts stands for all; in one of scores the
        mean of the line.
    gathered : DataFrame
        ``rows``; of the scores ``squares`` (of their distances from the line's mean), ``low`` and ``high``.
    """
    told = {name: counts.column(name) for name in counts.column_names}
    number = {name: _numbers(column) for name, column in told.items() if not name.startswith("v:")}
    rows = number["rows"]
    gathered = pd.DataFrame({"rows": rows, "squares": np.zeros(len(rows))})
    if scored is not None:
        mean = number["anchor"] + number["sum"] / rows
        gathered["squares"] = np.maximum(number["square"] - number["sum"] ** 2 / rows, 0.0)
        gathered["low"] = number.get(f"low:{scored}", mean)
        gathered["high"] = number.get(f"high:{scored}", mean)
    columns: dict[str, pa.ChunkedArray | pa.Array] = {}
    for name in schema.names:
        if f"v:{name}" in told:
            columns[name] = told[f"v:{name}"]
            continue
        low = number[f"low:{name}"]
        if name == scored:
            shown, kind = np.clip(mean, low, number[f"high:{name}"]), pa.float64()
        else:
            shown = pd.Series(low).groupby(number[f"c:{name}"]).transform("min").to_numpy()
            kind = schema.field(name).type
        known = ~np.isnan(low)
        columns[name] = pa.array(np.where(known, shown, 0.0), mask=~known).cast(kind, safe=False)
    gathered.index = pd.RangeIndex(1, len(gathered) + 1, name="row")
    return pa.table(columns), gathered


def count_rows(
    batches: Batches,
    columns: Sequence[str],
    cuts: Mapping[str, np.ndarray],
    *,
    scored: str | None = None,
    progress: Progress = silent,
) -> pa.Table:
    """Count the rows of a table by some of its columns.

    Raises
    ------
    TooMany
        For a column that is not cut and has too many values.
    InputError
        If too many combinations of values occur, or the table cannot be read to its end.
    """
    if not batches.rows:
        raise InputError("data.path", "must hold at least one row")
    return _summed(_pieces(batches, columns, cuts, scored, progress))


def _pieces(
    batches: Batches,
    columns: Sequence[str],
    cuts: Mapping[str, np.ndarray],
    scored: str | None,
    progress: Progress,
) -> Iterator[pa.Table]:
    """Yield the counts of each piece of the table, in order, whoever counts them."""
    divide, done = others(), 0
    if divide is not None and batches.paths and len(batches.pieces) > 1:
        found = divide(_count_there, (batches.paths, tuple(columns), dict(cuts), scored), batches.pieces)
        for piece, counts in zip(batches.pieces, found, strict=True):
            done += piece.rows
            progress(done / batches.rows, "Counting people")
            yield counts
        return

    def told(piece: Piece) -> Iterator[pa.RecordBatch]:
        nonlocal done
        for batch in batches.read_piece(piece, columns):
            progress(done / batches.rows, "Counting people")
            done += batch.num_rows
            yield batch

    for piece in batches.pieces:
        yield _folded(told(piece), cuts, scored)


def _count_there(
    paths: Sequence[Path],
    columns: Sequence[str],
    cuts: Mapping[str, np.ndarray],
    scored: str | None,
    piece: Piece,
) -> pa.Table:
    return _folded(reopened(paths).read_piece(piece, columns), cuts, scored)


def _folded(
    batches: Iterable[pa.RecordBatch], cuts: Mapping[str, np.ndarray], scored: str | None
) -> pa.Table:
    return _summed(partial(batch, cuts, scored=scored) for batch in batches if batch.num_rows)


def _summed(parts: Iterable[pa.Table]) -> pa.Table:
    held: list[pa.Table] = []
    for part in parts:
        held.append(part)
        if len(held) > 1 and sum(map(len, held[1:])) > max(len(held[0]), _GATHERED):
            held = [merge(held)]  # as much is added up as was gathered: each line is looked at a few times
    return merge(held)


def _numbers(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return a column as float64, NaN where missing."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values: np.ndarray = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values


def _between(values: np.ndarray, place: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Return where each value lies: 2 k between cuts k - 1 and k, 2 k + 1 on cut k, the last if missing."""
    on = (place > 0) & (cuts[np.maximum(place - 1, 0)] == values)
    return np.where(np.isnan(values), 2 * len(cuts) + 1, 2 * place - on)
