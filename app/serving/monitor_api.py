"""The monitors' HTTP routes: predictions in, sensitivity out. What they take and give is in `openapi`."""

from __future__ import annotations

import dataclasses
import errno
import logging
import os
import re
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.serving.ingest import INGEST, Busy
from app.serving.monitor_reading import QUESTIONS, Question, Reading, as_csv, described
from app.serving.openapi import document
from audits.errors import InputError, RunFailed
from audits.runs.monitoring.arrivals import read_outcomes
from audits.runs.monitoring.handling import SCOPES
from audits.runs.monitoring.monitors import KeptMonitor
from audits.runs.storage.database import is_full

__all__ = ["INGEST", "ROUTES", "Straight"]

MAX_BODY_MB = int(os.environ.get("EVENHAND_MAX_BATCH_MB", "8"))
_KINDS = {
    "application/json": "json",
    "application/vnd.apache.arrow.stream": "arrow",
    "application/vnd.apache.arrow.file": "arrow",
}
_LONGEST_KEY = 200
_NO_TOKEN = "The monitor's token is missing or wrong; send it as Authorization: Bearer TOKEN."  # noqa: S105
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
        return _unstored(error)
    except ClientDisconnect:
        return Response(status_code=400)
    except Exception:  # noqa: BLE001  (whoever sends must hear, in the form that every fault has)
        _log.exception("A batch of predictions could not be answered")
        return _error(500, "The server failed at this batch; whether it is stored, its log must tell.")
    return Response(answer.text, media_type="application/json")


async def outcomes(request: Request) -> Response:
    """Note outcomes of people whose predictions were stored with an id."""

    async def learn() -> dict[str, Any]:
        monitor = await _monitor(request)
        if _kind(request) != "json":
            raise _Refused(415, "Content-Type must be application/json.")
        body = await _body(request)
        known = await run_in_threadpool(lambda: INGEST.learn(monitor, read_outcomes(body)))
        return dataclasses.asdict(known)

    return await _told(learn)


def _answering(question: Question) -> Any:
    """Return the route of a question."""

    async def answer(request: Request) -> Response:
        async def ask() -> dict[str, Any]:
            strange = [name for name in request.query_params if name not in question.query]
            if strange:
                known = ", ".join(question.query) or "none"
                raise _Refused(422, f"The query has an unknown name, {strange[0][:80]}; known: {known}.")
            monitor = await _monitor(request, question.scope, now=question.path == "")
            body = await _body(request) if question.method in {"POST", "PATCH"} else b""
            asked = Reading(INGEST.monitors, monitor, request.path_params, request.query_params, body)
            found = await run_in_threadpool(question.answer, asked)
            if question.method != "GET":
                INGEST.forget(monitor.id)
            return dict(found)

        return await _told(ask, request.query_params.get("format", "json"))

    return answer


async def monitors(request: Request) -> Response:
    """List the monitors that the token is of."""

    async def ask() -> dict[str, Any]:
        token = _token(request)
        found = [
            await INGEST.find(each) for each in await run_in_threadpool(INGEST.monitors.opened_by, token)
        ]
        mine = [each for each in found if each.opens(token, "read")]
        if not mine:
            raise _Refused(401, _NO_TOKEN, {"WWW-Authenticate": "Bearer"})
        return {"monitors": [described(each) for each in mine]}

    return await _told(ask)


async def _told(ask: Callable[[], Awaitable[dict[str, Any]]], form: str = "json") -> Response:
    """Answer, or say what is wrong."""
    try:
        if form not in {"json", "csv"}:
            raise _Refused(422, "format must be json or csv.")
        found = await ask()
    except _Refused as refused:
        return _error(refused.status, str(refused), refused.headers)
    except InputError as error:
        if os.strerror(errno.ENOSPC) in str(error):  # a window's table had no room in its workspace
            return _error(507, str(error), {"Retry-After": "60"})
        missing = error.where in {"monitor", "alarm", "message", "token", "audit"}
        return _error(404 if missing else 422, str(error))
    except RunFailed as error:
        return _unstored(error)
    except ClientDisconnect:
        return Response(status_code=400)
    except Exception:  # noqa: BLE001  (whoever asks must hear, in the form that every fault has)
        _log.exception("A request about a monitor could not be answered")
        return _error(500, "The server failed at this request; its log says how.")
    if form == "csv":
        return Response(as_csv(found), media_type="text/csv")
    return JSONResponse(found)


