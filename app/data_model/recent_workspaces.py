"""Where a visitor can go on: the workspaces last opened in this browser."""

from __future__ import annotations

import html

import streamlit as st

from app.widgets.subject import source_name
from app.workspaces.visits import COOKIE, ago, recent_workspaces
from app.workspaces.workspace import Workspace
from audits.stats.text import several


def recent_section(space: Workspace) -> None:
    """List the workspaces of this browser, each with its data, how much was audited, and when."""
    listed = recent_workspaces(st.context.cookies.get(COOKIE, ""), but=space.token)
    if not listed:
        return
    st.subheader("Continue where you left off", anchor=False)
    # plain links: a page link to the page that is open changes what is shown and leaves the address
    lines = (f'<li><a href="?w={each.token}">{html.escape(_words(each))}</a></li>' for each in listed)
    with st.container(key="recent"):
        st.html(f"<ul>{''.join(lines)}</ul>")


def _words(space: Workspace) -> str:
    draft, runs = space.draft(), space.runs()
    name = source_name(draft) if draft else "no data"
    return f"{name} · {several(len(runs), 'audit')} · {ago(space.last_change)}"
