"""Some rows of a table, from all over it, and how many there are: enough to know what a run is about."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd
import pyarrow as pa

from audits.data import Table, read_table
from audits.data.io.batches import open_batches
from audits.data.io.limits import parquet_rows
from audits.data.io.tables import ReadReport
from audits.data.io.typed_tables import convert_typed, without_dictionaries
from audits.errors import InputError
from audits.runs.spec import Spec

__all__ = ["first_rows"]

_LOOKED_AT = 20_000  # rows, of Parquet
_HEAD = 4_000_000  # bytes, of a text


def first_rows(spec: Spec) -> tuple[Table, int, bool]:
    """Return some rows of Parquet or of a long text, or a whole table; how many there are; if it is text."""
    paths = spec.data_paths()
    rows = parquet_rows(paths)
    if rows is None:
        head = _head(spec, paths)
        if head is not None:
            return *head, True
        table = read_table(paths, format=spec.data.format, options=spec.data.read)
        return table, len(table.frame), table.report.files[0].format in {"csv", "tsv", "jsonl", "xlsx"}
    batches = open_batches(paths)
    first = pa.concat_tables(
        [without_dictionaries(part) for _, part in batches.some(_LOOKED_AT)], promote_options="permissive"
    )
    converted, _ = convert_typed(first, markers=spec.data.read.missing)
    index = pd.RangeIndex(1, first.num_rows + 1, name="row")
    frame = pd.DataFrame({name: each.values.set_axis(index) for name, each in converted.items()})
    return Table(frame, ReadReport(batches.files, {})), rows, False


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
