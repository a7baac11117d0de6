"""What to look at after a result: the audit that asks the question it leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.pages import page_of
from app.widgets.verdict_cards import latest_audits
from app.workspace import Workspace
from audits.runs.registry import AUDITS

__all__ = ["next_look"]

_OPEN = {
    "groups": ("explain", "rule_sets", "flipset"),
    "explain": ("flipset", "rule_sets"),
    "rule_sets": ("flipset", "mitigation", "recourse"),
    "flipset": ("explain", "sensitivity", "recourse"),
    "loss_ratio": ("sensitivity", "flipset"),
    "outcome_transport": ("recourse", "groups"),
    "recourse": ("flipset", "groups"),
    "sensitivity": ("loss_ratio", "flipset"),
}
"""Audits that ask what one of another leaves open, the nearest first."""


def next_look(space: Workspace, draft: Mapping[str, Any], audit: str) -> None:
    """Link to an audit that was not run yet on these data and this model, with what it answers."""
    if audit not in _OPEN or space.read_only:
        return
    done = latest_audits(space, draft)
    stored = "predictions" in draft["spec"]["model"]
    for name in (*_OPEN[audit], "saved"):
        if name == "saved":
            query = state.address("Report & saved audits")
            label = "Look at this next: take the report with you →"
            st.page_link("views/saved.py", label=label, query_params=query)
            return
        if name in done or (stored and AUDITS[name].asks_anew):
            continue
        page = page_of(name)
        if page is not None:
            with st.container(key="next-look"):
                st.subheader("Look at this next", anchor=False)
                st.text(AUDITS[name].question)
                st.page_link(page, label=f"{page.title} →", query_params=state.address(page.title))
            return
