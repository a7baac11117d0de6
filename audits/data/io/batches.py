"""Tables read in batches of only the columns that are needed: one interface, wherever the rows lie.

`open_batches` opens Parquet and Arrow files, and folders of Parquet; `held_batches` does the same for a
table in memory. What comes out is Arrow in the types that the format has; turning it into what an audit
sees is the one conversion of `audits.data.io.typed_tables`, whatever the rows came from.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from audits.data.io.limits import format_of, parquet_files
from audits.data.io.tables import FileReport
from audits.data.io.typed_tables import coded_columns
from audits.errors import InputError

__all__ = ["BATCH_ROWS", "Batches", "Piece", "held_batches", "open_batches", "reopened"]

BATCH_ROWS = 2**18
_BATCH_CELLS = 2**23
_CELL_BYTES = 500  # of a batch: read ahead, as a frame, as points, in each of two threads
_BROKEN = (pa.ArrowException, OSError)
_READ_AHEAD = 2  # batches: more of them only wait in memory


@dataclass(frozen=True)
class Piece:
    """Rows that follow each other: groups of rows of some files.

    Attributes
    ----------
    first, rows : int
        Number of the first row, from 1, and rows.
    groups : tuple of (int, tuple of int)
        A file's place, and its groups of rows.
    """

    first: int
    rows: int
    groups: tuple[tuple[int, tuple[int, ...]], ...] = ()


@dataclass(frozen=True, eq=False)
class Batches:
    """A table that is read in batches.

    Attributes
    ----------
    schema : Schema
        Names and types of its columns.
    rows : int
        Rows of all files.
    files : tuple of FileReport
        One a file, in the order in which rows follow each other; nothing for a table in memory.
    read : callable
        ``read(columns)`` yields record batches of those columns, in order, as often as it is called.
    known_ends : callable
        ``known_ends(column)`` returns the smallest and the largest value that the format states without being
        read, or None.
    """

    schema: pa.Schema
    rows: int
    files: tuple[FileReport, ...]
    read: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
    known_ends: Callable[[str], tuple[float, float] | None] = lambda _: None
    heads: Callable[[int, Sequence[str]], Iterator[tuple[int, pa.Table]]] | None = None
    nulls: Callable[[str], int | None] = lambda _: None
    paths: tuple[Path, ...] = ()
    parts: tuple[Piece, ...] = ()
    read_part: Callable[[Piece, Sequence[str]], Iterator[pa.RecordBatch]] | None = None

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Pieces that can be read by themselves, the same whoever reads them; one where there are no more."""
        return self.parts or (Piece(1, self.rows),)

    def read_piece(self, piece: Piece, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the batches of a piece, in order."""
        return self.read(columns) if self.read_part is None else self.read_part(piece, columns)

    def some(self, rows: int, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.Table]]:
        """Yield about so many rows of all columns, or some, from all over the table where the format allows.

        Each part comes with the number of its first row.
        """
        columns = self.schema.names if columns is None else columns
        if self.heads is not None:
            yield from self.heads(rows, columns)
            return
        done = 0
        for batch in self.read(columns):
            yield done + 1, pa.Table.from_batches([batch.slice(0, rows - done)])
            done += batch.num_rows
            if done >= rows:
                return

    def ends(self, column: str) -> tuple[float, float] | None:
        """Return the smallest and the largest finite number of a column; None where it holds none."""
        stated = self.known_ends(column)
        if stated is not None:
            return stated
        found: list[tuple[float, float]] = []
        for batch in self.read([column]):
            values = batch.column(0).cast(pa.float64(), safe=False)
            ends = pc.min_max(values.filter(pc.is_finite(values).fill_null(False)))
            if ends["min"].is_valid:
                found.append((ends["min"].as_py(), ends["max"].as_py()))
        return (min(low for low, _ in found), max(high for _, high in found)) if found else None


def held_batches(table: pa.Table, *, rows: int = BATCH_ROWS) -> Batches:
    """Return a table in memory as batches of at most `rows` rows."""

    def read(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from table.select(list(columns)).to_batches(max_chunksize=rows)

    return Batches(table.schema, table.num_rows, (), read)


def open_batches(paths: Sequence[Path], *, digest: Callable[[Path], str] | None = None) -> Batches:
    """Open Parquet files and folders of them, or Arrow files, as one table whose files have the same columns.

    Parameters
    ----------
    paths : sequence of path
        Folders named ``key=value`` add a column.
    digest : callable, optional
        The digest of a file, for its report.

    Raises
    ------
    InputError
        A path that does not exist, a file that cannot be read, or files that differ in their columns.
    """
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise InputError("path", "must be a Parquet file or a folder of them", str(missing[0]))
    parquet = bool(parquet_files(paths))
    name = "parquet" if parquet else "ipc"
    try:
        # texts stay the numbers of their dictionary: a batch then has few values to look at
        coded = coded_columns(parquet_files(paths)[0]) if parquet else []
        form = ds.ParquetFileFormat(dictionary_columns=coded) if parquet else name
        parts = [_dataset(path, form) for path in paths]
        data = parts[0] if len(parts) == 1 else ds.dataset(parts)
        pieces = [piece for each in parts for piece in each.get_fragments()]
        for piece in pieces:
            _check_same(piece, pieces[0])
        files = tuple(
            FileReport(
                Path(piece.path).name,
                "" if digest is None else digest(Path(piece.path)),
                "parquet" if parquet else "arrow",
                piece.count_rows(),
            )
            for piece in pieces
        )
    except _BROKEN:
        named = ", ".join(map(str, paths))
        kind = "Parquet" if parquet else format_of(paths[0])
        raise InputError("path", f"must hold {kind} files that can be read", named) from None

    cells = _most_cells()

    def batches(table: ds.Dataset, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        try:
            yield from table.to_batches(
                columns=list(columns),
                batch_size=min(BATCH_ROWS, max(1024, cells // max(len(columns), 1))),
                fragment_readahead=1,
                batch_readahead=_READ_AHEAD,
            )
        except _BROKEN as error:
            reason = str(error).strip().splitlines()[0][:160]
            raise InputError("data.path", f"cannot be read to the end ({reason.rstrip('.')})") from None

    def read(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return batches(data, columns)

    def read_part(piece: Piece, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        some = [pieces[place].subset(row_group_ids=list(groups)) for place, groups in piece.groups]
        return batches(
            ds.FileSystemDataset(some, data.schema, pieces[0].format, pieces[0].filesystem), columns
        )

    rows = sum(file.rows for file in files)
    if not parquet:
        return Batches(data.schema, rows, files, read)
    ends, heads, nulls = _stated_ends(pieces), _heads(pieces), _nulls(pieces)
    return Batches(
        data.schema, rows, files, read, ends, heads, nulls, tuple(paths), _pieces(pieces), read_part
    )


def _dataset(path: Path, form: object) -> ds.Dataset:
    """Return a file, or the Parquet files of a folder, whatever else lies in it."""
    if not path.is_dir():
        return ds.dataset(path, format=form, partitioning="hive")
    files = list(map(str, parquet_files([path])))
    return ds.dataset(files, format=form, partitioning="hive", partition_base_dir=str(path))


def reopened(paths: Sequence[Path]) -> Batches:
    """Return what `open_batches` does, remembered while the files stay as they are."""
    seen = [file.stat() for file in parquet_files(paths)]
    return _remembered(tuple(paths), tuple((each.st_size, each.st_mtime_ns, each.st_ino) for each in seen))


@functools.lru_cache(maxsize=4)
def _remembered(paths: tuple[Path, ...], _stamp: tuple[tuple[int, int, int], ...]) -> Batches:
    return open_batches(paths)


def _most_cells() -> int:
    """Return the cells of a batch: by what ``EVENHAND_MEMORY``, in megabytes, lets batches take."""
    given = os.environ.get("EVENHAND_MEMORY")
    if given is None:
        return _BATCH_CELLS
    try:
        megabytes = float(given)
    except ValueError:
        megabytes = -1.0
    if not 1 <= megabytes < 1e9:
        raise InputError("EVENHAND_MEMORY", "must be a number of megabytes from 1", given)
    return min(_BATCH_CELLS, int(megabytes * 1e6 / _CELL_BYTES))


def _check_same(file: ds.Fragment, first: ds.Fragment) -> None:
    """A column that is not there would be read as missing values."""
    absent = [name for name in first.physical_schema.names if name not in file.physical_schema.names]
    if absent:
        raise InputError(
            Path(file.path).name,
            f"must have the same columns as the first file, but {absent[0]!r} is not there",
        )


_PLACES = 16
_PIECE_ROWS = 2**19  # at least, of every piece but the last
_MANY_PIECES = 16  # where there would be more, pieces are up to twice as large: each is sent and added up


def _pieces(files: Sequence[ds.ParquetFileFragment]) -> tuple[Piece, ...]:
    """Return groups of rows that follow each other, joined until they have rows enough for a task."""
    found: list[Piece] = []
    groups: dict[int, list[int]] = {}
    first, rows = 1, 0
    last = len(files) - 1
    share = sum(file.count_rows() for file in files) // _MANY_PIECES
    enough = min(max(share, _PIECE_ROWS), 2 * _PIECE_ROWS)
    for place, file in enumerate(files):
        for group in file.row_groups:
            groups.setdefault(place, []).append(group.id)
            rows += group.num_rows
            if rows >= enough:
                found.append(Piece(first, rows, tuple((k, tuple(each)) for k, each in groups.items())))
                first, rows, groups = first + rows, 0, {}
        if place == last and groups:
            found.append(Piece(first, rows, tuple((k, tuple(each)) for k, each in groups.items())))
    return tuple(found)


def _heads(
    pieces: Sequence[ds.ParquetFileFragment],
) -> Callable[[int, Sequence[str]], Iterator[tuple[int, pa.Table]]]:
    def heads(rows: int, columns: Sequence[str]) -> Iterator[tuple[int, pa.Table]]:
        parts, done = [], 0
        for piece in pieces:
            for group in piece.row_groups:
                parts.append((done + 1, piece, group.id))
                done += group.num_rows
        step = max(len(parts) / _PLACES, 1.0)
        chosen = [parts[int(k * step)] for k in range(min(len(parts), _PLACES))]
        few = -(-rows // max(len(chosen), 1))
        for first, piece, group in chosen:
            with pq.ParquetFile(piece.path) as file:  # a dataset would decode the whole group of rows
                batch = next(file.iter_batches(few, row_groups=[group], columns=list(columns)), None)
            if batch is None:
                continue
            part, keys = pa.Table.from_batches([batch]), ds.get_partition_keys(piece.partition_expression)
            for name, value in keys.items():
                part = part.append_column(name, pa.repeat(pa.scalar(value), part.num_rows))
            yield first, part.select(list(columns))

    return heads


def _nulls(pieces: Sequence[ds.ParquetFileFragment]) -> Callable[[str], int | None]:
    def nulls(column: str) -> int | None:
        total = 0
        for piece in pieces:
            leaves = [each.path for each in piece.metadata.schema]
            if column not in leaves:
                return None
            for group in range(piece.metadata.num_row_groups):
                stated = piece.metadata.row_group(group).column(leaves.index(column)).statistics
                if stated is None or not stated.has_null_count:
                    return None
                total += stated.null_count
        return total

    return nulls


def _stated_ends(pieces: Sequence[ds.ParquetFileFragment]) -> Callable[[str], tuple[float, float] | None]:
    def ends(column: str) -> tuple[float, float] | None:
        found = []
        for piece in pieces:
            for group in piece.row_groups:
                stated = group.statistics.get(column)
                if stated is None or not isinstance(stated["min"], int | float):
                    return None  # not stated, or only missing values: looked at
                found.append((float(stated["min"]), float(stated["max"])))
        return (min(low for low, _ in found), max(high for _, high in found)) if found else None

    return ends
