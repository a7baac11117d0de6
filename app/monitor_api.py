"""The monitors' HTTP routes: predictions in, sensitivity out. What they take and give is in `openapi`."""

from __future__ import annotations

import logging
import os
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from app.ingest import Busy, Ingest
from app.openapi import document
from audits.errors import InputError, RunFailed
from audits.runs.monitors import Monitor

__all__ = ["INGEST", "ROUTES"]

INGEST = Ingest()
MAX_BODY_MB = int(os.environ.get("EVENHAND_MAX_BATCH_MB", "8"))
_KINDS = {
    "application/json": "json",
    "application/vnd.apache.arrow.stream": "arrow",
    "application/vnd.apache.arrow.file": "arrow",
}
_LONGEST_KEY = 200
_log = logging.getLogger("evenhand")
_MOST_HEARD = 256_000_000


class _Refused(Exception):
    """A request answered with another status than 200."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, headers


async def predictions(request: Request) -> Response:
    """Measure and store a batch of predictions."""
    try:
        monitor = await _monitor(request)
        kind = _kind(request)
        key = _key(request)
        body = await _body(request)
        answer = await INGEST.answer(monitor, body, kind, key)
    except _Refused as refused:
        return _error(refused.status, str(refused), refused.headers)
    except InputError as error:
        if error.where == "Idempotency-Key":
            return _error(409, str(error))
        return _error(404 if error.where == "monitor" else 422, str(error))
    except Busy:
        return _error(503, "Too many batches wait; send this one again in a moment.", {"Retry-After": "1"})
    except RunFailed as error:
        return _error(503, f"Nothing was stored: {error} Send it again.", {"Retry-After": "5"})
    except ClientDisconnect:
        return Response(status_code=400)
    except Exception:  # noqa: BLE001  (whoever sends must hear, in the form that every fault has)
        _log.exception("A batch of predictions could not be answered")
        return _error(500, "The server failed at this batch; whether it is stored, its log must tell.")
    return Response(answer.text, media_type="application/json")


async def about(request: Request) -> Response:
    """Tell what a monitor reads, and where it stands."""
    try:
        monitor = await _monitor(request, now=True)
    except _Refused as refused:
        return _error(refused.status, str(refused), refused.headers)
    bundle = monitor.bundle
    return JSONResponse(
        {
            "id": monitor.id,
            "name": monitor.name,
            "reads": list(bundle.reads),
            "threshold": bundle.threshold,
            "protected": bundle.about["protected"],
            "people": monitor.people,
            "flagged": monitor.flagged,
        }
    )


async def openapi(_: Request) -> JSONResponse:
    """Give the description of this API."""
    return JSONResponse(document(MAX_BODY_MB))


async def _monitor(request: Request, *, now: bool = False) -> Monitor:
    """Return the monitor that the request names and has the token of."""
    identity = request.path_params["monitor"]
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    try:
        if len(identity) > 64 or not identity.isalnum():
            raise InputError("monitor", "must be one that exists", identity)
        found = await INGEST.find(identity, now=now)
    except InputError as error:
        raise _Refused(404, str(error)) from None
    except RunFailed:  # whoever has shown no token yet is not told which database it is
        _log.exception("A monitor could not be found")
        sentence = "Nothing was stored: the database cannot be used. Send it again."
        raise _Refused(503, sentence, {"Retry-After": "5"}) from None
    if scheme.lower() != "bearer" or not found.opens(token.strip()):
        raise _Refused(
            401,
            "The monitor's token is missing or wrong; send it as Authorization: Bearer TOKEN.",
            {"WWW-Authenticate": "Bearer"},
        )
    return found


def _kind(request: Request) -> str:
    if request.headers.get("content-encoding", "").strip().lower() not in {"", "identity"}:
        raise _Refused(
            415,
            "Content-Encoding must be left out: send the body as it is.",
            {"Accept-Encoding": "identity"},
        )
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in _KINDS:
        raise _Refused(415, f"Content-Type must be one of {', '.join(_KINDS)}.")
    return _KINDS[given]


def _key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not (0 < len(key) <= _LONGEST_KEY and key.isprintable() and key.isascii()):
        raise _Refused(422, f"Idempotency-Key must be 1 to {_LONGEST_KEY} printable ASCII characters.")
    return key


async def _body(request: Request) -> bytes:
    """Return the body; one that is too large is not kept, but read on so that the answer is heard."""
    most = MAX_BODY_MB * 1_000_000
    too_large = _Refused(
        413, f"A body may have at most {MAX_BODY_MB} MB; send several batches.", {"Connection": "close"}
    )
    stated = request.headers.get("content-length", "")
    if stated.isdigit() and int(stated) > _MOST_HEARD:
        raise too_large
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > _MOST_HEARD:
            raise too_large
        if size <= most:
            parts.append(part)
        else:
            parts.clear()
    if size > most:
        raise too_large
    return b"".join(parts)


def _error(status: int, sentence: str, headers: dict[str, Any] | None = None) -> JSONResponse:
    return JSONResponse({"error": sentence}, status_code=status, headers=headers)


class _OtherMethods:
    """Answers every method that a route does not have; the pages behind it would answer with a page."""

    def __init__(self, allowed: str) -> None:
        self._allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse."""
        sentence = f"The method must be {self._allowed}."
        await _error(405, sentence, {"Allow": self._allowed})(scope, receive, send)


ROUTES = [
    Route("/api/v1/openapi.json", openapi, methods=["GET"]),
    Route("/api/v1/openapi.json", _OtherMethods("GET")),
    Route("/api/v1/monitors/{monitor}", about, methods=["GET"]),
    Route("/api/v1/monitors/{monitor}", _OtherMethods("GET")),
    Route("/api/v1/monitors/{monitor}/predictions", predictions, methods=["POST"]),
    Route("/api/v1/monitors/{monitor}/predictions", _OtherMethods("POST")),
]
