"""Logs as JSON lines, each with the id of the request or visit that it is about: ``EVENHAND_LOG=json``."""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import sys
import time
from contextvars import ContextVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from app.serving.middleware import HttpMiddleware

_HEADER = "X-Request-Id"
_FIT = re.compile(r"[\w.-]{1,64}")
_LONG_SECRETS = re.compile(r"\b[0-9a-f]{32}\b")  # tokens of workspaces, ids of monitors
_request: ContextVar[str] = ContextVar("request", default="")
_log = logging.getLogger("evenhand.access")


class JsonLines(logging.Formatter):
    """One line of JSON for each thing logged; tokens are cut short."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        facts = {
            "at": round(record.created, 3),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _without_tokens(record.getMessage()),
            "request": _request.get(),
            "visit": _visit(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            facts["exception"] = _without_tokens(self.formatException(record.exc_info))
        return json.dumps({name: value for name, value in facts.items() if value != ""}, ensure_ascii=False)


def set_up() -> None:
    """Have the server's logs written as JSON lines, if the environment asks for it."""
    if os.environ.get("EVENHAND_LOG", "").strip().lower() != "json":
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("evenhand", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = (
            [handler] if name != "uvicorn.error" else [],
            name == "uvicorn.error",
        )
    logging.getLogger("evenhand").setLevel(logging.INFO)


class RequestLog(HttpMiddleware):
    """Gives each request an id, which its answer and its log lines carry; a proxy's own is kept."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes; log what went."""
        given = Headers(scope=scope).get(_HEADER, "")
        identity = given if _FIT.fullmatch(given) else secrets.token_hex(8)
        token, began, status = _request.set(identity), time.monotonic(), 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[_HEADER] = identity
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            milliseconds = round(1000 * (time.monotonic() - began), 1)
            facts = {"method": scope["method"], "status": status, "ms": milliseconds}
            _log.info("%s %s", scope["method"], scope["path"], extra={"facts": facts})
            _request.reset(token)


def _visit() -> str:
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id[:8] if context is not None else ""


def _without_tokens(text: str) -> str:
    return _LONG_SECRETS.sub(lambda found: f"{found.group()[:6]}…", text)
