"""The latest finished run of each audit on the data, model and threshold that are looked at."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from app import work
from app.workspaces.workspace import Workspace
from audits.errors import InputError, RunFailed

__all__ = ["KEY", "latest_audits", "linked_run"]

KEY = 12
"""Letters of a run's key in an address."""


def latest_audits(space: Workspace, draft: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the latest record of each audit that has a result on the draft's data, model and threshold."""
    subject = _subject(draft["spec"])
    found: dict[str, dict[str, Any]] = {}
    for record in space.runs():
        audits = record["spec"].get("audits") or []
        if len(audits) != 1 or "compare" in record["spec"] or _subject(record["spec"]) != subject:
            continue
        name = next(iter(audits[0]))
        if name not in found and _ready(space, record):
            found[name] = record
    return found


def linked_run(space: Workspace, draft: Mapping[str, Any], audit: str, asked: str) -> dict[str, Any] | None:
    """Return the record of the run of `audit` that a link asks for, if it is of the draft's subject."""
    for record in space.runs():
        audits = record["spec"].get("audits") or []
        if record["key"].startswith(asked) and len(audits) == 1 and audit in audits[0]:
            same = _subject(record["spec"]) == _subject(draft["spec"])
            return record if same and _ready(space, record) else None
    return None


def _ready(space: Workspace, record: Mapping[str, Any]) -> bool:
    try:
        return work.standing(space, record["spec"]).finished
    except (InputError, RunFailed):
        return False  # its file is gone


def _subject(spec: Mapping[str, Any]) -> str:
    parts = [spec.get(name) for name in ("data", "model", "threshold", "seed")]
    return json.dumps(parts, sort_keys=True)
