"""Taking a result away: numbers, tables, and the command that makes them again."""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Literal

import streamlit as st

from app import state
from app.widgets.figure_card import csv_bytes
from audits.runs.documents import dump_yaml
from audits.runs.result import RunResult

__all__ = ["export_section", "portable", "report_bytes", "zipped_tables"]

_ROWS_AT_ONCE = 10_000


def portable(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return `spec` with files of a workspace named as they were when they were brought."""
    data, model = dict(spec["data"]), dict(spec["model"])
    paths = data["path"]
    data["path"] = _own_name(paths) if isinstance(paths, str) else [_own_name(path) for path in paths]
    if "path" in model:
        model["path"] = _own_name(model["path"])
    second = dict(spec.get("compare") or {})
    if "path" in second.get("model", {}):
        second["model"] = {**second["model"], "path": _own_name(second["model"]["path"])}
    audits = [{name: _own_policy(options) for name, options in each.items()} for each in spec["audits"]]
    more = {"compare": second} if second else {}
    return {**spec, "data": data, "model": model, "audits": audits, **more}


def _own_policy(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return an audit's options with the file of a second model named as it was when it was brought."""
    against = options.get("against")
    if isinstance(against, dict) and against.get("path"):
        return {**options, "against": {**against, "path": _own_name(against["path"])}}
    return dict(options)


def export_section(found: RunResult, sample: str | None) -> None:
    """Draw the downloads of a result and how to reproduce it.

    Parameters
    ----------
    sample : str, optional
        Name of the bundled example that the data are.
    """
    with st.container(horizontal=True):
        _button("Result (JSON)", "results.json", "application/json", lambda: _json(found))
        _button("All tables (ZIP of CSV)", "tables.zip", "application/zip", lambda: zipped_tables(found))
        _button(
            "Spec (YAML)", "spec.yaml", "application/yaml", lambda: dump_yaml(portable(found.spec)).encode()
        )
    st.text("The same numbers from the command line, with the spec beside the data:")
    fetch = f"python -m audits sample-data {sample} --out .\n" if sample else ""
    st.code(f"{fetch}python -m audits run spec.yaml --out result", language="bash")


def _button(label: str, name: str, mime: str, make: Any) -> None:
    st.download_button(
        label,
        data=state.exporting(make, name),
        file_name=name,
        mime=mime,
        on_click="ignore",
        key=f"export-{name}",
    )


def _json(found: RunResult) -> bytes:
    document = {**found.to_json(), "spec": portable(found.spec)}
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode()


def zipped_tables(found: RunResult) -> bytes:
    """Return every table of a run as CSV files in a ZIP, named after audit and table."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, table in found.named_tables().items():
            with archive.open(f"{name}.csv", "w", force_zip64=True) as file:
                for place in range(0, max(1, len(table)), _ROWS_AT_ONCE):  # never all of them as text
                    part = table.iloc[place : place + _ROWS_AT_ONCE]
                    file.write(csv_bytes(part, header=not place))
    return packed.getvalue()


def report_bytes(
    found: RunResult, kind: Literal["html", "pdf"], template: str = "full", **columns: str
) -> bytes:
    """Return the report of a run as a file; `columns` are those that a law's tables ask for."""
    from audits.reports.html import render_report  # late: it loads what draws on paper
    from audits.reports.pdf import render_pdf

    result = dataclasses.replace(found, spec=portable(found.spec))
    more: dict[str, Any] = {"template": template, "spec_text": dump_yaml(result.spec), **columns}
    return render_pdf(result, **more) if kind == "pdf" else render_report(result, **more).encode()


def _own_name(path: str) -> str:
    """Return the file's own name where `path` lies in a workspace, else `path`."""
    parts = PurePosixPath(path).parts
    return parts[-1] if parts and parts[0] == "files" else path
