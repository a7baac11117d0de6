"""Files that visitors take away, served from the disk.

Streamlit keeps what a download button gives in its memory, whole, and sends it whole. So a button of ours
gives a ticket, which Streamlit keeps and answers with; on its way out the ticket is replaced by the file that
it stands for. A ticket is 128 random bits, so nobody has one replaced that is not his.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from starlette.datastructures import Headers
from starlette.responses import FileResponse
from starlette.types import Message, Receive, Scope, Send

from app.serving.middleware import HttpMiddleware, path_of
from audits.errors import os_failure
from audits.runs.executors.scratch import scratch

_PREFIX = b"evenhand-file-"
_LENGTH = len(_PREFIX) + 32
_SECONDS = 600.0  # after which a file that was made is made again
_MAX_EACH = 4  # files of one workspace that wait to be fetched
_CARRIED = ("content-disposition", "content-type", "cache-control", "access-control-allow-origin", "vary")


@dataclass(frozen=True)
class _File:
    path: Path
    owner: str
    until: float


class TicketedFiles:
    """Files by the ticket that stands for them, for ten minutes and the last few of each workspace."""

    def __init__(self) -> None:
        self._files: OrderedDict[bytes, _File] = OrderedDict()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def writing(self, owner: str) -> Iterator[IO[bytes]]:
        """Give a file to write into, which is removed where that goes wrong.

        Raises
        ------
        RunFailed
            If it cannot be written.
        """
        self._tidy(owner, _MAX_EACH - 1)
        folder = Path(tempfile.mkdtemp(prefix="download-", dir=scratch()))
        try:
            with os_failure("The file could not be written"), (folder / "content").open("wb") as file:
                yield file
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def offer(self, path: Path, owner: str) -> bytes:
        """Return the ticket of a file that `writing` gave."""
        ticket = _PREFIX + secrets.token_hex(16).encode("ascii")
        with self._lock:
            self._files[ticket] = _File(path, owner, time.monotonic() + _SECONDS)
        return ticket

    def path(self, ticket: bytes) -> Path | None:
        """Return the file that `ticket` stands for; None where it is none of ours, or is over."""
        with self._lock:
            found = self._files.get(ticket)
        return None if found is None or found.until < time.monotonic() else found.path

    def forget(self, owner: str) -> None:
        """Remove the files of a workspace."""
        self._tidy(owner, 0)

    def tidy(self) -> None:
        """Remove what is over."""
        self._tidy("", 0)

    def _tidy(self, owner: str, most: int) -> None:
        now = time.monotonic()
        with self._lock:
            own = [ticket for ticket, file in self._files.items() if owner and file.owner == owner]
            over = [ticket for ticket, file in self._files.items() if file.until < now]
            gone = [self._files.pop(each).path for each in {*own[: max(0, len(own) - most)], *over}]
        for path in gone:
            shutil.rmtree(path.parent, ignore_errors=True)


DOWNLOADS = TicketedFiles()


class Downloads(HttpMiddleware):
    """Answers with the file where the pages answer with its ticket."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is no download; look at an answer of the length of a ticket before it goes."""
        if not path_of(scope).startswith("/media/") or scope["method"] not in {"GET", "HEAD"}:
            await self._app(scope, receive, send)
            return
        whole = [(name, value) for name, value in scope["headers"] if name != b"range"]
        head: Message | None = None
        file: Path | None = None

        async def sent(message: Message) -> None:
            nonlocal head, file
            if message["type"] == "http.response.start":
                if Headers(raw=message["headers"]).get("content-length") == str(_LENGTH):
                    head = message
                    return
            elif head is not None and message["type"] == "http.response.body":
                file = DOWNLOADS.path(message.get("body", b""))
                if file is not None:
                    return
                await send(head)
            await send(message)

        # a part of a ticket is none: the file itself is given in parts
        await self._app({**scope, "headers": whole, "method": "GET"}, receive, sent)
        if file is not None and head is not None:
            headers = Headers(raw=head["headers"])
            kept = {name: headers[name] for name in _CARRIED if name in headers}
            await FileResponse(file, headers=kept, media_type=headers.get("content-type"))(
                scope, receive, send
            )
