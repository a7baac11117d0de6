"""The usual run of each audit on the data and the model, and how those stand that go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import jobs, state
from app.drafts.drafts import audit_spec
from app.tables.handles import DataHandle
from app.widgets.audit_page import run_title
from app.workspaces.workspace import Workspace
from audits.runs.executors.job import Run
from audits.runs.registry import AUDITS


def usual_options(draft: Mapping[str, Any], data: DataHandle) -> dict[str, dict[str, Any]]:
    """Return each audit that can run without a choice, with its options: an example's own come first."""
    model = draft["spec"]["model"]
    found = data.usual_audits(model)
    names = list(data.protected)
    if names:
        example = draft["source"]["kind"] == "sample"  # of your own tables nobody asked for intersections
        found[AUDITS.first] = {"by": [*names, names] if example and len(names) > 1 else names}
    given = draft["options"]
    found |= {name: {} for name in AUDITS if name in draft and name not in found}  # an example's own
    for name, options in found.items():
        if {"source", "target"} <= options.keys() & given.keys():
            options |= {key: given[key] for key in ("source", "target", "counterfactuals") if key in given}
        elif name in draft:
            options |= draft[name]
    return {
        name: options
        for name, options in found.items()
        if not ("predictions" in model and AUDITS[name].asks_anew)
    }


@state.report_errors
def submit_usual(space: Workspace, draft: Mapping[str, Any], usual: Mapping[str, dict[str, Any]]) -> None:
    """Have audits carried out with their usual options."""
    for name, options in usual.items():
        jobs.submit(space, audit_spec(draft, name, options), run_title(draft, AUDITS[name].title))


def begin_example(
    space: Workspace, draft: Mapping[str, Any], usual: Mapping[str, dict[str, Any]], known: set[str]
) -> bool:
    """Lay out what is bundled with an example and have its first audit run; tell whether anything was new."""
    left = {name: options for name, options in usual.items() if name not in known}
    ready = [
        name for name, each in left.items() if jobs.arrives_computed(space, audit_spec(draft, name, each))
    ]
    begun = {name: left[name] for name in left if name in ready or name == AUDITS.first}
    submit_usual(space, draft, begun)
    return bool(begun)


def runs_under_way(
    space: Workspace, draft: Mapping[str, Any], usual: Mapping[str, dict[str, Any]]
) -> dict[str, jobs.SpecStatus]:
    """Return how the usual run of each audit stands that was begun and has no result."""
    found = {name: jobs.status_of(space, audit_spec(draft, name, each)) for name, each in usual.items()}
    return {name: each for name, each in found.items() if each.run is not None and not each.finished}


def watch_runs(runs: Mapping[str, Run]) -> None:
    """Show how far runs are; the page is drawn again whenever one is over."""

    @st.fragment(run_every=0.7)
    def poll() -> None:
        if any(run.finished for run in runs.values()):
            st.rerun()
        for name, run in runs.items():
            st.progress(run.progress.fraction, text=f"{AUDITS[name].title}: {run.progress.doing}")

    with st.container(key="running"):
        poll()
