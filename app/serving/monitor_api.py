"""The monitors' HTTP API: predictions in, sensitivity out; alarms, tokens, settings, audits of windows."""

from __future__ import annotations

import dataclasses
import errno
import logging
import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pandas as pd
from fastapi import Body, Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from app.serving.ingestion import INGEST, MAX_IN_PROCESS, Busy
from app.serving.monitor_windows import WindowRequest, audit_of, audits_of_monitor, submit_window
from app.serving.webhook import webhook_hosts
from audits.errors import InputError, RunFailed
from audits.monitor.admin import SCOPES
from audits.monitor.detectors import SHARES
from audits.monitor.ingestion import OutcomeBatch, PredictionBatch, fault_of, read_outcomes, strict_json
from audits.monitor.monitors import MAX_PEOPLE, StoredMonitor
from audits.monitor.recoding import meanings
from audits.runs.storage.database import is_full
from audits.runs.tables import spreadsheet_safe
from audits.runs.version import VERSION

__all__ = ["API", "INGEST"]

MAX_BODY_MB = int(os.environ.get("EVENHAND_MAX_BATCH_MB", "8"))
_ARROW = ("application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file")
_KINDS = {"application/json": "json", **dict.fromkeys(_ARROW, "arrow")}
_MAX_KEY = 200
_MAX_READ_ON = 256_000_000
_NO_TOKEN = "The monitor's token is missing or wrong; send it as Authorization: Bearer TOKEN."  # noqa: S105
_ABSENT = frozenset({"monitor", "alarm", "token", "audit"})
_FAULTS = {
    401: "The token is missing or wrong.",
    403: "The token may do other things, not this one.",
    404: "No such monitor, alarm, token or audit.",
    405: "This address has other methods; `Allow` lists them.",
    409: "The idempotency key was used for other content. Nothing was stored.",
    413: "The body is too large. Nothing was stored.",
    415: "The content type is none of those listed, or the body is compressed.",
    422: "Columns, types or values are wrong: names the row and the column. Nothing was stored.",
    429: "Too many requests with this token, or too many wrong tokens from this address; `Retry-After` "
    "says when to try again.",
    500: "The server failed unexpectedly; its log has the details.",
    503: "The database cannot be used, or the queue is full. Nothing was stored: send it again.",
    507: "The disk is full. Nothing was stored: send it again when there is room.",
}
_log = logging.getLogger("evenhand")


class _Error(BaseModel):
    error: str


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class MonitorChange(_Strict):
    """What is to be changed of a monitor."""

    name: str | None = None
    note: str | None = None
    webhook: str | None = None
    keep_rows: bool | None = None


class AlarmChange(_Strict):
    """What is said of an alarm."""

    acknowledge: bool = True
    note: str | None = Field(None, max_length=10_000)


class TokenRequest(_Strict):
    """A token to be made."""

    scope: Literal["send", "read", "manage"]
    name: str = ""
    days: float | None = Field(None, gt=0, le=36_500)


class Rotation(_Strict):
    """How long the old first token goes on to work."""

    hours: Annotated[float, Field(ge=0, le=8760)] = 24.0


class Listing(BaseModel):
    """Which entries of a list, and in which form."""

    model_config = ConfigDict(extra="forbid")

    most: int = Field(200, ge=0, le=10_000)
    format: Literal["json", "csv"] = "json"


class AlarmListing(Listing):
    """Which alarms."""

    state: Literal["all", "waiting", "lasting"] = "all"


class PeopleListing(Listing):
    """Which flagged people."""

    alarm: int | None = Field(None, ge=0, le=10**15)


class MeasuredRow(BaseModel):
    """What is said of one person."""

    sensitivity: float = Field(ge=0)
    flagged: bool
    score: float = Field(description="Probability of the favorable outcome.")
    top: dict[str, float] = Field(description="The three features with the largest parts in the sensitivity.")
    id: str = ""
    unseen: list[str] = []


class MeasuredBatch(BaseModel):
    """What a stored batch is answered with."""

    batch: int
    people: int
    counted: int = Field(description="Without persons already seen in the window.")
    flagged: int
    threshold: float
    replayed: bool = Field(description="It was already stored, and was not stored again.")
    alarms: list[str]
    notes: list[str]
    rows: list[MeasuredRow]


class _StrictRequest(Request):
    """A request whose body is small, and JSON without anything that JSON has not."""

    async def body(self) -> bytes:
        """Return the body."""
        if not hasattr(self, "_body"):
            self._body = await _read_body(self, MAX_IN_PROCESS)
        return self._body

    async def json(self) -> Any:
        """Return what it says."""
        try:
            return strict_json(await self.body())
        except InputError as error:
            raise HTTPException(422, str(error)) from None


