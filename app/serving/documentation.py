"""The documentation beside the pages, where it has been built: for use offline."""

from __future__ import annotations

from pathlib import Path

__all__ = ["SITE", "page_about"]

SITE = Path(__file__).resolve().parents[2] / "site"
"""Built by ``make docs``; in the wheel it lies beside the pages."""


def page_about(audit: str) -> str | None:
    """Return the address of an audit's page, relative to the pages; None where there is none."""
    place = f"audits/{audit}.html"
    return f"docs/{place}" if (SITE / place).is_file() else None
