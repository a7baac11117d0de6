"""What the process that holds a workspace's tables answers: numbers of people, and slices that pages show.

It runs in a child of `audits.runs.executors.sandbox_pool`, never where pages are served. A question carries
all that its answer depends on, so that a fresh process answers as well as one that has the tables already.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
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
from app.tables.protocol import pack_array, pack_frame, unpack_arguments, unpack_array
from app.tables.summary import summarise
from audits.data import AuditData, DataSpec, Table, build_data, data_spec, read_table
from audits.data.io.limits import beyond_limits
from audits.data.io.preview import Preview, preview_table
from audits.data.selection import group_of, selected_rows
from audits.data.values import is_missing
from audits.errors import InputError
from audits.models.native.skops_file import without_tensors
from audits.monitor.ingestion import Arrival, read_arrow, read_file, read_json
from audits.records import resolve
from audits.runs.registry import AUDITS, usual_others
from audits.runs.source.sample import draw_table, of_all
from audits.runs.source.strategy import sample_size
from audits.threads import one_thread

__all__ = ["answer"]

_TABLES, _FRAMES = 1, 2

for _name in AUDITS.ours:
    AUDITS[_name]  # loaded before too: what counts threads looks for libraries in /proc

_tables: OrderedDict[str, Table] = OrderedDict()
_frames: OrderedDict[str, AuditData] = OrderedDict()


def answer(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to one question: see the functions below, one for each value of ``ask``."""
    return _ANSWERS[question["ask"]](question)


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
    first = preview(found.frame)
    return {
        "report": {**found.report.to_dict(), "notes": list(found.report.notes)},
        "profiles": [asdict(each) for each in profile(found)],
        "shape": [
            found.rows if isinstance(found, Preview) else len(found.frame),
            len(found.frame.columns),
        ],
        "first": pack_frame(first),
    }


def _about_data(question: Mapping[str, Any]) -> dict[str, Any]:
    data = _data(question)
    return {
        "summary": asdict(summarise(data)),
        "facts": {
            "columns": [str(name) for name in data.frame.columns],
            "types": [each.kind for each in map(_type, data.frame.dtypes)],
            "kinds": dict(data.kinds),
            "features": list(data.features),
            "protected": list(data.protected),
            "label": data.label,
            "favorable": [_plain(value) for value in data.favorable],
            "roles": dict(data.roles),
            "missing": data.missing,
            "rows_read": data.rows_read,
            "excluded": dict(data.excluded),
            "imputed": dict(data.imputed),
            "sha256": data.sha256,
            "digest": data.digest,
            "notes": list(data.notes),
            "orders": {name: list(levels) for name, levels in data.orders.items()},
            "bins": {name: list(edges) for name, edges in data.bins.items()},
            "cut": None if data.cut is None else asdict(data.cut),
            "numeric": data.numeric is not None,
            "n": data.n,
            "size": data.size,
            "labeled": data.y is not None,
            "weighted": data.weights is not None,
        },
    }


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


def _rows(question: Mapping[str, Any]) -> dict[str, Any]:
    frame = _data(question).frame
    columns = question["columns"]
    wanted = frame if columns is None else frame[columns]
    if question["rows"] is not None:
        wanted = wanted.loc[unpack_array(question["rows"])]
    return {"frame": pack_frame(wanted)}


def _distinct(question: Mapping[str, Any]) -> dict[str, Any]:
    column = _data(question).frame[question["column"]].dropna()
    number = column.nunique()
    if number > question["most"]:
        return {"number": number, "values": []}
    return {"number": number, "values": sorted(column.astype(str).unique().tolist())}


def _members(question: Mapping[str, Any]) -> dict[str, Any]:
    return {"mask": pack_array(_data(question).members(question["where"], argument=question["argument"]))}


def _selected_people(question: Mapping[str, Any]) -> dict[str, Any]:
    data = _data(question)
    rows = selected_rows(data, question["terms"])
    if question["rows"] is not None:
        rows = rows.intersection(pd.Index(unpack_array(question["rows"])))
    inside = data.frame.index.isin(rows)
    people = float(inside.sum() if data.weights is None else data.weights[inside].sum())
    return {"rows": pack_array(rows.to_numpy()), "people": people}


def _group_of(question: Mapping[str, Any]) -> dict[str, Any]:
    spec, rows = data_spec(question["section"]), question["rows"]
    among = None if rows is None else pd.Index(unpack_array(rows))
    return {"recode": group_of(_table(question), spec, _data(question), question["terms"], among)}


def _labels(question: Mapping[str, Any]) -> dict[str, Any]:
    y = _data(question).y
    return {"y": None if y is None else pack_array(y)}


def _weights(question: Mapping[str, Any]) -> dict[str, Any]:
    weights = _data(question).weights
    return {"weights": None if weights is None else pack_array(weights)}


def _groups(question: Mapping[str, Any]) -> dict[str, Any]:
    return {"frame": pack_frame(_data(question).groups)}


def _of_audit(question: Mapping[str, Any]) -> dict[str, Any]:
    """Answer what the page of an audit asks about the data, as its record says."""
    ask = AUDITS[question["audit"]].pages.asks[question["asked"]]
    found = resolve(ask)(_data(question), **unpack_arguments(question["told"]))
    return {"frame": pack_frame(found)} if isinstance(found, pd.DataFrame) else {"found": found}


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


def _usual_audits(question: Mapping[str, Any]) -> dict[str, Any]:
    data = _data(question).without_feature(question["predictions"] or "")
    return {"audits": usual_others(data, question["trained"])}


def _arrival_document(arrival: Arrival) -> dict[str, Any]:
    columns = {name: [_plain(value) for value in values] for name, values in arrival.columns.items()}
    sent = dataclasses.asdict(arrival.sent)
    return {
        "columns": columns,
        "people": arrival.people,
        "ids": list(arrival.ids),
        "at": arrival.at,
        "sent": sent,
    }


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


def _type(dtype: Any) -> np.dtype:
    return dtype if isinstance(dtype, np.dtype) else np.dtype(object)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: dates as text, as the page and the scoring process would have them."""
    if value is None or type(value) in {str, int, float, bool}:
        return value
    if is_missing(value):
        return None
    if isinstance(value, (np.number, np.bool_)):
        return value.item()
    from audits.data.values import text_of

    return text_of(value)


_ANSWERS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "table": _about_table,
    "data": _about_data,
    "examine": _examine,
    "rows": _rows,
    "distinct": _distinct,
    "members": _members,
    "selected": _selected_people,
    "group of": _group_of,
    "labels": _labels,
    "weights": _weights,
    "groups": _groups,
    "of audit": _of_audit,
    "model": _model,
    "usual audits": _usual_audits,
    "body": _body,
    "file": _file,
    "export": _export,
    "export more": _more,
}


def _warm() -> None:
    """Read a small table of each kind, so that nothing is loaded in the children any more."""
    frame = pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    profile(Table(frame.set_index(pd.RangeIndex(1, 3, name="row")), _no_report()))


def _no_report() -> Any:
    from audits.data import ReadReport

    return ReadReport((), {})


_warm()
# scikit-learn, too, looks for libraries in /proc when it is loaded
with contextlib.suppress(ImportError), without_tensors():
    import skops.io  # noqa: F401
with one_thread():
    pass
