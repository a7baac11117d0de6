"""Taking a result away: numbers, tables, and the command that makes them again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

import streamlit as st

from app import jobs, state
from app.tables.exports import portable
from app.widgets.download import download
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
    space, own = state.workspace(), dataclasses.replace(found, spec=portable(found.spec))
    with st.container(horizontal=True):
        files: dict[str, tuple[str, str, Callable[[], bytes]]] = {
            "results.json": ("Result (JSON)", "application/json", lambda: json_of(own)),
            "tables.zip": (
                "All tables (ZIP of CSV)", "application/zip", lambda: jobs.export(space, found, "tables"),
            ),
            "spec.yaml": ("Spec (YAML)", "application/yaml", lambda: dump_yaml(own.spec).encode()),
        }  # fmt: skip
        for name, (label, mime, make) in files.items():
            download(label, name, mime, make, key=f"export-{name}")
    st.text("The same numbers from the command line, with the spec beside the data:")
    fetch = f"python -m audits sample-data {sample} --out .\n" if sample else ""
    st.code(f"{fetch}python -m audits run spec.yaml --out result", language=None)


def json_of(found: RunResult) -> bytes:
    """Return a result as the text of ``results.json``."""
    return json.dumps(found.to_json(), indent=1, ensure_ascii=False, allow_nan=False).encode()


def report_file(
    space: Workspace, found: RunResult, kind: Literal["html", "pdf"], template: str = "full", **columns: Any
) -> bytes:
    """Have the report of a run written as a file; `columns` are those that a law's tables ask for."""
    arguments = {"template": template, "columns": columns}
    return jobs.export(space, found, "report", arguments, pdf=kind == "pdf")
