"""What the servers of this home folder say of themselves: runs, memory and disk, the audit log."""

from __future__ import annotations

import json
import time
from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.serving.maintenance import snapshot
from app.widgets import notices
from audits.errors import RunFailed
from audits.runs.storage.audit_log import AuditLog, short
from audits.runs.storage.control import ask_to_cancel, disk_by_workspace, servers
from audits.runs.storage.store import home
from audits.stats.text import several

_LATEST = 200


def runs() -> None:
    """Draw the runs that wait or go on, of everyone, each with Cancel."""
    going = [run for server in _servers() for run in server["runs"]]
    st.subheader(f"Runs ({len(going)} waiting or running)", anchor=False)
    for run in going:
        with st.container(horizontal=True, vertical_alignment="center"):
            owner = run["person"] or f"workspace {run['workspace']}"
            st.text(
                f"{run['id'][:8]} · {owner} · {run['status']} for {run['seconds']:,.0f} s · {run['doing']}"
            )
            st.button("Cancel", key=f"cancel-{run['id']}", on_click=_cancel, args=(run["id"],))


def memory_and_disk() -> None:
    """Draw how much each workspace uses."""
    st.subheader("Memory and disk", anchor=False)
    found = _servers()
    tables = {name: size for server in found for name, size in server["tables"].items()}
    disk = {short(token): size for token, size in disk_by_workspace(home()).items()}
    rows = [(name, tables.get(name, 0) / 1e6, disk.get(name, 0) / 1e6) for name in sorted({*tables, *disk})]
    shown = pd.DataFrame(rows, columns=["workspace", "tables in memory (MB)", "disk (MB)"])
    st.dataframe(shown.round(1), hide_index=True, alt="Memory and disk by workspace")
    workers = [size for server in found for size in server["workers"].values()]
    processes = "process" if len(workers) == 1 else "processes"
    st.text(f"{len(workers)} worker {processes} with {sum(workers) / 1e6:,.0f} MB.")


def audit_log() -> None:
    """Draw the end of the audit log, and offer all of it."""
    st.subheader("Audit log", anchor=False)
    log = AuditLog(home())
    try:
        number, entries = log.check(), list(log.entries())
    except RunFailed as error:
        notices.problem(str(error))
        return
    shown = f" The latest {_LATEST} are shown." if number > _LATEST else ""
    st.text(f"{several(number, 'line')} in an unbroken chain.{shown}")
    frame = pd.DataFrame(entries[-_LATEST:][::-1], columns=["at", "who", "act", "workspace", "what"])
    frame["at"] = [time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at)) for at in frame["at"]]
    st.dataframe(frame, hide_index=True, alt="The latest lines of the audit log")
    st.download_button(
        "The whole log (JSON lines)",
        data=lambda: "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries),
        file_name="audit-log.jsonl",
        mime="application/jsonl",
        on_click="ignore",
    )


def _servers() -> list[dict[str, Any]]:
    return servers(home()) or [snapshot()]


@state.report_errors
def _cancel(run: str) -> None:
    ask_to_cancel(home(), run)
    state.note("cancelled", state.workspace(), run)
