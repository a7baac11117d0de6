"""HTTP beside the pages: the API's routes, and the address that every visit begins with."""

from __future__ import annotations

import asyncio
import re
import secrets
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

from app import jobs
from app.serving import documentation, monitor_api, plotly_script
from app.serving.downloads import Downloads
from app.serving.headers import REPORT, SecurityHeaders
from app.serving.limits import RequestLimits
from app.serving.logs import RequestLog
from app.serving.maintenance import MAINTENANCE
from app.serving.metrics import metrics
from app.serving.middleware import HttpMiddleware, path_of
from app.tables.client import READERS
from app.workspaces.auth import SignIn
from app.workspaces.shares import Shares
from app.workspaces.visits import RemembersVisits
from app.workspaces.workspace import issue_token
from audits.errors import InputError, RunFailed
from audits.runs.registry import AUDITS
from audits.runs.storage.database import database
from audits.runs.storage.store import home
from audits.runs.version import VERSION

_PAGES = {"/"} | {f"/{view.stem}" for view in (Path(__file__).parent.parent / "views").glob("[a-z]*.py")}
_OF_ANY_AUDIT = re.compile(r"^(with|yaml)-(?=\w+$)")  # an option, before its name held the audit's
_FORMER_CHOICES = {audit.name: audit.pages.former_choices for audit in AUDITS.having("pages")}


async def health(_: Request) -> JSONResponse:
    """Tell that the server is up, and which version."""
    return JSONResponse({"status": "ok", "version": VERSION})


async def ready(_: Request) -> JSONResponse:
    """Tell whether visitors can be served now; what keeps them from it, where not."""
    found = await asyncio.get_running_loop().run_in_executor(None, faults)
    status = 503 if found else 200
    return JSONResponse({"status": "not ready" if found else "ready", "faults": found}, status_code=status)


async def shared_report(request: Request) -> Response:
    """Answer with the one report that a link shows."""
    secret = request.path_params["secret"]
    found = await asyncio.get_running_loop().run_in_executor(None, Shares().report, secret)
    kept = {"Cache-Control": "no-store"}
    if found is None or not found.is_file():
        return PlainTextResponse("This link has expired or was revoked.", 404, kept)
    return FileResponse(found, headers=kept, media_type="text/html")


def faults() -> dict[str, str]:
    """Return what keeps visitors from being served, by the part that fails."""
    found = {}
    try:
        with database().reading() as connection:
            connection.exec_driver_sql("SELECT 1")
    except (InputError, RunFailed) as error:
        found["database"] = str(error)
    try:
        probe = home() / f".ready-{secrets.token_hex(4)}"
        probe.write_bytes(b"x")
        probe.unlink()
    except OSError as error:
        found["home"] = f"It cannot be written to ({error.strerror})."
    if not jobs.executor().wait_warm(0):
        found["workers"] = "No worker is ready yet."
    if not READERS().wait_warm(0):
        found["readers"] = "The table reader is not loaded yet."
    if not monitor_api.INGEST.alive:
        found["monitors"] = "The prediction store has not started, or has stopped."
    elif monitor_api.INGEST.stuck:
        found["webhook"] = "A webhook has not answered for more than a minute."
    if not MAINTENANCE.alive:
        found["maintenance"] = "Background maintenance has not started, or has stopped."
    return found


class WholeAddress(HttpMiddleware):
    """Sends a visitor without a workspace in the address to a fresh one, and an old link to its page.

    Done before the page loads: an address changed by the page would leave an entry in the browser's
    history that the back button cannot pass.
    """

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on but the first request of a visit."""
        asked, page = scope["method"] == "GET", path_of(scope)
        moved = "" if page.strip("/") in AUDITS else _former().get(page.strip("/"), "")
        asked_for = scope.get("query_string", b"").decode("latin-1")
        query = _renamed(asked_for, moved or page.strip("/"))
        whole = bool({"w", "share"} & parse_qs(query).keys())
        if asked and (moved or query != asked_for or (page in _PAGES and not whole)):
            address = "&".join(part for part in (query, "" if whole else f"w={issue_token()}") if part)
            there = f"{'../' * (page.count('/') - 1)}{moved or page.strip('/')}?{address}"
            response = RedirectResponse(there, status_code=307, headers={"Cache-Control": "no-store"})
            await response(scope, receive, send)
        else:
            await self._app(scope, receive, send)


@cache
def _former() -> dict[str, str]:
    """Return what pages were called in links of earlier versions."""
    return {name: audit.name for audit in AUDITS.having("pages") for name in audit.pages.former}


def _renamed(query: str, page: str) -> str:
    """Return a query with the names that the page's choices have now."""
    former, own = _FORMER_CHOICES.get(page, {}), f"with-{page}-"
    parts = [part.partition("=") for part in query.split("&")]
    now = [(former.get(name, name), is_, value) for name, is_, value in parts]
    return "&".join(f"{_OF_ANY_AUDIT.sub(lambda _: own, name)}{is_}{value}" for name, is_, value in now)


monitor_api.API.add_api_route("/v1/health", health, summary="Is the server up?")
monitor_api.API.add_api_route(
    "/v1/ready", ready, summary="Can visitors be served now? If not, `faults` says why"
)
ROUTES = [
    Route("/metrics", metrics, methods=["GET"]),
    Route(f"{REPORT}{{secret}}", shared_report, methods=["GET"]),
    Mount("/api", app=monitor_api.API),
    *documentation.ROUTES,
    *plotly_script.ROUTES,
]
MIDDLEWARE = [
    Middleware(RequestLog),
    Middleware(SecurityHeaders),
    Middleware(SignIn),
    Middleware(RequestLimits),
    Middleware(WholeAddress),
    Middleware(RemembersVisits),
    Middleware(Downloads),
]