class _Route(APIRoute):
    def get_route_handler(self) -> Any:
        """Read the request strictly."""
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return strictly


class MonitorAccess:
    """Finds the monitor that a request names, if its token may do what `scope` says."""

    def __init__(self, scope: str) -> None:
        self._scope = scope

    async def __call__(self, monitor: str, request: Request) -> StoredMonitor:
        """Return the monitor."""
        token = _token(request)
        try:
            if len(monitor) > 64 or not monitor.isalnum():
                raise InputError("monitor", "must be one that exists", monitor)
            found = await INGEST.find(monitor)
        except RunFailed:  # whoever has shown no token yet is not told which database it is
            _log.exception("A monitor could not be found")
            sentence = "Nothing was stored: the database cannot be used. Send it again."
            raise HTTPException(503, sentence, {"Retry-After": "5"}) from None
        if found.opens(token, self._scope):
            return found
        if any(found.opens(token, other) for other in SCOPES):
            raise HTTPException(403, f"This token may not {self._scope}; the monitor has others that may.")
        raise HTTPException(401, _NO_TOKEN, {"WWW-Authenticate": "Bearer"})


Sender = Annotated[StoredMonitor, Depends(MonitorAccess("send"))]
Reader = Annotated[StoredMonitor, Depends(MonitorAccess("read"))]
Manager = Annotated[StoredMonitor, Depends(MonitorAccess("manage"))]

API = FastAPI(
    strict_content_type=False,
    title="Evenhand",
    version=VERSION,
    description="Predictions of a deployed model in, sensitivity to protected status out. No protected "
    "attribute is needed unless the model itself reads it; what is sent of them under `protected` is "
    "counted, and kept only beside an id, until retention removes it.",
    openapi_url="/v1/openapi.json",
    docs_url=None,
    redoc_url=None,
    responses={status: {"model": _Error, "description": text} for status, text in _FAULTS.items()},
    dependencies=[Depends(HTTPBearer(auto_error=False))],
    redirect_slashes=False,
)
API.router.route_class = _Route
_ONE = "/v1/monitors/{monitor}"


@API.get("/v1/monitors", summary="The monitors that the token belongs to")
async def list_monitors(request: Request) -> dict[str, Any]:
    token = _token(request)
    identities = await run_in_threadpool(INGEST.monitors.opened_by, token)
    found = [await INGEST.find(each) for each in identities]
    mine = [each for each in found if each.opens(token, "read")]
    if not mine:
        raise HTTPException(401, _NO_TOKEN, {"WWW-Authenticate": "Bearer"})
    return {"monitors": [describe_monitor(each) for each in mine]}


@API.get(_ONE, summary="A monitor's columns, guarantees and current state")
def read_monitor(monitor: Reader) -> dict[str, Any]:
    return describe_monitor(monitor)


@API.patch(_ONE, summary="Change its name, note, webhook or keep_rows")
def change_monitor(monitor: Manager, change: MonitorChange) -> dict[str, Any]:
    INGEST.monitors.change(monitor.id, webhook_hosts(), **change.model_dump())
    return describe_monitor(INGEST.monitors.get(monitor.id))


def _schema(model: type[BaseModel], *more: str) -> dict[str, Any]:
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    content: dict[str, Any] = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content | {kind: {} for kind in more}}}


@API.post(
    f"{_ONE}/predictions",
    summary="Measure and store a batch",
    description=f"At most {MAX_PEOPLE:,} people and {MAX_BODY_MB} MB. What is answered with 200 is on "
    "disk. A value that the audit never saw is encoded as unknown and listed under `unseen`. A batch sent "
    "again with its `Idempotency-Key` gets the same answer and is stored once, as long as the monitor "
    "keeps it.",
    openapi_extra=_schema(PredictionBatch, *_ARROW),
    responses={200: {"model": MeasuredBatch}},
)
async def post_predictions(monitor: Sender, request: Request) -> JSONResponse:
    kind, key = _kind(request), request.headers.get("idempotency-key")
    if key is not None and not (0 < len(key) <= _MAX_KEY and key.isprintable() and key.isascii()):
        raise HTTPException(422, f"Idempotency-Key must be 1 to {_MAX_KEY} printable ASCII characters.")
    body = await _read_body(request, MAX_BODY_MB * 1_000_000)
    return JSONResponse(await INGEST.answer(monitor, body, kind, key))


@API.patch(
    f"{_ONE}/predictions",
    summary="Record outcomes of people whose predictions were stored with an id",
    description="Known outcomes are skipped. Contradictory ones are listed and not changed.",
    openapi_extra=_schema(OutcomeBatch),
)
async def note_outcomes(monitor: Sender, request: Request) -> dict[str, Any]:
    if _kind(request) != "json":
        raise HTTPException(415, "Content-Type must be application/json.")
    body = await _read_body(request, MAX_BODY_MB * 1_000_000)
    known = await run_in_threadpool(lambda: INGEST.learn(monitor, read_outcomes(body)))
    return dataclasses.asdict(known)


