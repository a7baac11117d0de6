"""Some rows of a table, from all over it, and how many there are: enough to know what a run is about."""

from __future__ import annotations

import tempfile
from pathlib import Path

from audits.data import Table, read_table
from audits.data.io.limits import parquet_rows
from audits.data.io.preview import preview_table
from audits.errors import InputError
from audits.runs.spec import Spec

_HEAD = 4_000_000  # bytes, of a text


def first_rows(spec: Spec) -> tuple[Table, int]:
    """Return some rows of Parquet or of a long text, or a whole table, and how many there are."""
    paths = spec.data_paths()
    rows = parquet_rows(paths)
    if rows is None:
        head = _head(spec, paths)
        if head is not None:
            return head
        table = read_table(paths, format=spec.data.format, options=spec.data.read)
        return table, len(table.frame)
    some = preview_table(paths, missing=spec.data.read.missing)
    return some, some.rows


def _head(spec: Spec, paths: list[Path]) -> tuple[Table, int] | None:
    """Return the first rows of a long text, and about how many there are; None where it is read whole."""
    size = sum(path.stat().st_size for path in paths if path.is_file())
    if size < 3 * _HEAD or any(path.suffix.lower() not in {".csv", ".tsv", ".jsonl"} for path in paths):
        return None
    with paths[0].open("rb") as file:
        head = file.read(_HEAD).rpartition(b"\n")[0] + b"\n"
    with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
        path = Path(folder) / paths[0].name
        path.write_bytes(head)
        try:
            table = read_table([path], format=spec.data.format, options=spec.data.read)
        except InputError:  # a row of several lines, cut
            return None
    return table, round(len(table.frame) * size / len(head))
