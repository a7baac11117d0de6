"""The only owner of ``st.session_state`` and of the query parameters.

The address holds the workspace's token (``w``; or ``share``, the secret of a link that only shows it), the
page, and the page's choices, so that a refresh, the back button and a colleague's link come to the same view.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ParamSpec, TypeVar
from urllib.parse import parse_qs, urlsplit

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from app.workspaces import auth
from app.workspaces.shares import Shares
from app.workspaces.workspace import Workspace, is_token, new_token, was_issued, workspaces_of
from audits.errors import InputError, RunFailed
from audits.runs.storage.audit_log import AuditLog
from audits.runs.storage.store import home

P = ParamSpec("P")
T = TypeVar("T")
_SELECTED = "people"
_page = threading.local()  # what `one_page` has looked up: a page is drawn by one thread
_EVERYWHERE = {"w", "share", _SELECTED}  # what every page's address says


@contextlib.contextmanager
def one_page() -> Iterator[None]:
    """While a page is drawn from top to bottom, look up once which workspace and which people it shows."""
    _page.workspace = _page.where = None
    _page.drawn = True
    try:
        yield
    finally:
        _page.drawn = False
        _page.workspace = _page.where = None


def workspace() -> Workspace:
    """Return the workspace to be shown: the one that a link shows, or the visitor's own.

    His own is the one in the address if it exists and is his, else a fresh one. A token that nobody was given
    is not taken over from the address, so that a link cannot plant one.

    Raises
    ------
    InputError
        If the link has expired or was revoked.
    """
    if not getattr(_page, "drawn", False):  # a callback, or a part of a page
        return _looked_up()
    if _page.workspace is None:
        _page.workspace = _looked_up()
    return _page.workspace


def _looked_up() -> Workspace:
    secret = st.query_params.get("share")
    found = _own_workspace() if secret is None else _shown_by(secret)
    shown = f"{found.token} {secret or ''}"
    if st.session_state.get("_shown") != shown:
        for key in [key for key in st.session_state if str(key).startswith("_kept")]:
            del st.session_state[key]
        st.session_state["_shown"] = shown
    if st.session_state.get("_opened") != shown and found.exists:
        st.session_state["_opened"] = shown
        note("opened", found)
        found.touch()
    return found


def _shown_by(secret: str) -> Workspace:
    share = Shares().find(secret)
    if share is None:
        raise InputError(
            "this link", "has expired or was revoked", advice="ask whoever gave it to you for another"
        )
    return Workspace(share.workspace, read_only=True)


def _own_workspace() -> Workspace:
    asked, own = st.query_params.get("w"), st.session_state.get("_workspace")
    visitor = auth.person()
    name = visitor.name if visitor is not None else ""
    if asked is not None and is_token(asked) and asked != own and _may_open(asked, name):
        own = asked
    own = own or next(iter(workspaces_of(name)), None) or new_token()
    st.session_state["_workspace"] = own
    if asked != own:
        st.query_params["w"] = own
    space = Workspace(own, person=name, read_only=visitor is not None and not visitor.audits)
    if space.exists:
        space.claim()
    return space


def _may_open(token: str, name: str) -> bool:
    """Tell whether the workspace is there, or was given out, and is nobody else's."""
    space = Workspace(token)
    return space.owner in {"", name} if space.exists else was_issued(token)


def note(act: str, space: Workspace, what: str = "") -> None:
    """Add to the audit log what the visitor does; where that cannot be, the server's log says so."""
    visitor = auth.person()
    _note(act, visitor.name if visitor else "", space, what)


def _note(act: str, name: str, space: Workspace, what: str) -> None:
    try:
        AuditLog(home()).note(act, who=name, workspace=space.token, what=what)
    except RunFailed:
        logging.getLogger("evenhand").exception("%s %s is not in the audit log", act, what)


def exporting(make: Callable[[], T], what: str) -> Callable[[], T]:
    """Return what makes the content of a download and notes in the audit log that it was taken away."""
    visitor, space = auth.person(), workspace()
    name = visitor.name if visitor else ""

    def made() -> T:
        content = make()
        _note("exported", name, space, what)
        return content

    return made


def where() -> dict[str, list[str]]:
    """Return the query parameters that lead to the workspace shown, and to the people selected in it."""
    if not getattr(_page, "drawn", False):
        return _where()
    if _page.where is None:
        _page.where = _where()
    return {key: list(values) for key, values in _page.where.items()}


