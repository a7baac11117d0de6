"""A table that is larger than what is held, looked into: its metadata, and rows from all over it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from audits.data.io.large_table import open_table
from audits.data.io.tables import FileReport, ReadReport, Table, build_table
from audits.data.io.typed_tables import convert_typed

_ROWS = 20_000
_REPORTED = 3  # files named one by one


@dataclass(frozen=True, eq=False)
class Preview(Table):
    """Some rows of a table, under their numbers, and what its metadata say of all.

    Attributes
    ----------
    rows : int
        Of the whole table.
    nulls : mapping of str to int
        Cells missing of all rows, of the columns whose files state that.
    ends : mapping of str to (float, float)
        Smallest and largest number of all rows, likewise.
    """

    rows: int = 0
    nulls: Mapping[str, int] = field(default_factory=dict)
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def preview_table(paths: Sequence[Path], *, missing: Sequence[str] | None = None) -> Preview:
    """Return what Parquet says of itself, and some of its rows.

    Parameters
    ----------
    missing : sequence of str, optional
        As `convert_typed` takes it.

    Raises
    ------
    InputError
        As `open_table`.
    """
    table = open_table(paths)
    some, numbers = table.some(_ROWS)
    converted, notes = convert_typed(some, markers=missing)
    frame = build_table(converted, pd.Index(numbers, name="row")).frame
    stated = {name: each for name, each in table.stated().items() if name in frame}
    nulls = {name: nulls for name, (nulls, _) in stated.items() if nulls is not None}
    ends = {name: ends for name, (_, ends) in stated.items() if ends is not None}
    note = (
        f"The table has {table.rows:,} rows and is not held. Kinds and values of columns are those of "
        f"{len(frame):,} rows from all over it; missing cells, smallest and largest numbers are what files "
        "state of all."
    )
    report = ReadReport(_files(table.files), {}, (note, *notes))
    return Preview(frame, report, rows=table.rows, nulls=nulls, ends=ends)


def _files(files: Sequence[FileReport]) -> tuple[FileReport, ...]:
    """Return the reports of few files, or of many as one."""
    if len(files) <= _REPORTED:
        return tuple(files)
    whole = dataclasses.replace(
        files[0], name=f"{files[0].name} to {files[-1].name}", rows=sum(file.rows for file in files)
    )
    return (whole,)
