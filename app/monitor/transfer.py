"""What goes into a monitor by hand, how services send to it, and how it leaves."""

from __future__ import annotations

import io
import json
import re
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from app import state
from app.serving.ingestion import FileOutcome, drop_folder
from app.serving.monitor_api import INGEST
from app.widgets import notices
from app.widgets.download import download
from app.workspaces.workspace import Workspace
from audits.errors import InputError, RunFailed
from audits.monitor.monitors import StoredMonitor
from audits.monitor.recoding import written_words
from audits.stats.text import count, people

_TYPES = ["csv", "tsv", "jsonl", "parquet", "arrow", "feather", "gz"]
_MAX_NAME = 100


def give_file(monitor: StoredMonitor) -> None:
    """Draw the form that scores files, and what came of the last ones."""
    with (
        st.expander("Score a file", key="score-file"),
        st.form(f"give-{monitor.id}", clear_on_submit=True, border=False),
    ):
        needed = [*monitor.bundle.reads, *filter(None, [monitor.bundle.needs.removesuffix("s")])]
        more = ["id", *(f"protected.{name}" for name in monitor.bundle.groups)]
        st.text(
            f"Columns: {', '.join(needed)}; optionally {', '.join(more)}. No others. A file with any wrong "
            "row is refused as a whole. The same content counts only once."
        )
        files = st.file_uploader(
            "CSV, TSV, JSON lines, Parquet or Arrow",
            type=_TYPES,
            accept_multiple_files=True,
            key=f"give-files-{monitor.id}",
        )
        if st.form_submit_button("Score and store"):
            held = state.present(files or ())
            with st.spinner("Scoring"):
                told = [_take(monitor, file) for file in held]
            state.let_go(held)
            none = "Choose the files again: the upload expired." if files else "No file was chosen."
            state.keep("given", (monitor.id, told or [(False, none)]))
            st.rerun()
    given = state.get("given")
    if given is not None and given[0] == monitor.id:
        for well, sentence in given[1]:
            (notices.note if well else notices.problem)(sentence)


def _take(monitor: StoredMonitor, file: Any) -> tuple[bool, str]:
    """Have one file measured and stored; return whether that went well, and what came of it in words."""
    name = re.sub(r"[^\w. -]", "_", file.name)[-_MAX_NAME:].lstrip(".") or "file"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(file.getbuffer())
        try:
            space = state.workspace()
            space.check_writable()
            taken = INGEST.take(monitor, path)
            state.note("measured", space, monitor.id)
        except InputError as error:
            sentence = str(error) if error.where == name else f"{name}: {error}"
            return False, f"{sentence} The file was refused: 0 of its people were stored."
        except RunFailed as error:
            return False, f"{name}: {error} If you send it again, what was stored does not count twice."
    return True, f"{name}: {_taken_words(taken)}"


def _taken_words(taken: FileOutcome) -> str:
    if not taken.people:
        return f"its {count(taken.before)} people had been stored before; none was counted again."
    text = f"{people(taken.people)} stored, {count(taken.flagged)} of them flagged"
    if taken.alarms:
        text += f", {count(taken.alarms)} alarm{'s' if taken.alarms > 1 else ''} raised"
    return f"{text}; {count(taken.before)} had been stored before." if taken.before else f"{text}."


def send(monitor: StoredMonitor) -> None:
    """Say how a service sends predictions, and where files may be dropped."""
    bundle = monitor.bundle
    kept = "Rows are kept" if monitor.keeps_rows else "Nothing of a row is kept"
    st.text(f"Rows have exactly these columns: {', '.join(bundle.reads)}. {kept}.")
    notices.bullets(written_words(bundle))
    row = {
        entry["column"]: example_value(entry) for entry in bundle.encoding if entry["column"] in bundle.reads
    }
    told: dict[str, Any] = {"rows": [row], "ids": ["your id"]}
    if bundle.needs:
        told[bundle.needs] = [{"scores": 0.7, "decisions": True}[bundle.needs]]
    if bundle.groups:
        told["protected"] = {name: groups[:1] for name, groups in bundle.groups.items()}
    body = json.dumps(told, ensure_ascii=False).replace("'", "'\\''")
    server = state.server_address()
    st.code(
        f"curl -X POST {server}/api/v1/monitors/{monitor.id}/predictions \\\n"
        '  -H "Authorization: Bearer TOKEN" -H "Content-Type: application/json" \\\n'
        f"  -d '{body}'",
        language=None,
        wrap_lines=True,
    )
    st.text(
        f"The API is described at {server}/api/v1/openapi.json. "
        "Files dropped into this folder on the server are read, too:"
    )
    st.code(str(drop_folder(monitor)), language=None, wrap_lines=True)


def example_value(entry: dict[str, object]) -> object:
    """Return a value of a column that the audited people are about the middle of, or that one of them has."""
    levels = entry["levels"]
    if isinstance(levels, list) and levels:
        return levels[0]
    mean = float(entry["mean"])  # type: ignore[arg-type]
    if entry["kind"] == "datetime":  # in days
        return str(np.datetime64(round(mean), "D"))
    return round(mean) if entry["kind"] == "integer" else round(mean, 3)


def remove_or_export(monitor: StoredMonitor, space: Workspace) -> None:
    """Offer the bundle, and the end of the monitor."""
    st.text(
        "The bundle describes the reference people; `evenhand monitor replay` compares new data with it."
        if monitor.bundle.needs
        else "The bundle holds everything a service needs to measure people without this server."
    )
    label, name = "Bundle (ZIP of JSON and safetensors)", f"monitor-{monitor.id[:8]}.zip"
    download(label, name, "application/zip", lambda: _zip_monitor(monitor), what=monitor.id)
    sure = st.checkbox("Remove this monitor and all its measurements", key=f"sure-{monitor.id}")
    st.button("Remove", disabled=not sure, on_click=_remove, args=(monitor.id, space.token))


@state.report_errors
def _remove(identity: str, owner: str) -> None:
    space = state.workspace()
    space.check_writable()
    if any(monitor.id == identity for monitor in INGEST.monitors.of_owner(owner)):
        INGEST.remove(identity)
        state.note("monitor removed", space, identity)


def _zip_monitor(monitor: StoredMonitor) -> bytes:
    packed = io.BytesIO()
    text, weights = monitor.bundle.dump()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("monitor.json", text)
        archive.writestr("monitor.safetensors", weights)
    return packed.getvalue()
