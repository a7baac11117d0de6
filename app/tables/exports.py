"""Files that hold a result or its people: written part by part, where tables are opened.

The server's own process never holds such a file: it passes the parts on to the disk (`app.jobs.export`), and
serves them from there (`app.serving.downloads`).
"""

from __future__ import annotations

import dataclasses
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from app.tables.handles import DataHandle
from app.tables.listed import Order, PeopleTable, RawCells
from app.tables.protocol import unpack_rows
from audits.data import AuditData
from audits.runs.documents import dump_yaml
from audits.runs.result import RunResult
from audits.runs.tables import spreadsheet_safe

Data = Callable[[], AuditData | DataHandle | None]
_TOGETHER = 50_000  # people written into a file at a time
_ROWS_AT_ONCE = 10_000  # of a table in a ZIP


def parts(question: Mapping[str, Any], data: Data) -> Iterator[bytes]:
    """Give the parts of the file that a question asks for, of a result in a folder, of `data` if need be."""
    found = dataclasses.replace(RunResult.load(Path(question["result"])), spec=question["spec"])
    return file_parts(found, question["file"], question["arguments"], data)


def file_parts(found: RunResult, file: str, arguments: Mapping[str, Any], data: Data) -> Iterator[bytes]:
    """Give the parts of a file of a result: ``people``, ``tables`` or ``report``."""
    return _WRITES[file](found, data, **arguments)


def _people(found: RunResult, data: Data, **told: Any) -> Iterator[bytes]:
    rows, only = unpack_rows(told["rows"]), unpack_rows(told["only"])
    order = None if told["order"] is None else Order(**told["order"])
    source = None if told["beside"] is None else data()
    beside = None if source is None else RawCells(source, told["beside"])
    return people_parts(PeopleTable(found, told["table"], told["arguments"], rows), only, order, beside)


def people_parts(
    people: Callable[[], pd.DataFrame],
    only: pd.Index | None,
    order: Order | None,
    beside: Callable[[pd.Index], pd.DataFrame] | None,
) -> Iterator[bytes]:
    """Give all people as CSV, or `only` some, in order; further columns come from `beside`."""
    table = people()
    if only is not None:
        table = table[table.index.isin(only)]
    places = np.arange(len(table)) if order is None else order.places(table)
    for start in range(0, max(1, len(table)), _TOGETHER):
        part = table.iloc[places[start : start + _TOGETHER]]
        part = part if beside is None else pd.concat([part, beside(part.index)], axis=1)
        yield csv_bytes(part.rename_axis(index="row"), header=not start)


def raw_parts(data: DataHandle, rows: pd.Index) -> Iterator[bytes]:
    """Give people as CSV with all of their columns as the data have them, some at a time."""
    for start in range(0, max(1, len(rows)), _TOGETHER):
        part = data.frame.loc[rows[start : start + _TOGETHER]]
        yield csv_bytes(part.rename_axis(index="row"), header=not start)


def _tables(found: RunResult, _: Data) -> Iterator[bytes]:
    """Give every table of a run as CSV files in a ZIP, named after audit and table."""
    packed = _StreamBuffer()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, table in found.tables.items():
            with archive.open(f"{name}.csv", "w", force_zip64=True) as file:
                for place in range(0, max(1, len(table)), _ROWS_AT_ONCE):  # never all of them as text
                    part = table.iloc[place : place + _ROWS_AT_ONCE]
                    file.write(csv_bytes(part, header=not place))
                    yield packed.taken()
    yield packed.taken()


class _StreamBuffer(io.RawIOBase):
    """What a ZIP is written into, which keeps only what was not taken yet."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._parts.append(bytes(content))
        return len(content)

    def taken(self) -> bytes:
        found, self._parts = b"".join(self._parts), []
        return found


def _report(found: RunResult, _: Data, *, template: Any, columns: Mapping[str, Any]) -> Iterator[bytes]:
    from audits.reports.html import render_report  # late: it loads what draws

    result = dataclasses.replace(found, spec=portable(found.spec))
    more: dict[str, Any] = {"template": template, "spec_text": dump_yaml(result.spec), **columns}
    yield render_report(result, **more).encode()


_WRITES: Mapping[str, Callable[..., Iterator[bytes]]] = {
    "people": _people,
    "tables": _tables,
    "report": _report,
}


def csv_bytes(frame: pd.DataFrame, *, header: bool = True) -> bytes:
    """Return `frame` as CSV in UTF-8 that a spreadsheet opens without running anything.

    Without its `header` it goes on with a file that has one.
    """
    text: str = spreadsheet_safe(frame).to_csv(
        index=frame.index.name is not None, lineterminator="\n", header=header
    )
    return text.encode("utf-8-sig" if header else "utf-8")


def portable(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return `spec` with files of a workspace named as they were when they were brought."""
    return {name: _own_name(each) if name == "path" else _portable(each) for name, each in spec.items()}


def _portable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return portable(value)
    return [_portable(each) for each in value] if isinstance(value, list) else value


def _own_name(path: Any) -> Any:
    """Return the file's own name where `path` lies in a workspace, else `path`; of each in a list."""
    if not isinstance(path, str):
        return [_own_name(each) for each in path] if isinstance(path, list) else _portable(path)
    parts = PurePosixPath(path).parts
    return parts[-1] if parts and parts[0] == "files" else path
