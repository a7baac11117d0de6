"""What to look at after a result: the audit that asks the question it leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.latest import latest_audits
from app.workspace import Workspace
from audits.runs.registry import AUDITS

__all__ = ["next_look"]


def next_look(space: Workspace, draft: Mapping[str, Any], audit: str) -> None:
    """Link to an audit that was not run yet on these data and this model, with what it answers."""
    if space.read_only:
        return
    done = latest_audits(space, draft)
    stored = "predictions" in draft["spec"]["model"]
    for name in (*AUDITS[audit].then, "saved"):
        if name == "saved":
            query = state.address("Report & saved audits")
            label = "Look at this next: take the report with you →"
            st.page_link("views/saved.py", label=label, query_params=query)
            return
        if name in done or AUDITS.brought(name) or (stored and AUDITS[name].asks_anew):
            continue
        record = AUDITS[name]
        with st.container(key="next-look"):
            st.subheader("Look at this next", anchor=False)
            st.text(record.question)
            query = state.address(record.title)
            st.page_link(f"views/{name}.py", label=f"{record.title} →", query_params=query)
        return
