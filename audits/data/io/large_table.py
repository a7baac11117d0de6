# ruff: noqa: S608 - no value of a spec or a file stands in a query but as a number or a quoted text
"""Parquet of any length, or a table in memory, as one table that is put queries to (DuckDB).

Columns are ``c0``, ``c1`` … in queries, in the order of the schema, as SQL does not tell names by capitals.
What comes out is Arrow in the types that the format has; turning it into what an audit sees is the one
conversion of `audits.data.io.typed_tables`.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from audits.checks import number_from
from audits.data.io.limits import parquet_files
from audits.data.io.tables import FileReport
from audits.data.io.typed_tables import without_dictionaries
from audits.errors import InputError, is_installed, not_installed

_MEGABYTES = 1_000
_BROKEN = (pa.ArrowException, OSError)
_PLACES = 16


@dataclass(frozen=True, eq=False)
class LargeTable:
    """A table that answers queries.

    Attributes
    ----------
    schema : Schema
        Names and types of its columns.
    rows : int
        Of the whole table, whatever `where` says.
    files : tuple of FileReport
        One a file, in the order in which rows follow each other; nothing for a table in memory.
    paths : tuple of Path
        Where those files lie.
    keyed : bool
        Whether their folders' names add columns.
    held : Table, optional
        The table in memory.
    where : str
        Which rows there are, in SQL.
    """

    schema: pa.Schema
    rows: int
    files: tuple[FileReport, ...] = ()
    paths: tuple[Path, ...] = ()
    keyed: bool = False
    held: pa.Table | None = None
    where: str = "true"

    def column(self, name: str) -> str:
        """Return what queries call a column."""
        return f"c{self.schema.names.index(name)}"

    @property
    def parts(self) -> list[LargeTable]:
        """Each file as a table of its own, with rows from 1; in memory the table itself."""
        apart = zip(self.files, self.paths, strict=False)
        return [
            dataclasses.replace(self, rows=file.rows, files=(file,), paths=(path,)) for file, path in apart
        ] or [self]

    @property
    def _source(self) -> str:
        """What a query reads from, in SQL."""
        if self.held is not None:
            return "held"
        return f"read_parquet({_sql_list(self.paths)}, hive_partitioning = {str(self.keyed).lower()})"

    @property
    def _number(self) -> str:
        """The number of a row, from 1, in SQL."""
        if self.held is not None:
            return "row_number() OVER ()"
        rows = [file.rows for file in self.files]
        before = (np.cumsum(rows) - rows).tolist()
        return f"({before}[(file_index + 1)::BIGINT] + file_row_number + 1)"

    def query(self, select: str, **tables: pa.Table) -> pa.Table:
        """Answer a query of ``people``, whose columns are those of the table and ``row``, and of `tables`.

        One thread reads, so that sums of floating-point numbers are taken in the order of the rows.

        Raises
        ------
        InputError
            If the table cannot be read to its end.
        MemoryError
            If that takes more than ``EVENHAND_MEMORY``, and there is no room on the disk.
        """
        if not is_installed("duckdb"):
            raise not_installed("data.path: a table of this size", "duckdb")
        import duckdb  # late: few runs need it

        names = ", ".join(f"c{place}" for place in range(len(self.schema)))
        people = f"SELECT *, {self._number} AS row FROM {self._source} AS t({names}) WHERE {self.where}"
        try:
            with duckdb.connect(":memory:", config=duckdb_settings()) as connection:
                connection.execute("SET TimeZone = 'UTC'")
                for name, table in (tables if self.held is None else {**tables, "held": self.held}).items():
                    connection.register(name, table)
                return connection.sql(f"WITH people AS ({people}) {select}").to_arrow_table()
        except duckdb.OutOfMemoryException as error:
            raise MemoryError(str(error)) from None
        except duckdb.Error as error:
            reason = str(error).strip().splitlines()[0][:160]
            raise InputError("data.path", f"cannot be read to the end ({reason.rstrip('.')})") from None

    def ends(self, name: str) -> tuple[float, float] | None:
        """Return the smallest and the largest finite number of a column; None where it holds none."""
        value = f"CAST({self.column(name)} AS DOUBLE) AS v"
        found = self.query(f"SELECT min(v), max(v) FROM (SELECT {value} FROM people) WHERE isfinite(v)")
        low, high = (column[0].as_py() for column in found.columns)
        return None if low is None else (low, high)

    def some(self, rows: int, columns: Sequence[str] | None = None) -> tuple[pa.Table, np.ndarray]:
        """Return about so many rows of all columns, or some, from all over the table, and their numbers."""
        names = self.schema.names if columns is None else list(columns)
        if self.held is not None:
            return without_dictionaries(self.held.select(names).slice(0, rows)), np.arange(rows) + 1
        parts, numbers = [self.schema.empty_table().select(names)], [np.arange(0)]
        groups, done = [], 0
        for piece in _fragments(self.paths):
            for group in piece.row_groups:
                groups.append((done, piece, group.id))
                done += group.num_rows
        step = max(len(groups) / _PLACES, 1.0)
        chosen = [groups[int(k * step)] for k in range(min(len(groups), _PLACES))]
        for first, piece, group in chosen:
            with pq.ParquetFile(piece.path) as file:  # a dataset would decode the whole group of rows
                batch = next(file.iter_batches(-(-rows // len(chosen)), row_groups=[group]), None)
            if batch is None:
                continue
            part = pa.Table.from_batches([batch])
            for name, value in ds.get_partition_keys(piece.partition_expression).items():
                part = part.append_column(name, pa.repeat(pa.scalar(value), part.num_rows))
            parts.append(part.select(names))
            numbers.append(np.arange(first, first + part.num_rows) + 1)
        whole = pa.concat_tables(map(without_dictionaries, parts), promote_options="permissive")
        return whole, np.concatenate(numbers)

    def stated(self) -> dict[str, tuple[int | None, tuple[float, float] | None]]:
        """Return what files state of each column of theirs: cells missing, and ends of one of numbers."""
        found = self.query(
            "SELECT path_in_schema, "
            "if(count(stats_null_count) = count(*), sum(stats_null_count)::BIGINT, NULL), "
            "if(count(stats_min_value) = count(*), min(try_cast(stats_min_value AS DOUBLE)), NULL), "
            "max(try_cast(stats_max_value AS DOUBLE)) "
            f"FROM parquet_metadata({_sql_list(self.paths)}) GROUP BY 1"
        )
        told = {}
        for name, nulls, low, high in zip(*(column.to_pylist() for column in found.columns), strict=True):
            kind = self.schema.field(name).type if name in self.schema.names else pa.null()
            numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
            told[name] = (nulls, (low, high) if numeric and low is not None and high is not None else None)
        return told


def sql_number(value: float) -> str:
    """Return a number in SQL, which would take 0.1 for a decimal."""
    return f"'{float(value)!r}'::DOUBLE"


def hold_table(table: pa.Table, files: tuple[FileReport, ...] = ()) -> LargeTable:
    """Return a table in memory, of distinct column names, as one that answers queries."""
    return LargeTable(table.schema, table.num_rows, files, held=table)


def open_table(paths: Sequence[Path], *, digest: Callable[[Path], str] | None = None) -> LargeTable:
    """Open Parquet files and folders of them as one table whose files have the same columns.

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
    try:
        schema = _dataset(paths[0]).schema
        pieces = _fragments(paths)
        for piece in pieces:
            _check_same(piece, pieces[0])
        rows = [piece.count_rows() for piece in pieces]
    except _BROKEN:
        raise InputError(
            "path", "must hold Parquet files that can be read", ", ".join(map(str, paths))
        ) from None
    files = tuple(Path(piece.path) for piece in pieces)
    reports = [
        FileReport(file.name, "" if digest is None else digest(file), "parquet", count)
        for file, count in zip(files, rows, strict=True)
    ]
    keyed = bool(set(schema.names) - set(pieces[0].physical_schema.names))
    return LargeTable(schema, sum(rows), tuple(reports), files, keyed)


