"""What the process that holds a workspace's tables answers: numbers of people, and slices that pages show.

It runs in a child of `audits.runs.executors.sandbox_pool`, never where pages are served. A question carries
all that its answer depends on, so that a fresh process answers as well as one that has the tables already.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl  # noqa: F401  (loaded before the process gives up most of the file system)
import pandas as pd

from app.tables import exports
from app.tables.columns import preview, profile
from app.tables.protocol import pack, unpack, unpack_rows
from app.tables.summary import summarise
from audits.data import AuditData, DataSpec, ReadReport, Table, build_data, data_spec, read_table
from audits.data.io.limits import beyond_limits
from audits.data.io.preview import Preview, preview_table
from audits.data.selection import group_of, selected_rows
from audits.data.values import plain_value
from audits.errors import InputError
from audits.models.native.skops_file import without_tensors
from audits.monitor.ingestion import Arrival, read_arrow, read_file, read_json
from audits.records import resolve
from audits.runs.registry import AUDITS, usual_others
from audits.runs.source.sample import draw_table, of_all
from audits.runs.source.strategy import sample_size
from audits.threads import one_thread

_TABLES, _FRAMES = 1, 2

for _name in AUDITS.ours:
    AUDITS[_name]  # loaded before too: what counts threads looks for libraries in /proc

_tables: OrderedDict[str, Table] = OrderedDict()
_frames: OrderedDict[str, AuditData] = OrderedDict()


def answer(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to one question: see the functions below, one for each value of ``ask``."""
    about_data = _OF_DATA.get(question["ask"])
    if about_data is None:
        return _ANSWERS[question["ask"]](question)
    told = {name: unpack(each) for name, each in question["told"].items()}
    return {"found": pack(about_data(_data(question), **told))}


def _table(question: Mapping[str, Any]) -> Table:
    def make() -> Table:
        spec, paths = _spec_and_paths(question)
        if beyond_limits(paths):
            return preview_table(paths, missing=spec.read.missing)
        return read_table(paths, format=spec.format, options=spec.read)

    return _cached(_tables, question["table key"], make, _TABLES)


def _spec_and_paths(question: Mapping[str, Any]) -> tuple[DataSpec, list[Path]]:
    return data_spec(question["section"]), [Path(path) for path in question["paths"]]


def _data(question: Mapping[str, Any]) -> AuditData:
    """Return the data; of a table that is not held those rows that a run draws of it."""

    def make() -> AuditData:
        spec, paths = _spec_and_paths(question)
        wanted = sample_size(spec, paths)
        if wanted is None:
            return build_data(_table(question), spec)
        table = draw_table(spec, paths, question["seed"], wanted)
        return of_all(build_data(table, spec), table)

    return _cached(_frames, question["data key"], make, _FRAMES)


def _cached(kept: OrderedDict[str, Any], key: str, make: Callable[[], Any], most: int) -> Any:
    if key not in kept:
        while len(kept) >= most:  # before the next is made: two do not fit where one does
            kept.popitem(last=False)
        kept[key] = make()
    kept.move_to_end(key)
    return kept[key]


def _about_table(question: Mapping[str, Any]) -> dict[str, Any]:
    found = _table(question)
    rows = found.rows if isinstance(found, Preview) else len(found.frame)
    return {
        "report": found.report.to_dict(),
        "profiles": [asdict(each) for each in profile(found)],
        "shape": [rows, len(found.frame.columns)],
        "first": pack(preview(found.frame)),
    }


def _about_data(question: Mapping[str, Any]) -> dict[str, Any]:
    return asdict(summarise(_data(question)))


