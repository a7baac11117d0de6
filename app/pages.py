"""The pages: which there are, in the order of the navigation, and where an audit's page is."""

from __future__ import annotations

import ast
import importlib
from copy import copy
from functools import cache, partial
from pathlib import Path

import streamlit as st

from app.workspaces import auth
from audits.errors import InputError
from audits.runs.registry import AUDITS

QUESTIONS: dict[str, tuple[str, ...]] = {
    "1 Who is treated worse?": ("groups", "rule_sets", "barycenter"),
    "2 Like for like?": ("flipset", "explain", "outcome_transport"),
    "3 What drives it?": ("attribute_swap", "sensitivity", "loss_ratio"),
    "4 What could people change?": ("recourse",),
    "5 Would another model help?": ("compare", "mitigation"),
}
"""What an audit of a model asks, in order, each with the pages that answer it."""

_VIEWS = Path(__file__).resolve().parent / "views"


def navigation() -> dict[str, list[st.Page]]:
    """Return the pages under the headings of the navigation; the audits' come from their records."""
    visitor = auth.person()
    placed = {name for names in QUESTIONS.values() for name in names}
    others = [page for name in AUDITS if name not in placed and (page := page_of(name)) is not None]
    server = {"Administration": [_page("admin", "Server")]}
    return {
        "": [
            _page("data_model", "Data & model", default=True),
            _page("glance", "At a glance"),
        ],
        **{
            question: [page for name in names if (page := page_of(name))]
            for question, names in QUESTIONS.items()
        },
        **({"Other audits": others} if others else {}),
        "Deployed": [_page("monitor", "Monitor")],
        "Take away": [
            _page("saved", "Report & saved audits"),
            _page("tour", "Demo"),
        ],
        **(server if visitor is not None and visitor.administers else {}),
    }


def load_views() -> None:
    """Load what pages import and draw with, for which the first visitor would wait."""
    importlib.import_module("plotly.graph_objects")
    for name in AUDITS:
        _title(name)  # loads its record
    for view in sorted(_VIEWS.glob("*.py")):
        for node in ast.parse(view.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module != "__future__":
                importlib.import_module(str(node.module))


def page_of(name: str) -> st.Page | None:
    """Return the page of an audit or of the comparison, to be shown and linked to; None where it has none.

    An audit that another package brings has one made from its record.
    """
    view = view_of(name)
    if name == "compare":
        return _page("compare", "Compare")
    if not AUDITS.brought(name):
        return None if view is None else _page(name, AUDITS[name].title)
    path = name if view is None else f"{name}-audit"  # the address of another page
    return st.Page(partial(_any_audit, name), title=_title(name), url_path=path)


def _page(name: str, title: str, *, default: bool = False) -> st.Page:
    """Return a page of a script, one that is run once; its file is looked for at the first time."""
    return copy(_found_page(name, title, default))


@cache
def _found_page(name: str, title: str, default: bool) -> st.Page:
    return st.Page(f"views/{name}.py", title=title, default=default)


@cache
def view_of(name: str) -> str | None:
    """Return the script of a page, as links name it; None where there is none of that name."""
    return f"views/{name}.py" if (_VIEWS / f"{name}.py").is_file() else None


def _title(name: str) -> str:
    try:
        return AUDITS[name].title
    except InputError:
        return name  # a package that cannot be loaded: its page says why


def _any_audit(name: str) -> None:
    from app.widgets.any_audit import any_audit_page  # late: it shares this module's links

    any_audit_page(name)
