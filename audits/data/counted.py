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
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from audits.data.files.batches import Batches, Piece, reopened
from audits.dividing import others
from audits.errors import InputError
from audits.progress import Progress, silent

__all__ = [
    "MOST_VALUES",
    "Asked",
    "Quantiles",
    "RowCounts",
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
_DENSE = 2**21


class TooMany(Exception):
    """A column that is counted by value has too many of them."""

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self.column = column


@dataclass(frozen=True, eq=False)
class RowCounts:
    """Rows counted: one line for those that agree.

    Attributes
    ----------
    values : mapping of str to Array
        The value of each line in each column counted by value, (lines,).
    codes : mapping of str to int array
        Where a line lies between the cuts of each column that is cut; the last is "missing".
    low, high : mapping of str to array
        Smallest and largest number of a line in the same columns.
    rows : array (lines,)
        Rows of each line.
    total, squares : array (lines,)
        Sum of the scores of a line, and of their squared distances from its mean; zeros without scores.
    """

    values: Mapping[str, pa.Array]
    codes: Mapping[str, np.ndarray]
    low: Mapping[str, np.ndarray]
    high: Mapping[str, np.ndarray]
    rows: np.ndarray
    total: np.ndarray
    squares: np.ndarray = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)


def partial(batch: pa.RecordBatch, cuts: Mapping[str, np.ndarray], *, scored: str | None = None) -> RowCounts:
    """Count the rows of a batch.

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
    numbers = {
        name: _numbers(batch.column(place))
        for place, name in enumerate(batch.schema.names)
        if name in cuts or name == scored
    }
    codes, sizes, held = [], [], {}
    for place, name in enumerate(batch.schema.names):
        if name in cuts:
            code, size = _between(numbers[name], cuts[name]), 2 * len(cuts[name]) + 2
        else:
            code, held[name] = _by_value(batch.column(place), name)
            size = len(held[name])
        codes.append(code)
        sizes.append(size)
    first, line = _lines(codes, sizes, batch.num_rows)
    count = len(first)
    rows = np.bincount(line, minlength=count).astype(float)
    found = dict(zip(batch.schema.names, codes, strict=True))
    low = {name: _ends(np.minimum, line, numbers[name], count) for name in cuts}
    high = {name: _ends(np.maximum, line, numbers[name], count) for name in cuts}
    total: np.ndarray = np.zeros(count)
    squares: np.ndarray = total
    if scored is not None:
        total = np.bincount(line, numbers[scored], count)
        squares = np.bincount(line, (numbers[scored] - (total / rows)[line]) ** 2, count)
    return RowCounts(
        values={name: held[name].take(pa.array(found[name][first])) for name in held},
        codes={name: found[name][first] for name in cuts},
        low=low,
        high=high,
        rows=rows,
        total=total,
        squares=squares,
    )


def merge(parts: Sequence[RowCounts]) -> RowCounts:
    """Add up the counts of parts of the rows, in their order."""
    if len(parts) == 1:
        return parts[0]
    names, cut = list(parts[0].values), list(parts[0].codes)
    codes, sizes, held = [], [], {}
    for name in names:
        joined = pa.concat_arrays([part.values[name] for part in parts])
        code, held[name] = _by_value(joined, name)
        codes.append(code)
        sizes.append(len(held[name]))
    for name in cut:
        codes.append(np.concatenate([part.codes[name] for part in parts]))
        sizes.append(int(codes[-1].max()) + 1)
    first, line = _lines(codes, sizes, sum(map(len, parts)))
    count = len(first)
    if count > _MOST_LINES:
        raise InputError(
            "data",
            f"must leave at most {_MOST_LINES:,} combinations of values of the columns counted by",
            [*names, *cut],
            "cut a column of numbers with data.bins, recode one to fewer values, or leave one out",
        )
    each = np.concatenate([part.rows for part in parts])
    sums = np.concatenate([part.total for part in parts])
    rows, total = np.bincount(line, each, count), np.bincount(line, sums, count)
    apart = each * (sums / each - (total / rows)[line]) ** 2  # Chan, Golub, LeVeque (1979)
    squares = np.bincount(line, np.concatenate([part.squares for part in parts]) + apart, count)
    low, high = (
        {
            name: _ends(end, line, np.concatenate([getattr(part, side)[name] for part in parts]), count)
            for name in cut
        }
        for end, side in ((np.minimum, "low"), (np.maximum, "high"))
    )
    return RowCounts(
        values={
            name: held[name].take(pa.array(code[first])) for name, code in zip(names, codes, strict=False)
        },
        codes={name: code[first] for name, code in zip(cut, codes[len(names) :], strict=True)},
        low=low,
        high=high,
        rows=rows,
        total=total,
        squares=squares,
    )


def finish(
    counts: RowCounts, schema: pa.Schema, *, scored: str | None = None
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
    columns: dict[str, pa.Array] = {}
    for name in schema.names:
        if name in counts.values:
            columns[name] = counts.values[name]
            continue
        known = ~np.isnan(counts.low[name])
        if name == scored:
            shown = np.clip(counts.total / counts.rows, counts.low[name], counts.high[name])
        else:
            least = np.full(int(counts.codes[name].max()) + 1, np.inf)
            np.minimum.at(least, counts.codes[name], counts.low[name])
            shown = least[counts.codes[name]]
        kind = schema.field(name).type if name != scored else pa.float64()
        columns[name] = pa.array(np.where(known, shown, 0.0), mask=~known).cast(kind, safe=False)
    gathered = pd.DataFrame({"rows": counts.rows, "squares": counts.squares})
    if scored is not None:
        by_value = scored in counts.values
        mean = counts.total / counts.rows
        gathered["low"] = mean if by_value else counts.low[scored]
        gathered["high"] = mean if by_value else counts.high[scored]
    gathered.index = pd.RangeIndex(1, len(gathered) + 1, name="row")
    return pa.table(columns), gathered


def count_rows(
    batches: Batches,
    columns: Sequence[str],
    cuts: Mapping[str, np.ndarray],
    *,
    scored: str | None = None,
    progress: Progress = silent,
) -> RowCounts:
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
) -> Iterator[RowCounts]:
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
) -> RowCounts:
    return _folded(reopened(paths).read_piece(piece, columns), cuts, scored)


def _folded(
    batches: Iterable[pa.RecordBatch], cuts: Mapping[str, np.ndarray], scored: str | None
) -> RowCounts:
    return _summed(partial(batch, cuts, scored=scored) for batch in batches if batch.num_rows)


def _summed(parts: Iterable[RowCounts]) -> RowCounts:
    held: list[RowCounts] = []
    for part in parts:
        held.append(part)
        if len(held) > 1 and sum(map(len, held[1:])) > max(len(held[0]), _DENSE // 8):
            held = [merge(held)]  # as much is added up as was gathered: each line is looked at a few times
    return merge(held)


def _numbers(column: pa.Array) -> np.ndarray:
    """Return a column as float64, NaN where missing."""
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    values: np.ndarray = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values


def _ends(end: np.ufunc, line: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Return the smallest or the largest value of each line; NaN for lines of missing ones."""
    found: np.ndarray = np.full(count, np.inf if end is np.minimum else -np.inf)
    with np.errstate(invalid="ignore"):
        end.at(found, line, values)
    return found


