"""The only owner of ``st.session_state`` and of the query parameters.

The address holds the workspace's token (``w``), the page, and the page's choices, so that a refresh, the
back button and a colleague's link all come to the same view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from app.workspace import Workspace, is_token, new_token, was_issued

__all__ = [
    "address",
    "addressed",
    "choice",
    "drawn",
    "forget",
    "forget_addresses",
    "get",
    "keep",
    "keep_address",
    "put_in_address",
    "remember",
    "set_widget",
    "widget",
    "workspace",
]

T = TypeVar("T")


def workspace() -> Workspace:
    """Return the visitor's workspace: the one in the address if it exists, else a fresh one.

    A token that nobody was given is not taken over from the address, so that a link cannot plant one.
    """
    asked, own = st.query_params.get("w"), st.session_state.get("_workspace")
    if (
        asked is not None
        and is_token(asked)
        and asked != own
        and (was_issued(asked) or Workspace(asked).exists)
    ):
        own = asked
    own = own or new_token()
    if st.session_state.get("_workspace") != own:
        for key in [key for key in st.session_state if str(key).startswith("_kept")]:
            del st.session_state[key]
    st.session_state["_workspace"] = own
    if asked != own:
        st.query_params["w"] = own
    return Workspace(own)


def remember(key: str, make: Callable[[], T]) -> T:
    """Return what is kept under `key` for this visit, made now if there is nothing."""
    name = f"_kept {key}"
    if name not in st.session_state:
        st.session_state[name] = make()
    return st.session_state[name]


def keep(key: str, value: Any) -> None:
    """Keep `value` under `key` for this visit."""
    st.session_state[f"_kept {key}"] = value


def get(key: str, default: Any = None) -> Any:
    """Return what is kept under `key`, or `default`."""
    return st.session_state.get(f"_kept {key}", default)


def forget(key: str) -> None:
    """Drop what is kept under `key`."""
    st.session_state.pop(f"_kept {key}", None)


def address(page: str) -> dict[str, list[str]]:
    """Return the query parameters under which `page` was left, or only the workspace."""
    return {**get(f"address {page}", {}), "w": [workspace().token]}


def keep_address(page: str) -> None:
    """Note the query parameters of `page`, so that links lead back to what was chosen there."""
    keep(f"address {page}", {key: st.query_params.get_all(key) for key in st.query_params})


def forget_addresses() -> None:
    """Drop what was chosen for other data."""
    for name in [str(name) for name in st.session_state]:
        if name.startswith("_kept address "):
            del st.session_state[name]


def choice(key: str) -> dict[str, Any]:
    """Return the arguments that tie a widget to the address.

    The widget's own default must be what the data suggest: it is what a link without the parameter means.
    """
    return {"key": key, "bind": "query-params"}


def addressed(key: str) -> str | None:
    """Return what the address says under `key`, of which no widget takes care."""
    return st.query_params.get(key)


def put_in_address(key: str, value: str) -> None:
    """Have the address say `value` under `key`."""
    if st.query_params.get(key) != value:
        st.query_params[key] = value


def widget(key: str) -> Any:
    """Return the value of the widget `key`, as a callback sees it."""
    return st.session_state.get(key)


def drawn(key: str) -> bool:
    """Whether the widget `key` has a value from an earlier run of this page, which may be None."""
    return key in st.session_state


def set_widget(key: str, value: Any) -> None:
    """Set the widget `key`: only in a callback, or before it is drawn."""
    st.session_state[key] = value
