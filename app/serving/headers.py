"""Headers that every answer carries, pages and API alike, and what is not answered to everybody."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "Hardened"]

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def _inline_scripts() -> str:
    """Return the digests of the scripts that streamlit's own page holds; no other inline script runs."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    digests = (hashlib.sha256(text.encode()).digest() for text in _INLINE.findall(page))
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


class Hardened:
    """Adds `HEADERS` to every answer, and keeps the server's metrics to those it was switched on for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes; add the headers to what goes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        if "/_stcore/metrics" in scope["path"] and os.environ.get("EVENHAND_METRICS") != "1":
            sentence = "Metrics are not public here; EVENHAND_METRICS=1 switches them on."
            await JSONResponse({"error": sentence}, status_code=404)(scope, receive, sent)
            return
        await self._app(scope, receive, sent)
