"""The documentation beside the pages, where it has been built: for use offline."""

from __future__ import annotations

from pathlib import Path

from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from app.serving.plotly_script import plotly_script

_SITE = Path(__file__).resolve().parents[2] / "site"
"""Built by ``make docs``; in the wheel it lies beside the pages."""


def page_about(audit: str) -> str | None:
    """Return the address of an audit's page, relative to the pages; None where there is none."""
    place = f"audits/{audit}.html"
    return f"docs/{place}" if (_SITE / place).is_file() else None


ROUTES: list[BaseRoute] = (
    [
        Route("/docs/scripts/plotly.js", plotly_script, methods=["GET"]),
        Mount("/docs", app=StaticFiles(directory=_SITE, html=True)),
    ]
    if _SITE.is_dir()
    else []
)
