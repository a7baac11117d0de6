"""What an audit is called in lists."""

from __future__ import annotations

from audits.runs.registry import AUDITS


def title_of(name: str) -> str:
    """Return the title of an audit, or its name where it is not known any more."""
    return AUDITS[name].title if name in AUDITS else name
