"""One run of every audit that this workspace has tried, so that one report holds them all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state, work
from app.latest import latest_audits
from app.widgets import notices
from app.widgets.run_bar import ended_badly, progress, run_button
from app.widgets.verdict_cards import title_of
from app.workspace import Workspace
from audits.errors import InputError
from audits.runs.registry import AUDITS

__all__ = ["report_of_all"]


def report_of_all(space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw the choice of audits for one report, and the button that runs them together."""
    records = latest_audits(space, draft)
    if len(records) < 2:
        return
    with st.expander("One report of several audits", expanded=False):
        st.text("The audits run so far on these data and this model, with their latest options, as one run.")
        names = [name for name in AUDITS if name in records]
        chosen = st.multiselect(
            "Audits",
            names,
            default=names,
            format_func=title_of,
            **state.choice("parts"),
        )
        if not chosen:
            return
        spec = {**draft["spec"], "audits": [records[name]["spec"]["audits"][0] for name in chosen]}
        try:
            standing = work.standing(space, spec)
        except InputError as error:
            notices.problem(str(error))
            return
        run_button(space, spec, f"Report of {len(chosen)} audits", standing, 5.0 * len(chosen), "run-all")
        if standing.going and standing.run is not None:
            progress(standing.run)
        elif standing.finished:
            st.text("It is among the saved audits below.")
        else:
            ended_badly(standing.run)
