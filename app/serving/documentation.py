"""The documentation beside the pages, where it has been built: for use offline."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

__all__ = ["ROUTES", "page_about"]

_SITE = Path(__file__).resolve().parents[2] / "site"
"""Built by ``make docs``; in the wheel it lies beside the pages."""


def page_about(audit: str) -> str | None:
    """Return the address of an audit's page, relative to the pages; None where there is none."""
    place = f"audits/{audit}.html"
    return f"docs/{place}" if (_SITE / place).is_file() else None


async def _plotly(_: Request) -> FileResponse:
    """Answer with the script that draws the gallery: Plotly's own, which the wheel does not hold twice."""
    return FileResponse(str(files("plotly") / "package_data" / "plotly.min.js"))


ROUTES: list[BaseRoute] = (
    [
        Route("/docs/scripts/plotly.js", _plotly, methods=["GET"]),
        Mount("/docs", app=StaticFiles(directory=_SITE, html=True)),
    ]
    if _SITE.is_dir()
    else []
)
