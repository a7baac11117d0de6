"""One run of every audit that this workspace has tried, so that one report holds them all."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import streamlit as st

from app import jobs, state
from app.latest_runs import latest_audits
from app.saved.runs import file_stem
from app.widgets.audit_page import run_title
from app.widgets.download import download
from app.widgets.results.export import REPORTS, report_file
from app.widgets.results.verdict_cards import title_of
from app.widgets.run_bar import ended_badly, progress, run_button, status_shown
from app.workspaces.workspace import Workspace
from audits.runs.registry import AUDITS
from audits.runs.storage.saved import SavedRuns

_NAMED = 3  # audits in the title of a run of several
_AWAITED = "combined report"  # whose end opens it


def report_of_all(space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw the choice of audits for one report, and the button that runs them together."""
    records = latest_audits(space, draft)
    if len(records) < 2:
        return
    with st.expander("One report of several audits", key="combined-report"):
        st.text("The audits run so far on these data and this model, with their latest options, as one run.")
        names = [name for name in AUDITS if name in records]
        chosen = st.multiselect("Audits", names, default=names, format_func=title_of, **state.choice("parts"))
        if not chosen:
            return
        spec = {**draft["spec"], "audits": [records[name]["spec"]["audits"][0] for name in chosen]}
        if (standing := status_shown(space, spec)) is None:
            return
        more = [f"{len(chosen) - _NAMED} more"] if len(chosen) > _NAMED else []
        title = run_title(draft, " + ".join([*map(title_of, chosen[:_NAMED]), *more]))
        run_button(space, spec, title, standing, 5.0 * len(chosen), "run-all", label="Run them as one report")
        if standing.going and standing.run is not None:
            state.keep(_AWAITED, standing.key)
            progress(standing.run)
        elif standing.finished:
            _open_finished(space, spec, title, standing.key)
        else:
            ended_badly(standing.run)


def _open_finished(space: Workspace, spec: Mapping[str, Any], title: str, key: str) -> None:
    """Open the run below, once, and offer its report at once."""
    if not space.read_only and not any(record["key"] == key for record in space.runs()):
        jobs.submit(space, spec, title)  # known from elsewhere: it is this workspace's run too
    kept = next((run for run in SavedRuns().list(owner=space.token) if run.key == key), None)
    if kept is not None and state.get(_AWAITED) == key:
        state.forget(_AWAITED)
        state.put_in_address("run", kept.id[:12])
    st.text("They appear in one report, and among the saved audits below.")
    name = "audits" if kept is None else file_stem(kept)
    with st.container(horizontal=True):
        for ending, (words, mime) in REPORTS.items():
            make, label = partial(_report, space, spec, ending), f"Combined report ({words})"
            download(label, f"{name}.{ending}", mime, make, key=f"combined-{ending}")


def _report(space: Workspace, spec: Mapping[str, Any], kind: Literal["html", "pdf"]) -> bytes:
    return report_file(space, jobs.result(space, spec), kind)
