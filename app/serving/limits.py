"""Rate limits: uploads in flight, requests of the API and tabs that one person or service may have at once.

``EVENHAND_UPLOADS_AT_ONCE`` (8 of one person, or of one address where nobody has to sign in; twice as many in
all; `app.serving.uploads` counts their bytes) and ``EVENHAND_API_PER_MINUTE``
(60,000 with one token). An address that shows wrong tokens gets no answer to further ones for the rest of the
minute; a token that was right within the last day is answered all the same, since many who send share the
address of one proxy. A body has to go on arriving, half a minute between two parts of it.
A tab is heard 60 times at once, and 20 times a second then. One person has at most ``EVENHAND_TABS`` (40),
ten times as many one address where nobody has to sign in.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter, OrderedDict

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.serving.middleware import path_of
from app.serving.uploads import UNTAKEN_SECONDS, UploadRefused, Uploads
from app.workspaces.auth import name_of
from audits.checks import number_from

_UPLOAD, _API = "/_stcore/upload_file", "/api/v1/monitors"
_MINUTE = 60.0
_WRONG_TOKENS = 60
_RIGHT_SECONDS, _MOST_RIGHT = 86_400.0, 10_000
_ALL = 2  # times what one person may
_SOCKET, _NOBODY = "/_stcore/stream", 10  # times as many tabs as one person may have, of one address
_BODY_SECONDS = 30.0
_ACTS_AT_ONCE, _ACTS_A_SECOND = 60.0, 20.0


class _Timeout(Exception):
    """A body that does not go on arriving."""


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


class RequestLimits:
    """Refuses what is more than one may ask; all in one thread, the server's loop."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._uploads, self._tabs = Counter[str](), Counter[str]()
        self._waiting, self._asked, self._wrong = Uploads(), _Window(), _Window()
        self._right: OrderedDict[str, float] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer with 429, or 408 where a body does not arrive."""
        path = path_of(scope)
        if scope["type"] == "websocket" and path == _SOCKET:
            await self._tab(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            await self._http(path, scope, _patient(receive), send)
        except _Timeout:
            await _refuse("The rest of the request did not arrive.", 1, scope, receive, send, 408)

    async def _tab(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = int(number_from("EVENHAND_TABS", 40, least=1, most=100_000))
        name = name_of(scope)
        most, name = (most, name) if name else (_NOBODY * most, _address(scope))
        if self._tabs[name] >= most:
            await receive()
            await send({"type": "websocket.close", "code": 1013, "reason": "Too many tabs are open."})
            return
        self._tabs[name] += 1
        try:
            await self._app(scope, _in_turn(receive), send)
        finally:
            self._tabs[name] -= 1
            self._tabs += Counter()

    async def _http(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        if path.startswith(_UPLOAD) and scope["method"] in {"PUT", "POST"}:
            await self._upload(path.removeprefix(_UPLOAD).strip("/").partition("/")[0], scope, receive, send)
        elif path.startswith(_API):
            await self._api(path.removeprefix(_API).strip("/").partition("/")[0], scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _upload(self, tab: str, scope: Scope, receive: Receive, send: Send) -> None:
        most = int(number_from("EVENHAND_UPLOADS_AT_ONCE", 8, least=1, most=1000))
        name = name_of(scope) or _address(scope)
        if self._uploads[name] >= most or self._uploads.total() >= _ALL * most:
            sentence = f"{self._uploads[name]} of your files are still uploading; send this one afterwards."
            await _refuse(sentence, 5, scope, receive, send)
            return
        self._uploads[name] += 1
        try:
            with self._waiting.admitted(tab, scope):
                await self._app(scope, receive, send)
            asyncio.get_running_loop().call_later(UNTAKEN_SECONDS + 1, self._waiting.tidy)
        except UploadRefused as refused:
            await _refuse(str(refused), 30, scope, receive, send, refused.status)
        finally:
            self._uploads[name] -= 1
            self._uploads += Counter()  # names with nothing on the way are dropped

    async def _api(self, monitor: str, scope: Scope, receive: Receive, send: Send) -> None:
        most = int(number_from("EVENHAND_API_PER_MINUTE", 60_000, least=1, most=1e9))
        address, token = _address(scope), Headers(scope=scope).get("authorization", "")
        digest = hashlib.sha256(f"{monitor} {token}".encode("utf-8", "replace")).hexdigest()
        known = time.monotonic() - self._right.get(digest, -_RIGHT_SECONDS) < _RIGHT_SECONDS
        if not known and self._wrong.add(address, 0) >= _WRONG_TOKENS:
            await _refuse(
                "Too many wrong tokens were sent from this address.", self._wrong.left(), scope, receive, send
            )
            return
        if self._asked.add(hashlib.sha256(token.encode("latin-1", "replace")).hexdigest()) > most:
            sentence = f"More than {most:,} requests were sent with this token within a minute."
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


def _patient(receive: Receive) -> Receive:
    """Have a body arrive without long pauses; afterwards, whoever waits for the end of the request may."""
    whole = False

    async def arriving() -> Message:
        nonlocal whole
        if whole:
            return await receive()
        try:
            async with asyncio.timeout(_BODY_SECONDS):  # `wait_for` makes a task of it
                message = await receive()
        except TimeoutError:
            raise _Timeout from None
        whole = not message.get("more_body", False)
        return message

    return arriving


def _in_turn(receive: Receive) -> Receive:
    """Have a tab wait that acts faster than anyone does, and with it nobody else."""
    left, looked = _ACTS_AT_ONCE, time.monotonic()

    async def acted() -> Message:
        nonlocal left, looked
        message = await receive()
        now = time.monotonic()
        left, looked = min(_ACTS_AT_ONCE, left + (now - looked) * _ACTS_A_SECOND) - 1, now
        if left < 0:
            await asyncio.sleep(-left / _ACTS_A_SECOND)
        return message

    return acted


def _address(scope: Scope) -> str:
    return str((scope.get("client") or ("", 0))[0])


async def _refuse(
    sentence: str, seconds: int, scope: Scope, receive: Receive, send: Send, status: int = 429
) -> None:
    headers = {"Retry-After": str(seconds), "Connection": "close"}
    await JSONResponse({"error": sentence}, status, headers)(scope, receive, send)
