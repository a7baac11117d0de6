"""What the other audits of a workspace found on the same data and model: a card each, with a link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state, work
from app.latest import KEY, latest_audits
from app.pages import page_of
from app.workspaces.workspace import Workspace
from audits.runs.across import counted_together
from audits.runs.registry import AUDITS
from audits.stats import EVIDENCE

__all__ = ["title_of", "verdict_cards"]

_LETTERS = 260


def verdict_cards(space: Workspace, draft: Mapping[str, Any], *, leave_out: str = AUDITS.first) -> None:
    """Draw a card for the latest finished run of each audit on the draft's data and model.

    Verdicts are those after correction for all of these audits, the one left out among them: they are looked
    at together.
    """
    latest = latest_audits(space, draft)
    audits = {name: work.result(space, record["spec"]).audits[0] for name, record in latest.items()}
    told = counted_together(
        [each.result for each in audits.values()], [each.options for each in audits.values()]
    )
    across = dict(zip(audits, told, strict=True))
    found = [(name, record) for name, record in latest.items() if name != leave_out]
    st.subheader("What the other audits found", anchor=False)
    if not found:
        st.text("No other audit has been run on these data and this model.")
    elif len(latest) > 1:
        st.text(
            f"{len(latest)} audits of these data and this model, the latest of each kind, are counted "
            "together: verdicts here are corrected for all of them (Holm)."
        )
        own = across.get(leave_out)
        if own is not None and own.note:
            st.text(f"The one above. {own.note}")
    with st.grid(3, min_column_width=270, border=False):
        for name, record in found:
            said, now = audits[name].headline, across[name]
            with st.container(border=True, height="stretch", key=f"card-{name}"):
                st.badge(now.verdict, color="primary" if now.verdict == EVIDENCE else "gray")
                st.text(said if len(said) <= _LETTERS else said[: _LETTERS - 1] + "…")
                if now.note:
                    st.caption(now.note)
                st.space("stretch")
                _link(name, record)


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