def _where() -> dict[str, list[str]]:
    secret, people = st.query_params.get("share"), st.query_params.get(_SELECTED)
    space = {"w": [workspace().token]} if secret is None else {"share": [secret]}
    return {**space, **({} if people is None else {_SELECTED: [people]})}


def server_address() -> str:
    """Return the server's address as the visitor's browser has it; SERVER where the page does not know it."""
    parts = urlsplit(st.context.url or "")
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else "SERVER"


def selection_in_address() -> str:
    """Return what the address says of the people selected; empty where it says nothing."""
    return st.query_params.get(_SELECTED, "")


def select(people: str) -> None:
    """Have the address say which people are selected; nothing takes the selection back."""
    _page.where = None
    if people:
        st.query_params[_SELECTED] = people
    else:
        st.query_params.pop(_SELECTED, None)


def keep_errors(place: str, *, alone: bool = True) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Have a callback that cannot do its work keep why under `place`, until it is tried again.

    What is not kept `alone` stands beside what others that were called by the same act could not do.
    """

    def wrapped(act: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(act)
        def tried(*args: P.args, **more: P.kwargs) -> None:
            if alone:
                forget(place)
            try:
                act(*args, **more)
            except (InputError, RunFailed, OSError) as error:
                keep(place, f"{get(place, '')} {error}".strip())

        return tried

    return wrapped


NOT_DONE = "not done"
report_errors = keep_errors(NOT_DONE, alone=False)
"""Have a callback that cannot do its work say so at the head of the page, which is drawn after it."""


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
    kept = {key: value for key, value in get(f"address {page}", {}).items() if key not in _EVERYWHERE}
    return {**kept, **where()}


def chosen_in_address() -> dict[str, list[str]]:
    """Return what the address says of choices: neither whose workspace it is nor which run was shown."""
    return {key: st.query_params.get_all(key) for key in st.query_params if key not in {"w", "share", "run"}}


def keep_address(page: str) -> None:
    """Note the query parameters of `page`, so that links lead back to what was chosen there."""
    keep(f"address {page}", {key: st.query_params.get_all(key) for key in st.query_params})


def follow_history() -> None:
    """After the back button, have the page take all choices that its address holds.

    Streamlit drops those for which the page left behind has a widget of the same name, such as the open tab.
    """
    context = get_script_run_ctx()
    if context is None or not context.is_history_navigation:
        return
    told = parse_qs(context.query_string)
    if told.keys() - st.query_params.keys():
        st.query_params.from_dict(told)
        with context.session_state.query_params() as params:
            params.set_initial_query_params(context.query_string)


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


def address_value(key: str) -> str | None:
    """Return what the address says under `key`, of which no widget takes care."""
    return st.query_params.get(key)


def put_in_address(key: str, value: str) -> None:
    """Have the address say `value` under `key`."""
    if st.query_params.get(key) != value:
        st.query_params[key] = value


def drop_from_address(key: str) -> None:
    """Have the address say nothing under `key`."""
    st.query_params.pop(key, None)


def widget(key: str) -> Any:
    """Return the value of the widget `key`, as a callback sees it."""
    return st.session_state.get(key)


def chosen(key: str) -> Any:
    """Return the value of the widget `key`, or what the address says of it before it is first drawn."""
    return widget(key) if has_value(key) else address_value(key)


def has_value(key: str) -> bool:
    """Whether the widget `key` has a value from an earlier run of this page, which may be None."""
    return key in st.session_state


@contextlib.contextmanager
def uploads(key: str) -> Iterator[list[UploadedFile]]:
    """Give the files of the uploader `key` to a callback; what Streamlit holds of them goes afterwards."""
    value = widget(key)
    files = present(value if isinstance(value, list) else [value])
    try:
        yield files
    finally:
        let_go(files)


def present(files: Iterable[object]) -> list[UploadedFile]:
    """Return the files that are still held: those that waited too long are gone."""
    return [each for each in files if isinstance(each, UploadedFile)]


def let_go(files: Iterable[UploadedFile]) -> None:
    """Have Streamlit hold these files no longer: their bytes are kept elsewhere."""
    context = get_script_run_ctx()
    for file in files:
        if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
            context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)


def set_widget(key: str, value: Any) -> None:
    """Set the widget `key`: only in a callback, or before it is drawn."""
    st.session_state[key] = value


def preset(key: str, value: Any) -> None:
    """Give the widget `key` its first value, before it is drawn.

    It is said in every run: what a run says that ends in another is not shown.
    """
    st.session_state[key] = st.session_state.get(key, value)