def _examine(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is likely wrong with the table, and with its data where they can be prepared."""
    from audits.data.quality.checks import examine

    try:
        data: AuditData | None = _data(question)
    except InputError:  # told where the data are prepared
        data = None
    spec = data_spec(question["section"])
    found = examine(
        _table(question), spec, data, predictions=question["predictions"], unlikely=question["unlikely"]
    )
    return {"findings": [asdict(each) for each in found]}


def _rows(data: AuditData, part: str, rows: np.ndarray, columns: list[str] | None) -> pd.DataFrame:
    frame = data.groups if part == "groups" else data.frame
    return (frame if columns is None else frame[columns]).loc[rows]


def _distinct(data: AuditData, column: str, most: int) -> list[str]:
    values = data.frame[column].dropna()
    return [] if values.nunique() > most else sorted(values.astype(str).unique().tolist())


def _selected_people(
    data: AuditData, terms: list[Mapping[str, Any]], among: np.ndarray | None
) -> pd.DataFrame:
    """Return how many people each row that is selected stands for."""
    people = pd.DataFrame({"people": 1.0 if data.weights is None else data.weights}, index=data.frame.index)
    rows = selected_rows(data, terms)
    return people.loc[rows if among is None else rows.intersection(pd.Index(among))]


def _of_audit(data: AuditData, audit: str, asked: str, **told: Any) -> Any:
    """Answer what the page of an audit asks about the data, as its record says."""
    return resolve(AUDITS[audit].pages.asks[asked])(data, **told)


def _usual_audits(data: AuditData, trained: str | None, predictions: str | None) -> dict[str, Any]:
    return usual_others(data.without_feature(predictions or ""), trained)


def _group_of(question: Mapping[str, Any]) -> dict[str, Any]:
    spec, rows = data_spec(question["section"]), unpack_rows(question["rows"])
    return {"recode": group_of(_table(question), spec, _data(question), question["terms"], rows)}


def _model(question: Mapping[str, Any]) -> dict[str, Any]:
    from audits.models.inspection import check_model
    from audits.models.spec import model_spec

    found = check_model(
        _data(question),
        model_spec(question["model"]),
        base_dir=Path(question["folder"]),
        threshold=question["threshold"],
    )
    return {"model": found.to_dict()}


def _arrival_document(arrival: Arrival) -> dict[str, Any]:
    columns = {name: list(map(plain_value, values)) for name, values in arrival.columns.items()}
    return {**vars(arrival), "columns": columns, "sent": asdict(arrival.sent)}


def _body(question: Mapping[str, Any]) -> dict[str, Any]:
    body = base64.b64decode(question["body"])
    read = read_arrow if question["kind"] == "arrow" else read_json
    return _arrival_document(read(body, question["reads"]))


def _file(question: Mapping[str, Any]) -> dict[str, Any]:
    path = Path(question["path"])
    arrival = read_file(path, question["reads"], frozenset(question["numbers"]))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {**_arrival_document(arrival), "digest": digest}


_writing: Iterator[bytes] = iter(())


def _export(question: Mapping[str, Any]) -> dict[str, Any]:
    """Begin a file, and return its first part; ``export more`` gives the next, None after the last."""
    global _writing
    _writing = exports.parts(question, partial(_data, question))
    return _more(question)


def _more(_: Mapping[str, Any]) -> dict[str, Any]:
    part = next(_writing, None)
    return {"part": None if part is None else base64.b64encode(part).decode("ascii")}


_OF_DATA: Mapping[str, Callable[..., Any]] = {
    "rows": _rows,
    "distinct": _distinct,
    "members": AuditData.members,
    "selected": _selected_people,
    "of audit": _of_audit,
    "usual audits": _usual_audits,
}
_ANSWERS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "table": _about_table,
    "data": _about_data,
    "examine": _examine,
    "group of": _group_of,
    "model": _model,
    "body": _body,
    "file": _file,
    "export": _export,
    "export more": _more,
}


# a small table is looked at here, too, so that nothing is loaded in the children any more
_small = pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}, pd.RangeIndex(1, 3, name="row"))
profile(Table(_small, ReadReport((), {})))
# scikit-learn, too, looks for libraries in /proc when it is loaded
with contextlib.suppress(ImportError), without_tensors():
    import skops.io  # noqa: F401
with one_thread():
    pass