def _dataset(path: Path) -> ds.Dataset:
    """Return a file, or the Parquet files of a folder, whatever else lies in it."""
    if not path.is_dir():
        return ds.dataset(path, format="parquet", partitioning="hive")
    files = list(map(str, parquet_files([path])))
    return ds.dataset(files, format="parquet", partitioning="hive", partition_base_dir=str(path))


def _fragments(paths: Sequence[Path]) -> list[ds.ParquetFileFragment]:
    return [piece for path in paths for piece in _dataset(path).get_fragments()]


def _sql_list(files: Sequence[Path]) -> str:
    """Return files in SQL; what it would take for a pattern stands for itself."""
    told = (str(file).replace("[", "[[]").replace("*", "[*]").replace("?", "[?]") for file in files)
    return "[{}]".format(", ".join("'{}'".format(each.replace("'", "''")) for each in told))


def duckdb_settings() -> dict[str, str | bool | int | float | list[str]]:
    """Return how DuckDB is opened: one thread, in bounded memory, with nothing loaded from elsewhere."""
    return {
        "threads": 1,
        "memory_limit": f"{duckdb_megabytes()}MB",
        "temp_directory": str(Path(tempfile.gettempdir()) / "duckdb"),
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }


def duckdb_megabytes() -> int:
    """Return the megabytes of memory that DuckDB may take, as ``EVENHAND_MEMORY`` says."""
    return max(64, int(number_from("EVENHAND_MEMORY", _MEGABYTES, least=1, most=1e9)))


def _check_same(file: ds.Fragment, first: ds.Fragment) -> None:
    """A column that is not there would be read as missing values."""
    absent = [name for name in first.physical_schema.names if name not in file.physical_schema.names]
    if absent:
        raise InputError(
            Path(file.path).name,
            f"must have the same columns as the first file, but {absent[0]!r} is not there",
        )
