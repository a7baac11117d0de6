"""Files on their way to pages: who may send them, and how many bytes wait for pages in the server's memory.

Pages have Streamlit let go of what they take (`app.state.uploads`). What none takes is held for ten minutes
after the tab's last file, of one tab or one person at most `MAX_TAB_MB`, of all together
``EVENHAND_UPLOADS_MB`` (1,100: five files of 200 MB); what closed tabs left behind goes at once.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from starlette.datastructures import Headers
from starlette.types import Scope
from streamlit import runtime

from app.workspaces.auth import name_of, settings
from app.workspaces.workspace import MAX_FILE_MB
from audits.checks import number_from

MAX_TAB_MB = 2 * MAX_FILE_MB
UNTAKEN_SECONDS = 600.0
_FRAME = 100_000  # bytes of a body beside its file's


class UploadRefused(Exception):
    """An upload that is refused before its first byte is read, with its status."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Uploads:
    """Counts bytes by tab; all in one thread, the server's loop."""

    def __init__(self) -> None:
        self._coming = Counter[str]()
        self._last: dict[str, float] = {}
        self._persons: dict[str, str] = {}

    @contextmanager
    def admitted(self, tab: str, scope: Scope) -> Iterator[None]:
        """Let a body come for the session `tab`.

        Raises
        ------
        UploadRefused
            If whoever sends it may bring nothing, no such tab is open, or too many bytes wait.
        """
        name, stated = name_of(scope), Headers(scope=scope).get("content-length", "")
        if name and not settings().person(name).audits:
            raise UploadRefused(
                403, "You can view audits here, but not upload files. Ask whoever runs the server."
            )
        if runtime.exists() and not runtime.get_instance().is_active_session(tab):
            raise UploadRefused(400, "No page is waiting for this file; reload the page.")
        if not (stated.isascii() and stated.isdigit()):
            raise UploadRefused(411, "Content-Length must say how long the body is.")
        size = int(stated)
        if size > MAX_FILE_MB * 1_000_000 + _FRAME:
            raise UploadRefused(413, f"A file may have at most {MAX_FILE_MB} MB.")
        self._persons[tab] = name
        self.tidy()
        if not self._fits(tab, size):
            raise UploadRefused(429, "Too many uploads are waiting; close tabs, or try again later.")
        self._coming[tab] += size
        try:
            yield
        finally:
            self._coming[tab] -= size
            self._coming += Counter()
            self._last[tab] = time.monotonic()

    def _fits(self, tab: str, size: int) -> bool:
        held = Counter(
            {name: sum(len(file.data) for file in own.values()) for name, own in _streamlit_files().items()}
        )
        held += self._coming
        self._persons = {
            name: person for name, person in self._persons.items() if name in held or name == tab
        }
        person = self._persons[tab]
        mine = sum(held[name] for name, other in self._persons.items() if other == person and person)
        most = 1e6 * number_from("EVENHAND_UPLOADS_MB", 1100, least=1, most=1e6)
        return max(held[tab], mine) + size <= 1e6 * MAX_TAB_MB and held.total() + size <= most

    def tidy(self) -> None:
        """Drop what was sent to tabs that are closed, and what no page has taken for long."""
        held, old = _streamlit_files(), time.monotonic() - UNTAKEN_SECONDS
        for tab in held:
            server = runtime.get_instance()
            closed = not server.is_active_session(tab)
            if closed or (not self._coming[tab] and self._last.get(tab, 0.0) < old):
                server.uploaded_file_mgr.remove_session_files(tab)
        self._last = {tab: at for tab, at in self._last.items() if tab in held}


def _streamlit_files() -> dict[str, Any]:
    """Return the files that Streamlit holds, by session and file."""
    if not runtime.exists():
        return {}
    return dict(cast("Any", runtime.get_instance().uploaded_file_mgr).file_storage)
