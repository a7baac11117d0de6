"""Below the comparison: what is left of the largest gap like for like, one column after another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import jobs, state
from app.drafts.drafts import audit_spec
from app.pages import page_of
from app.widgets.results.figure_card import figure_card
from app.widgets.run_bar import run_button, show_standing, status_shown
from app.workspaces.workspace import Workspace
from audits.explain import figures, text
from audits.explain.result import ExplainResult
from audits.groups import GroupRow, GroupsResult
from audits.groups.names import people_of
from audits.stats.text import count

_INTERSECTION = " × "
_SECONDS = 5.0
_MIN = 2  # people of a group


def survival_strip(space: Workspace, draft: Mapping[str, Any], result: GroupsResult, attribute: str) -> None:
    """Draw the gap of the group farthest from the reference within each column, the most shrinking first."""
    pair = _farthest(result, attribute)
    if pair is None or not len(result.people):
        return
    group, reference = pair
    st.subheader("Does the gap remain like for like?", anchor=False)
    asked = {"source": {attribute: group.group}, "target": {attribute: reference.group}}
    spec = audit_spec(draft, "explain", asked)
    if (standing := status_shown(space, spec)) is None:
        return
    if standing.finished:
        _show(jobs.result(space, spec).audits[0].result)
        return
    st.text(
        f"The rate of {people_of(group)} ({count(group.n)}) is furthest from that of {people_of(reference)}. "
        "Compare the two like for like, one column after another. This shows what goes with the gap, not "
        "what causes it."
    )
    with st.container(width=320, key="survives"):
        title = f"What explains {group.group} and {reference.group}"
        run_button(space, spec, title, standing, _SECONDS, "look-within", label="Compare like for like")
    show_standing(standing)


def _farthest(result: GroupsResult, attribute: str) -> tuple[GroupRow, GroupRow] | None:
    """The group whose rate lies farthest from the reference's, and the reference; None without a pair."""
    if _INTERSECTION in attribute:
        return None
    rows = [row for row in result.of(attribute) if row.selection_rate.value is not None and row.n >= _MIN]
    reference = next((row for row in rows if row.is_reference), None)
    others = [row for row in rows if not row.is_reference]
    if reference is None or not others:
        return None
    base = reference.selection_rate.value or 0.0
    return max(others, key=lambda row: abs((row.selection_rate.value or 0.0) - base)), reference


def _show(result: ExplainResult) -> None:
    st.text(text.headline(result))
    figure_card("survives", figures.left(result), result.to_frame)
    st.caption("What goes with a gap need not cause it, and can itself result from unequal treatment.")
    page = page_of("explain")
    if page is not None:
        st.page_link(page, label=f"{page.title} →", query_params=state.where())
