"""Auditing what a monitor received, the last so many people or those between two days, by an ordinary run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import streamlit as st

from app import state
from app.serving.monitor_api import INGEST
from app.serving.monitor_windows import WindowRequest, WindowRun, audits_of, submit_window
from app.widgets import notices
from app.widgets.results.verdict_cards import title_of
from app.workspaces.workspace import Workspace
from audits.errors import InputError, RunFailed
from audits.monitor.monitors import StoredMonitor
from audits.monitor.windows import MAX, audits_of_windows, needing_rows, nouns
from audits.records import Audit
from audits.runs.storage.saved import SavedRun

_LAST, _DAYS = "The last people", "Between two days"
_USUAL = 1000
_MAX_SHOWN = 5


def audit_window(monitor: StoredMonitor, space: Workspace) -> None:
    """Draw the form that audits a window, what came of it, and the latest audits of windows."""
    offered, needing = audits_of_windows(), needing_rows()
    with st.expander("Audit recent predictions", key="audit-window"):
        st.text(
            "Incoming predictions become a table that is audited like any other, with the deployed "
            f"model's decisions. {_retention_text(monitor, offered, needing)}"
        )
        st.toggle(
            "Keep rows",
            value=monitor.keeps_rows,
            key=f"keep-rows-{monitor.id}",
            on_change=keep_rows,
            args=(monitor.id,),
            help="Rows sent from now on are kept as long as the monitor's other records, so that "
            f"{nouns(needing)} can be audited. Switching this off removes them at once.",
        )
        way = st.radio("Which people", [_LAST, _DAYS], horizontal=True, key=f"window-way-{monitor.id}")
        with st.form(f"window-{monitor.id}", border=False):
            asked = _people_controls(way)
            possible = [each.name for each in offered if monitor.keeps_rows or each not in needing]
            audits = st.multiselect(
                "Audits", [each.name for each in offered], default=possible, format_func=title_of
            )
            asked["outcomes"] = st.checkbox("With outcomes, where they are known")
            if st.form_submit_button("Audit the window", key="submit-window", type="primary"):
                with st.spinner("Building the table"):
                    _submit(monitor, space, {**asked, "audits": audits or None})
                st.rerun()
        _window_status(monitor)


def _retention_text(monitor: StoredMonitor, offered: Sequence[Audit], needing: Sequence[Audit]) -> str:
    if monitor.keeps_rows:
        return f"This monitor keeps rows for {monitor.keep_days} days."
    able = [each for each in offered if each not in needing]
    return (
        "This monitor keeps decisions and protected values of people sent with an id, and nothing else of "
        f"a row: {nouns(able)} can be audited, {nouns(needing)} cannot."
    )


def _people_controls(way: str) -> dict[str, Any]:
    """Draw what says which people, and return it."""
    if way == _LAST:
        return {"last": int(st.number_input("Number of people", 1, MAX, _USUAL, step=100))}
    today = datetime.now(UTC).date()
    with st.container(horizontal=True):
        since = st.date_input("From", today - timedelta(days=7))
        until = st.date_input("To (inclusive)", today)
    return {"since": str(since), "until": str(until + timedelta(days=1))}


def _submit(monitor: StoredMonitor, space: Workspace, asked: dict[str, Any]) -> None:
    state.forget("window-problem")
    state.forget("window-asked")
    try:
        space.check_writable()
        submitted = submit_window(INGEST.monitors, INGEST.monitors.get(monitor.id), WindowRequest(**asked))
    except (InputError, RunFailed) as error:
        state.keep("window-problem", (monitor.id, str(error)))
    else:
        state.keep("window-asked", (monitor.id, submitted))


def _window_status(monitor: StoredMonitor) -> None:
    """Say what came of the window asked for last, and link to the audits of windows."""
    problem, asked = state.get("window-problem"), state.get("window-asked")
    if problem is not None and problem[0] == monitor.id:
        notices.problem(problem[1])
    if asked is not None and asked[0] == monitor.id:
        submitted: WindowRun = asked[1]
        notices.note(" ".join(["The audit is running.", submitted.window.sentence, *submitted.notes]))
    for run in audits_of(monitor)[:_MAX_SHOWN]:
        st.page_link("views/saved.py", label=_label(run), query_params=state.where() | {"run": [run.id[:12]]})


def _label(run: SavedRun) -> str:
    when = datetime.fromtimestamp(run.created, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"{run.title}, {when}: {run.verdict or run.status}"


@state.report_errors
def keep_rows(identity: str) -> None:
    """Have a monitor keep rows, or no longer, as its toggle says."""
    state.workspace().check_writable()
    INGEST.monitors.change(identity, keep_rows=bool(state.widget(f"keep-rows-{identity}")))
