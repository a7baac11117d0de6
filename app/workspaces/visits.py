"""The workspaces last opened in a browser, in a cookie of its own that no script can read."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from app.serving.middleware import HttpMiddleware
from app.workspaces.workspace import Workspace, is_token, was_issued

COOKIE = "evenhand_recent"
_MOST = 8
_DAYS = 180


class RemembersVisits(HttpMiddleware):
    """Has the browser remember the workspace that its address names, so that none is lost without it.

    Only tokens that this server gave out are remembered; those behind which nothing was kept are dropped.
    """

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on; add the cookie to the answer to a page's address."""
        asked = _token_in_address(scope)
        if not asked or not (was_issued(asked) or Workspace(asked).exists):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        kept = [token for token in _tokens_in_cookies(headers.get("cookie", "")) if token != asked]
        tokens = [asked, *(token for token in kept if Workspace(token).exists)][:_MOST]
        # a proxy that ends TLS says so; anyone else who says it only makes their own cookie stricter
        proxied = headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower()
        safe = "; Secure" if "https" in {scope.get("scheme"), proxied} else ""
        path = scope.get("root_path", "") or "/"
        about = f"Path={path}; Max-Age={_DAYS * 86_400}; HttpOnly; SameSite=Lax{safe}"
        value = f"{COOKIE}={'.'.join(tokens)}; {about}"

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("Set-Cookie", value)
            await send(message)

        await self._app(scope, receive, sent)


def recent_workspaces(cookie: str, *, but: str) -> list[Workspace]:
    """Return the workspaces that a cookie's value names and that hold something, the latest first.

    Parameters
    ----------
    but : str
        Token of the one that is open.
    """
    if os.environ.get("EVENHAND_AUTH", "off").strip().lower() != "off":
        return []  # a browser may be several people's, and the server knows whose workspace is whose
    found = [Workspace(token) for token in cookie.split(".") if is_token(token) and token != but]
    return [space for space in found[:_MOST] if space.draft() is not None]


def ago(seconds: float, *, now: float | None = None) -> str:
    """Word how long ago a moment was.

    Examples
    --------
    >>> ago(0, now=30), ago(0, now=7200), ago(0, now=90_000), ago(0, now=400_000)
    ('just now', '2 hours ago', 'yesterday', '4 days ago')
    """
    passed = (time.time() if now is None else now) - seconds
    for unit, name in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if passed >= unit:
            number = int(passed // unit)
            if (number, name) == (1, "day"):
                return "yesterday"
            return f"{number} {name}{'s' if number > 1 else ''} ago"
    return "just now"


def _token_in_address(scope: Scope) -> str:
    """Return the token in the address of a page; empty where there is none."""
    if scope["method"] != "GET":
        return ""
    tokens: Sequence[str] = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("w", ())
    return tokens[0] if tokens and is_token(tokens[0]) else ""


def _tokens_in_cookies(header: str) -> list[str]:
    """Return the tokens that a request's cookies name."""
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return []
    return [token for token in (found.value.split(".") if found else ()) if is_token(token)][:_MOST]
