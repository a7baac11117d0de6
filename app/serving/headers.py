"""Headers that every answer carries, pages and API alike, and what is not answered to everyone."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from pathlib import Path

import streamlit
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from app.serving.middleware import HttpMiddleware, path_of
from app.serving.plotly_script import SCRIPT

INTO_VIEW = (
    "setTimeout(() => document.querySelector('.st-key-person-card')?.scrollIntoView"
    "({block: 'nearest', behavior: 'smooth'}), 300)"
)
"""Brings the card of a person into view, once what it holds has its height."""
_SCRIPT = Path(__file__).resolve().parents[2] / "assets" / "page.js"
PAGE = _SCRIPT.read_text(encoding="utf-8").replace("PLOTLY", SCRIPT)
"""Has fields take numbers as people write them, or say why not, and tables let Tab pass."""

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def _inline_scripts() -> str:
    """Return the digests of the scripts of streamlit's own page and of ours; no other inline script runs."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = [*_INLINE.findall(page), INTO_VIEW, PAGE]
    digests = (hashlib.sha256(text.encode()).digest() for text in scripts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode('ascii')}'" for digest in digests)


HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' {_inline_scripts()} 'wasm-unsafe-eval'",
            "style-src 'self' 'unsafe-inline'",  # streamlit's styles are made in the browser
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "worker-src 'self' blob:",
            "frame-src 'self' blob: data:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    ),
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # addresses hold the workspace's token
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


REPORT = "/report/"
"""Where shared reports lie. Their scripts draw figures in an origin of their own: no cookie, no request."""
_SANDBOX = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; frame-ancestors 'none'"
)


def _raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in headers.items()]


_RAW, _RAW_REPORT = _raw(HEADERS), _raw(HEADERS | {"Content-Security-Policy": _SANDBOX})
_OURS = frozenset(name for name, _ in _RAW)


class SecurityHeaders(HttpMiddleware):
    """Adds `HEADERS` to every answer, and keeps the server's metrics to those it was switched on for."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes; add the headers to what goes."""
        own = _RAW_REPORT if path_of(scope).startswith(REPORT) else _RAW

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message.get("headers", ())
                message["headers"] = [each for each in given if each[0].lower() not in _OURS] + own
            await send(message)

        if "/_stcore/metrics" in scope["path"] and os.environ.get("EVENHAND_METRICS") != "1":
            sentence = "Metrics are not public here; EVENHAND_METRICS=1 switches them on."
            await JSONResponse({"error": sentence}, status_code=404)(scope, receive, sent)
            return
        await self._app(scope, receive, sent)