def _unstored(error: RunFailed) -> Response:
    """Say that nothing was stored: for want of room, or for now."""
    if is_full(error):
        sentence = "Nothing was stored: the server's disk is full. Send it again when there is room."
        return _error(507, sentence, {"Retry-After": "60"})
    return _error(503, f"Nothing was stored: {error} Send it again.", {"Retry-After": "5"})


async def openapi(_: Request) -> JSONResponse:
    """Give the description of this API."""
    return JSONResponse(document(MAX_BODY_MB))


def _token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def _monitor(request: Request, scope: str = "send", *, now: bool = False) -> KeptMonitor:
    """Return the monitor that the request names and has a token of that may do what `scope` says."""
    identity, token = request.path_params["monitor"], _token(request)
    try:
        if len(identity) > 64 or not identity.isalnum():
            raise InputError("monitor", "must be one that exists", identity)
        found = await INGEST.find(identity, now=now)
        if not now and not any(found.opens(token, each) for each in SCOPES):  # made elsewhere just now?
            found = await INGEST.find(identity, now=True)
    except InputError as error:
        raise _Refused(404, str(error)) from None
    except RunFailed:  # whoever has shown no token yet is not told which database it is
        _log.exception("A monitor could not be found")
        sentence = "Nothing was stored: the database cannot be used. Send it again."
        raise _Refused(503, sentence, {"Retry-After": "5"}) from None
    if found.opens(token, scope):
        return found
    if any(found.opens(token, other) for other in SCOPES):
        raise _Refused(403, f"This token may not {scope}; the monitor has others that may.")
    raise _Refused(401, _NO_TOKEN, {"WWW-Authenticate": "Bearer"})


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
        await _error(405, sentence, {"Allow": self._allowed.replace(" or ", ", ")})(scope, receive, send)


class Straight:
    """Has predictions answered here, not behind what pages need: sessions, a route among many, compression.

    For one person that takes longer than to measure him.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer predictions; pass everything else on."""
        if scope["type"] == "http" and scope["method"] == "POST":
            found = _PREDICTIONS.fullmatch(scope["path"].removeprefix(scope.get("root_path", "")))
            if found is not None:
                scope["path_params"] = found.groupdict()
                response = await predictions(Request(scope, receive))
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


_ONE = "/api/v1/monitors/{monitor}"
_PREDICTIONS = re.compile(_ONE.format(monitor="(?P<monitor>[0-9A-Za-z]+)") + "/predictions")


def _routes() -> list[Route]:
    """Return every route, and behind those of each address one that refuses other methods."""
    routes = [
        ("GET", "/api/v1/openapi.json", openapi),
        ("GET", "/api/v1/monitors", monitors),
        ("POST", f"{_ONE}/predictions", predictions),
        ("PATCH", f"{_ONE}/predictions", outcomes),
        *((each.method, _ONE + each.path, _answering(each)) for each in QUESTIONS),
    ]
    # an address with a name in it must not hide the one that is spelled out
    addresses = sorted({path for _, path, _ in routes}, key=lambda path: path.count("{"))
    made: list[Route] = []
    for address in addresses:
        own = [(method, run) for method, path, run in routes if path == address]
        made += [Route(address, run, methods=[method]) for method, run in own]
        made.append(Route(address, _OtherMethods(" or ".join(method for method, _ in own))))
    return made


ROUTES = _routes()
