"""Taking one person's rows out of a file, in a process that can do nothing else."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def rows_of(question: dict[str, Any]) -> dict[str, Any]:
    """Take the rows out of the file ``path`` in which one of ``columns`` holds ``value``, or only ``look``.

    Parameters
    ----------
    question : dict
        These four, and ``format`` and ``read`` where the file is read by them.

    Returns
    -------
    dict
        ``rows`` taken out (or that would be), ``columns`` looked at, and ``other`` ones that hold the value.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    import numpy as np

    from audits.data import DataSpec, read_table
    from audits.data.spec_parser import data_spec
    from audits.data.values import text_of

    path = Path(question["path"])
    told = {name: question[name] for name in ("format", "read") if question.get(name)}
    spec: DataSpec = data_spec({"path": path.name, **told})
    table = read_table(path, format=spec.format, options=spec.read)
    names = [str(name) for name in table.frame.columns]
    holding = {}
    for place, name in enumerate(names):
        column = table.frame.iloc[:, place]
        known = {value: text_of(value) == question["value"] for value in column.dropna().unique()}
        if any(known.values()):
            holding[name] = column.map(known).fillna(value=False).to_numpy(dtype=bool)
    columns = [name for name in question["columns"] if name in names]
    mask = np.zeros(len(table.frame), dtype=bool)
    for name in columns:
        mask |= holding.get(name, False)
    rows = int(mask.sum())
    if rows and not question["look"]:
        partial = path.with_name(f"{path.name}.partial")
        partial.write_bytes(
            _without(path, table.report.files[0], names, mask, set(columns), question["value"])
        )
        partial.replace(path)
    return {"rows": rows, "columns": columns, "other": [name for name in holding if name not in columns]}


def _without(
    path: Path, report: Any, names: Sequence[str], mask: Any, columns: set[str], value: str
) -> bytes:
    if report.format in {"parquet", "arrow"}:
        return _without_rows(path, report.format, mask)
    if report.format == "xlsx":
        return _workbook(path, names, columns, value)
    content = path.read_bytes()
    if report.compressed:
        content = gzip.decompress(content)
    if report.format == "jsonl":
        kept = _lines(content, columns, value)
    else:
        kept = _text(content, report, names, columns, value)
    return gzip.compress(kept) if report.compressed else kept


def _without_rows(path: Path, kind: str, mask: Any) -> bytes:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    table = pq.read_table(path) if kind == "parquet" else pa.feather.read_table(path)
    kept = table.filter(pa.array(~mask))
    if kind == "parquet":
        pq.write_table(kept, sink)
    else:
        pa.feather.write_feather(kept, sink)
    return sink.getvalue()


def _workbook(path: Path, names: Sequence[str], columns: set[str], value: str) -> bytes:
    import openpyxl

    from audits.data.values import is_missing, text_of

    book = openpyxl.load_workbook(path)
    places = [place for place, name in enumerate(names) if name in columns]
    for sheet in book.worksheets:
        found = [
            number
            for number, row in enumerate(sheet.iter_rows(values_only=True), start=1)
            if any(
                place < len(row) and not is_missing(row[place]) and text_of(row[place]) == value
                for place in places
            )
        ]
        for number in reversed(found):
            sheet.delete_rows(number)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def _lines(content: bytes, columns: set[str], value: str) -> bytes:
    from audits.data.values import text_of

    def keeps(line: bytes) -> bool:
        if not line.strip():
            return True
        row = json.loads(line)
        return not any(name in row and text_of(row[name]) == value for name in columns)

    return b"".join(line for line in content.splitlines(keepends=True) if keeps(line))


def _text(content: bytes, report: Any, names: Sequence[str], columns: set[str], value: str) -> bytes:
    encoding = report.encoding or "utf-8"
    separator = report.separator or ("\t" if report.format == "tsv" else ",")
    places = [place for place, name in enumerate(names) if name in columns]
    sink = io.StringIO(newline="")
    written = csv.writer(sink, delimiter=separator, lineterminator="\n")
    csv.field_size_limit(1 << 30)
    for row in csv.reader(io.StringIO(content.decode(encoding), newline=""), delimiter=separator):
        if not any(place < len(row) and _same(row[place], value) for place in places):
            written.writerow(row)
    return sink.getvalue().encode(encoding)


def _same(cell: str, value: str) -> bool:
    from audits.data.values import text_of

    cell = cell.strip()
    if cell == value:
        return True
    try:
        return text_of(float(cell)) == value
    except ValueError:
        return False
