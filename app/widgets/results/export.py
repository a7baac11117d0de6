"""Taking a result away: numbers, tables, and the command that makes them again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

import streamlit as st

from app import jobs, state
from app.tables.exports import portable
from app.workspaces.workspace import Workspace
from audits.runs.documents import dump_yaml
from audits.runs.result import RunResult

REPORTS: Mapping[Literal["html", "pdf"], tuple[str, str]] = {
    "html": ("HTML", "text/html"),
    "pdf": ("PDF", "application/pdf"),
}
"""What a report can be written as: its name, and its type for the browser."""


def export_section(found: RunResult, sample: str | None) -> None:
    """Draw the downloads of a result and how to reproduce it.

    Parameters
    ----------
    sample : str, optional
        Name of the bundled example that the data are.
    """
    space = state.workspace()
    with st.container(horizontal=True):
        _button("Result (JSON)", "results.json", "application/json", lambda: _json(found))
        _button(
            "All tables (ZIP of CSV)",
            "tables.zip",
            "application/zip",
            lambda: jobs.export(space, found, "tables"),
        )
        _button(
            "Spec (YAML)", "spec.yaml", "application/yaml", lambda: dump_yaml(portable(found.spec)).encode()
        )
    st.text("The same numbers from the command line, with the spec beside the data:")
    fetch = f"python -m audits sample-data {sample} --out .\n" if sample else ""
    st.code(f"{fetch}python -m audits run spec.yaml --out result", language=None)


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


def report_file(
    space: Workspace, found: RunResult, kind: Literal["html", "pdf"], template: str = "full", **columns: Any
) -> bytes:
    """Have the report of a run written as a file; `columns` are those that a law's tables ask for."""
    arguments = {"template": template, "columns": columns}
    return jobs.export(space, found, "report", arguments, pdf=kind == "pdf")
