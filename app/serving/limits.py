"""How much one person or service may ask of the server at once: uploads in flight, requests of the API.

``EVENHAND_UPLOADS_AT_ONCE`` (4 of one person, four times as many in all) and ``EVENHAND_API_PER_MINUTE``
(60,000 with one token). An address that shows wrong tokens gets no answer to further ones for the rest of the
minute; a token that was right within the last day is answered all the same, since many who send share the
address of one proxy.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter, OrderedDict

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.who import name_of
from audits.runs.executing.sandbox import number_from

__all__ = ["Bounded"]

_UPLOAD, _API = "/_stcore/upload_file", "/api/v1/monitors"
_MINUTE = 60.0
_WRONG_TOKENS = 60
_RIGHT_SECONDS, _MOST_RIGHT = 86_400.0, 10_000
_ALL = 4  # times what one person may


class _Window:
    """Counts by name within a minute that begins with the first; forgets all when it is over."""

    def __init__(self) -> None:
        self._began, self._counts = 0.0, Counter[str]()

    def left(self) -> int:
        """Seconds until it is over."""
        return max(1, round(_MINUTE - (time.monotonic() - self._began)))

    def add(self, name: str, number: int = 1) -> int:
        """Count, and return how many there are."""
        if time.monotonic() - self._began > _MINUTE:
            self._began = time.monotonic()
            self._counts.clear()
        self._counts[name] += number
        return self._counts[name]


class Bounded:
    """Refuses what is more than one may ask; all in one thread, the server's loop."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._uploads = Counter[str]()
        self._asked, self._wrong = _Window(), _Window()
        self._right: OrderedDict[str, float] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer with 429."""
        path = scope["path"].removeprefix(scope.get("root_path", "")) if scope["type"] == "http" else ""
        if path.startswith(_UPLOAD) and scope["method"] in {"PUT", "POST"}:
            await self._upload(scope, receive, send)
        elif path.startswith(_API):
            await self._api(path.removeprefix(_API).strip("/").partition("/")[0], scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = int(number_from("EVENHAND_UPLOADS_AT_ONCE", 4, least=1, most=1000))
        name = name_of(scope) or _address(scope)
        if self._uploads[name] >= most or self._uploads.total() >= _ALL * most:
            sentence = (
                f"{self._uploads[name]} files of yours are on their way already; send this one after them."
            )
            await _refuse(sentence, 5, scope, receive, send)
            return
        self._uploads[name] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._uploads[name] -= 1
            self._uploads += Counter()  # names with nothing on the way are dropped

    async def _api(self, monitor: str, scope: Scope, receive: Receive, send: Send) -> None:
        most = int(number_from("EVENHAND_API_PER_MINUTE", 60_000, least=1, most=1e9))
        address, token = _address(scope), Headers(scope=scope).get("authorization", "")
        digest = hashlib.sha256(f"{monitor} {token}".encode("utf-8", "replace")).hexdigest()
        known = time.monotonic() - self._right.get(digest, -_RIGHT_SECONDS) < _RIGHT_SECONDS
        if not known and self._wrong.add(address, 0) >= _WRONG_TOKENS:
            await _refuse("Too many wrong tokens came from here.", self._wrong.left(), scope, receive, send)
            return
        if self._asked.add(hashlib.sha256(token.encode("latin-1", "replace")).hexdigest()) > most:
            sentence = f"More than {most:,} requests came with this token within a minute."
            await _refuse(sentence, self._asked.left(), scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 401:
                self._wrong.add(address)
                self._right.pop(digest, None)
            elif message["type"] == "http.response.start" and token and message["status"] < 300:
                self._right[digest] = time.monotonic()
                self._right.move_to_end(digest)
                while len(self._right) > _MOST_RIGHT:
                    self._right.popitem(last=False)
            await send(message)

        await self._app(scope, receive, sent)


def _address(scope: Scope) -> str:
    return str((scope.get("client") or ("", 0))[0])


async def _refuse(sentence: str, seconds: int, scope: Scope, receive: Receive, send: Send) -> None:
    headers = {"Retry-After": str(seconds), "Connection": "close"}
    await JSONResponse({"error": sentence}, 429, headers)(scope, receive, send)