@API.get(f"{_ONE}/history", summary="Its history in at most 512 intervals")
def read_history(monitor: Reader, most: Annotated[int, Query(ge=1, le=10_000)] = 512) -> dict[str, Any]:
    points = INGEST.monitors.points(monitor.id, most)
    return {"history": [dataclasses.asdict(point) for point in points]}


@API.get(f"{_ONE}/alarms", summary="Its alarms, latest first")
def list_alarms(monitor: Reader, wanted: Annotated[AlarmListing, Query()]) -> Any:
    found = INGEST.monitors.alarms(monitor.id, wanted.most)
    chosen = [
        each
        for each in found
        if wanted.state == "all" or (each.waits if wanted.state == "waiting" else each.lasts)
    ]
    waiting = INGEST.monitors.waiting(monitor.id)[0]
    return _list_response("alarms", chosen, wanted, waiting=waiting)


@API.patch(f"{_ONE}/alarms/{{alarm}}", summary="Acknowledge an alarm, with a note")
def change_alarm(monitor: Manager, alarm: str, change: AlarmChange) -> dict[str, Any]:
    place = _number("alarm", alarm)
    INGEST.monitors.acknowledge(monitor.id, place, change.note, acknowledged=change.acknowledge)
    return dataclasses.asdict(INGEST.monitors.alarm(monitor.id, place))


@API.get(f"{_ONE}/people", summary="Flagged people, latest first")
def list_people(monitor: Reader, wanted: Annotated[PeopleListing, Query()]) -> Any:
    within = None
    if wanted.alarm is not None:
        found = INGEST.monitors.alarm(monitor.id, wanted.alarm)
        within = (found.person, found.last_person)
    return _list_response("people", INGEST.monitors.flags(monitor.id, wanted.most, within), wanted)


@API.get(f"{_ONE}/groups", summary="Rates of groups, with intervals that hold at all times")
def list_groups(monitor: Reader) -> dict[str, Any]:
    return {"groups": [dataclasses.asdict(each) for each in INGEST.monitors.rates(monitor.id)]}


@API.get(f"{_ONE}/inputs", summary="Missing, unseen and impossible values by column so far")
def list_inputs(monitor: Reader) -> dict[str, Any]:
    return {"columns": INGEST.monitors.counted(monitor.id)}


@API.get(f"{_ONE}/audits", summary="Audits of windows of what it received, latest first")
def list_audits(monitor: Reader) -> dict[str, Any]:
    return {"audits": audits_of_monitor(monitor)}


@API.post(f"{_ONE}/audits", summary="Audit a window: the last N people, or a range of dates")
def audit_window(monitor: Manager, wanted: WindowRequest) -> dict[str, Any]:
    return submit_window(INGEST.monitors, INGEST.monitors.get(monitor.id), wanted).facts


@API.get(f"{_ONE}/audits/{{audit}}", summary="The state of such an audit, and its results when done")
def read_audit(monitor: Reader, audit: str) -> dict[str, Any]:
    return audit_of(monitor, audit)


@API.get(f"{_ONE}/tokens", summary="Its additional tokens")
def list_tokens(monitor: Manager) -> dict[str, Any]:
    names = ("id", "name", "scope", "created", "expires")
    tokens = INGEST.monitors.get(monitor.id).tokens
    return {"tokens": [{name: getattr(each, name) for name in names} for each in tokens]}


@API.post(f"{_ONE}/tokens", summary="Create a token that may send, read or manage")
def make_token(monitor: Manager, wanted: TokenRequest) -> dict[str, Any]:
    token, text = INGEST.monitors.make_token(monitor.id, **wanted.model_dump())
    return {"id": token.id, "scope": token.scope, "expires": token.expires, "token": text}


@API.post(f"{_ONE}/tokens/rotate", summary="Replace the first token; the old one stays valid for some hours")
def rotate_token(monitor: Manager, wanted: Annotated[Rotation, Body()] = Rotation()) -> dict[str, Any]:  # noqa: B008
    text = INGEST.monitors.rotate(monitor.id, hours=wanted.hours)
    return {"token": text}


@API.delete(f"{_ONE}/tokens/{{token}}", summary="Revoke a token")
def remove_token(monitor: Manager, token: str) -> dict[str, Any]:
    INGEST.monitors.remove_token(monitor.id, token)
    return {"removed": token}


