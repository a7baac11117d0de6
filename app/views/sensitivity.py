"""Prediction sensitivity: is this very prediction driven by protected status?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import jobs, state
from app.latest_runs import latest_audits
from app.sensitivity.choices import choose_options
from app.sensitivity.result import show_result
from app.widgets.audit_page import audit_page
from app.workspaces.workspace import Workspace
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult

_FIRST = AUDITS["attribute_swap"]


def _change_one_word(space: Workspace, draft: Mapping[str, Any]) -> None:
    """Lead to the plainest question first: what it found, where it has run, else what it asks."""
    known = latest_audits(space, draft).get(_FIRST.name)
    said = _FIRST.question if known is None else jobs.result(space, known["spec"]).audits[0].headline
    with st.container(key="change-one-word"):
        st.text(f"{_FIRST.title}: {said}")
        query = state.address(_FIRST.title)
        st.page_link(f"views/{_FIRST.name}.py", label=f"{_FIRST.title} →", query_params=query)


def _show(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    show_result(found, space, draft)
    _change_one_word(space, draft)


audit_page(
    "sensitivity",
    needs="Choose at least one protected attribute.",
    choose=choose_options,
    show=_show,
    below=_change_one_word,
)
