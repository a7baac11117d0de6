"""Whether the first audits would run: tried on a part of the people before the page says "ready"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import jobs
from app.glance.runs import usual_options
from app.pages import QUESTIONS
from app.tables.handles import DataHandle
from app.widgets import notices
from app.workspaces.workspace import Workspace
from audits.runs.executors.job import Run
from audits.runs.plans.trial import refusals


def trial_standing(space: Workspace, draft: Mapping[str, Any], data: DataHandle) -> str:
    """Say what refuses to run; return how far the trial is: ``ready``, ``trying`` or ``refused``."""
    if space.read_only or draft["source"]["kind"] == "sample":  # examples are tried before they are bundled
        return "ready"
    run = jobs.trial(space, draft["spec"], _first(draft, data))
    if not run.finished:
        _watch(run)
        return "trying"
    said = refusals(run.answer or {}) if run.error is None else [run.error.sentence]
    for sentence in said:
        notices.problem(sentence)
    return "refused" if said else "ready"


def _first(draft: Mapping[str, Any], data: DataHandle) -> dict[str, dict[str, Any]]:
    """Return the audit that each question of *At a glance* offers first, with its options."""
    usual = usual_options(draft, data)
    names = [next((name for name in each if name in usual), None) for each in QUESTIONS.values()]
    return {name: usual[name] for name in names if name is not None}


def _watch(run: Run) -> None:
    """Draw the page again once the trial is over."""

    @st.fragment(run_every=1.0)
    def poll() -> None:
        if run.finished:
            st.rerun()

    with st.container(key="trying"):
        poll()
