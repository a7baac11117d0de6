"""What surrounds every page: logo, navigation, the few rules of style, and the last resort for errors."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import RerunException

from app import state
from app.latest_runs import badge_icons
from app.serving.headers import PAGE
from app.widgets import notices
from app.widgets.people.selected import selection_chip
from app.workspaces import auth
from audits.checks import build
from audits.errors import InputError, RunFailed
from audits.stats.vocabulary import DataWords, speaking

ASSETS = Path(__file__).resolve().parents[2] / "assets"
ICON = str(ASSETS / "icon.svg")
_STYLE = (ASSETS / "style.css").read_text(encoding="utf-8")
_TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in (ASSETS / "texts").glob("*.md")}


def draw(pages: dict[str, list[st.Page]]) -> None:
    """Draw the frame and the page asked for; whatever breaks is told in one sentence."""
    st.logo(str(ASSETS / "logo.svg"), size="large", icon_image=ICON)
    st.html(f"<style>{_STYLE}</style>")
    st.html(f"<script>{PAGE}</script>", unsafe_allow_javascript=True)
    page = st.navigation(pages, position="hidden")
    state.follow_history()
    if not _signed_in():
        st.stop()
    try:
        space = state.workspace()
    except InputError as error:  # a link that has expired
        notices.problem(str(error))
        st.stop()
    with st.sidebar, st.container(key="navigation", gap="xsmall"):
        icons = badge_icons(space)
        for heading, listed in pages.items():
            if heading:
                st.caption(heading)
            for item in listed:
                label = f"{icons.get(item.url_path, '')} {item.title}".strip()
                # links of our own: streamlit's would drop the workspace from the address
                st.page_link(item, label=label, query_params=state.address(item.title), width="stretch")
    if space.read_only:
        notices.note("You can view this workspace, but not change it.")
    notices.kept_problem(state.NOT_DONE)
    draft = space.draft()
    told = None if draft is None else draft["spec"]["data"].get("words")
    try:
        with speaking(DataWords() if told is None else build(DataWords, told, "data.words")):
            page.run()
    except (InputError, RunFailed) as error:
        notices.problem(str(error))
    except Exception:  # the page stays up, and the log says what broke
        logging.getLogger("evenhand").exception("The page %s broke", page.title)
        notices.problem(
            "Something went wrong on this page. Reload it. If that does not help, start again with the data."
        )
    finally:
        if not isinstance(sys.exception(), RerunException):  # drawn to its end: it was seen
            state.forget(state.NOT_DONE)
        state.keep_address(page.title)


def _signed_in() -> bool:
    """Tell whether the visitor may go on; offer him to sign in where he must, and out where he has."""
    way = auth.settings().way
    if way == "off":
        return True
    visitor = auth.person()
    if visitor is None:
        st.title("Evenhand", anchor=False)
        st.text("Sign in to go on.")
        if way == "oidc":
            st.button("Sign in", on_click=st.login, type="primary", key="sign-in")
        return False
    with st.sidebar, st.container(key="person"):
        st.text(f"{visitor.name} · {visitor.role}")
        if way == "oidc":
            st.button("Sign out", on_click=st.logout, key="sign-out")
    return True


def title(text: str, subject: str = "") -> None:
    """Write the page's title, beside it what is being audited, and below it the people selected."""
    with st.container(
        horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute", key="title"
    ):
        st.title(text, anchor=False, width="content")
        if subject:
            with st.container(key="subject", width="content"):
                st.text(subject)
    selection_chip(state.workspace())


def page_text(name: str, instead: str | None = None) -> str:
    """Return a text of ``assets/texts``, Markdown; `instead` where there is none of that name."""
    return _TEXTS[name] if instead is None else _TEXTS.get(name, instead)
