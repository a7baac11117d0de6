"""The pages: which there are, in the order of the navigation, and where an audit's page is."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from audits.runs.registry import AUDITS

__all__ = ["navigation", "view_of"]

_VIEWS = Path(__file__).resolve().parent / "views"


def navigation() -> dict[str, list[st.Page]]:
    """Return the pages under the headings of the navigation; the audits' come from their records."""
    first = "groups"  # how the groups compare at all: its page is the overview
    audits = [name for name in AUDITS if name != first and view_of(name)]
    return {
        "": [
            st.Page("views/data_model.py", title="Data & model", default=True),
            st.Page(f"views/{first}.py", title=AUDITS[first].title),
        ],
        "Audits": [st.Page(str(view_of(name)), title=AUDITS[name].title) for name in audits],
        "Deployed": [st.Page("views/monitor.py", title="Monitor")],
        "Take away": [
            st.Page("views/saved.py", title="Report & saved audits"),
            st.Page("views/tour.py", title="Guided demo"),
        ],
    }


def view_of(name: str) -> str | None:
    """Return the page of an audit, as links name it; None where it has none of its own."""
    return f"views/{name}.py" if (_VIEWS / f"{name}.py").is_file() else None