def _between(values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Return where each value lies: 2 k between cuts k - 1 and k, 2 k + 1 on cut k, the last if missing."""
    place = np.searchsorted(cuts, values, side="right")
    on = (place > 0) & (cuts[np.maximum(place - 1, 0)] == values)
    return np.where(np.isnan(values), 2 * len(cuts) + 1, 2 * place - on)


def _by_value(column: pa.Array, name: str) -> tuple[np.ndarray, pa.Array]:
    """Return the place of each row's value (n,), and the values, the missing one last."""
    if not isinstance(column, pa.DictionaryArray):
        column = column.dictionary_encode()
    values = column.dictionary
    if len(values) > MOST_VALUES:
        used = pc.unique(column.indices)
        if len(used) > MOST_VALUES:
            raise TooMany(name)
    codes = column.indices.fill_null(len(values)).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, pa.concat_arrays([values, pa.nulls(1, values.type)])


def _lines(codes: Sequence[np.ndarray], sizes: Sequence[int], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of each combination that occurs, and the combination of every row."""
    index, radix = np.zeros(rows, dtype=np.int64), 1
    for code, size in zip(codes, sizes, strict=True):
        if radix * size > 2**62:  # squeeze out the empty combinations before they overflow
            found, index = np.unique(index, return_inverse=True)
            radix = len(found)
        index = index * size + code
        radix *= size
    if radix > _DENSE:
        _, first, line = np.unique(index, return_index=True, return_inverse=True)
        return first, line
    occupied = np.bincount(index, minlength=radix) > 0
    line = (np.cumsum(occupied) - 1)[index]
    first = np.empty(int(occupied.sum()), dtype=np.int64)
    first[line[::-1]] = np.arange(rows)[::-1]
    return first, line
