"""What only one audit's pages know, found by the audit's name where pages share code."""

from __future__ import annotations

import importlib
from functools import cache
from importlib.util import find_spec
from typing import Any

from audits.runs.registry import AUDITS


@cache
def own_module(audit: str, name: str) -> Any:
    """Return the module ``app/<audit>/<name>.py``; None without one, or of an audit that is not ours."""
    room, path = f"app.{audit}", f"app.{audit}.{name}"
    known = audit in AUDITS.ours and find_spec(room) is not None and find_spec(path) is not None
    return importlib.import_module(path) if known else None