def describe_monitor(monitor: StoredMonitor) -> dict[str, Any]:
    """Return what is said of a monitor."""
    bundle = monitor.bundle
    same = ("id", "name", "note", "created", "people", "flagged", "keep_days", "keep_people")
    return {
        **{name: getattr(monitor, name) for name in same},
        "reads": list(bundle.reads),
        "values": meanings(bundle),
        "threshold": bundle.threshold,
        "protected": bundle.about["protected"],
        "people_between_false_alarms": monitor.budget,
        "shares": SHARES if bundle.known is not None else {"flags": 1.0},
        "window_days": monitor.settings.get("window_days", 30),
        "keep_rows": monitor.keeps_rows,
        "webhook": bool(monitor.webhook),
        "chart": {**dataclasses.asdict(monitor.chart), "value": monitor.chart_value},
    }


def _list_response(name: str, entries: list[Any], wanted: Listing, **more: Any) -> Any:
    rows = [dataclasses.asdict(each) for each in entries]
    if wanted.format == "csv":
        table = spreadsheet_safe(pd.DataFrame(rows))
        return Response(table.to_csv(index=False) if rows else "", media_type="text/csv")
    return {**more, name: rows}


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 15:
        raise InputError(name, "must be one of this monitor", text[:40])
    return int(text)


def _token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _kind(request: Request) -> str:
    if request.headers.get("content-encoding", "").strip().lower() not in {"", "identity"}:
        sentence = "Content-Encoding must be left out: send the body as it is."
        raise HTTPException(415, sentence, {"Accept-Encoding": "identity"})
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in _KINDS:
        raise HTTPException(415, f"Content-Type must be one of {', '.join(_KINDS)}.")
    return _KINDS[given]


async def _read_body(request: Request, most: int) -> bytes:
    """Return the body; one that is too large is not kept, but read on so that the answer is heard."""
    sentence = f"A body may have at most {most // 1000:,} kB here; send several batches."
    too_large = HTTPException(413, sentence, {"Connection": "close"})
    stated = request.headers.get("content-length", "")
    if stated.isdigit() and int(stated) > _MAX_READ_ON:
        raise too_large
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > _MAX_READ_ON:
            raise too_large
        if size <= most:
            parts.append(part)
        else:
            parts.clear()
    if size > most:
        raise too_large
    return b"".join(parts)


def _error(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": sentence}, status, dict(headers or {}))


@API.exception_handler(404)
async def _not_found_response(_: Request, error: HTTPException) -> JSONResponse:
    sentence = "There is nothing at this address; /api/v1/openapi.json lists what there is."
    return _error(404, sentence if error.detail == "Not Found" else error.detail)


@API.exception_handler(405)
async def _other_method(request: Request, _: HTTPException) -> JSONResponse:
    scope = dict(request.scope)
    methods = [
        method
        for route in API.routes
        if isinstance(route, APIRoute) and route.matches(scope)[0] is not Match.NONE
        for method in sorted(route.methods or ())
    ]
    return _error(405, f"The method must be {' or '.join(methods)}.", {"Allow": ", ".join(methods)})


@API.exception_handler(HTTPException)
async def _refusal_response(_: Request, error: HTTPException) -> JSONResponse:
    return _error(error.status_code, str(error.detail), error.headers)


@API.exception_handler(RequestValidationError)
async def _wrong(_: Request, error: RequestValidationError) -> JSONResponse:
    first = dict(error.errors()[0])
    first["loc"] = first["loc"][1:]  # without "body" or "query"
    return _error(422, str(fault_of(first)))


@API.exception_handler(InputError)
async def _wrong_value(_: Request, error: InputError) -> JSONResponse:
    if os.strerror(errno.ENOSPC) in str(error):  # a window's table had no room in its workspace
        return _error(507, str(error), {"Retry-After": "60"})
    status = 409 if error.where == "Idempotency-Key" else 404 if error.where in _ABSENT else 422
    return _error(status, str(error))


@API.exception_handler(RunFailed)
async def _storage_response(_: Request, error: RunFailed) -> JSONResponse:
    """Say that nothing was stored: for want of room, or for now."""
    if is_full(error):
        sentence = "Nothing was stored: the server's disk is full. Send it again when there is room."
        return _error(507, sentence, {"Retry-After": "60"})
    return _error(503, f"Nothing was stored: {error} Send it again.", {"Retry-After": "5"})


@API.exception_handler(Busy)
async def _busy(_: Request, __: Busy) -> JSONResponse:
    return _error(503, "Too many batches are waiting; send this one again in a moment.", {"Retry-After": "1"})


@API.exception_handler(ClientDisconnect)
async def _gone(_: Request, __: ClientDisconnect) -> Response:
    return Response(status_code=400)


@API.exception_handler(Exception)
async def _failure_response(_: Request, error: Exception) -> JSONResponse:
    _log.error("A request about a monitor could not be answered", exc_info=error)
    return _error(
        500, "The server failed on this request. Check its log to see whether the data were stored."
    )
