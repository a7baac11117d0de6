"""What the other audits of a workspace found on the same data and model: a card each, with a link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.latest import KEY, latest_together
from app.pages import page_of
from app.workspaces.workspace import Workspace
from audits.runs.headline import findings_of
from audits.runs.registry import AUDITS

__all__ = ["title_of", "verdict_cards"]

_LETTERS = 260


def verdict_cards(space: Workspace, draft: Mapping[str, Any], *, leave_out: str = AUDITS.first) -> None:
    """Draw a card for the latest finished run of each audit on the draft's data and model.

    Verdicts are those after correction for all of these audits, the one left out among them: they are looked
    at together.
    """
    latest, together = latest_together(space, draft)
    shown = findings_of(together) if latest else []
    others = [each for each in shown if each.place is None or each.audit.name != leave_out]
    st.subheader("What the other audits found", anchor=False)
    if not others:
        st.text("No other audit has been run on these data and this model.")
    elif len(latest) > 1:
        st.text(
            f"{len(latest)} audits of these data and this model, the latest of each kind, are counted "
            "together: verdicts here are corrected for all of them (Holm)."
        )
        own = next((each for each in shown if each not in others), None)
        if own is not None and own.across.note:
            st.text(f"The one above. {own.across.note}")
    with st.grid(3, min_column_width=270, border=False):
        for each in others:
            name, said = "search" if each.place is None else each.audit.name, each.sentence
            with st.container(border=True, height="stretch", key=f"card-{name}"):
                st.badge(each.badge_text, color="gray")
                st.text(said if len(said) <= _LETTERS else said[: _LETTERS - 1] + "…")
                if each.across.note:
                    st.caption(each.across.note)
                st.space("stretch")
                if each.place is None:
                    st.caption("Found by a search of all features that no audit was asked for")
                else:
                    _link(name, latest[name])


def title_of(name: str) -> str:
    """Return the title of an audit, or its name where it is not known any more."""
    return AUDITS[name].title if name in AUDITS else name


def _link(name: str, record: Mapping[str, Any]) -> None:
    """Link to the page of a run as it was when the run began, and to that run."""
    if name in AUDITS and (page := page_of(name)) is not None:
        query = {**record.get("address", {}), **state.where(), "run": [record["key"][:KEY]]}
        st.page_link(page, label=f"{page.title} →", query_params=query)
    else:
        st.text(record["title"])
