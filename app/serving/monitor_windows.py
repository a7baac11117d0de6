"""Windows of what a monitor received, audited as ordinary runs of the workspace that the monitor is of."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app import work
from app.workspaces.workspace import Workspace, is_token
from audits.errors import InputError
from audits.runs.monitoring.monitors import KeptMonitor, Monitors
from audits.runs.monitoring.windows import (
    Window,
    file_name,
    is_window_of,
    moment,
    needs_rows,
    take_window,
    window_spec,
)
from audits.runs.spec import parse_spec
from audits.runs.storage.saved import SavedRun, SavedRuns

__all__ = ["WINDOW", "Submitted", "audit_of", "audits_of", "audits_told", "submit_window"]

WINDOW = ("last", "since", "until", "outcomes", "audits", "title")
"""What may be asked of a window: keys of the body."""

_SHOWN = ("id", "title", "status", "created", "ended", "verdict", "finding", "error")


@dataclass(frozen=True)
class Submitted:
    """A window being audited: its key among the runs, the window, what was asked, what could not be."""

    key: str
    window: Window
    audits: list[str]
    notes: list[str]

    @property
    def told(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {"audit": self.key, "window": self.window.facts, "audits": self.audits, "notes": self.notes}


def submit_window(monitors: Monitors, monitor: KeptMonitor, asked: Mapping[str, Any]) -> Submitted:
    """Have a window audited in the monitor's workspace.

    Parameters
    ----------
    asked : mapping
        Some of `WINDOW`.

    Raises
    ------
    InputError
        If the window or an audit is wrong, or cannot be, or the monitor is of no workspace.
    """
    audits, outcomes = _audits(asked.get("audits")), asked.get("outcomes", False)
    if not isinstance(outcomes, bool):
        raise InputError("outcomes", "must be true or false", outcomes)
    last = asked.get("last")
    if last is not None and (isinstance(last, bool) or not isinstance(last, int)):
        raise InputError("last", "must be a whole number of people", last)
    title = asked.get("title", "")
    if not isinstance(title, str) or len(title) > 200:
        raise InputError("title", "must be text of at most 200 characters")
    space = _space(monitor)
    times = {name: moment(name, asked.get(name)) for name in ("since", "until")}
    rows = needs_rows(audits) if audits else monitor.keeps_rows
    window = take_window(monitors, monitor.id, last=last, outcomes=outcomes, rows=rows, **times)
    spec, notes = window_spec(monitor, window, file_name(monitor), audits, outcomes=outcomes)
    parse_spec(spec, space.folder)  # an audit's options are refused before anything is kept
    content = io.BytesIO()
    window.frame.to_parquet(content, index=False)
    content.seek(0)
    spec["data"]["path"] = str(space.add_file(file_name(monitor), content))
    run = work.submit(space, spec, title or f"Window of {monitor.name}")
    return Submitted(run.key, window, [name for each in spec["audits"] for name in each], notes)


def _audits(asked: Any) -> Sequence[Any]:
    if asked is None:
        return ()
    if not isinstance(asked, list) or not 1 <= len(asked) <= 20:
        raise InputError("audits", "must be a list of 1 to 20 audits", asked)
    return asked


def _space(monitor: KeptMonitor) -> Workspace:
    if not is_token(monitor.owner):
        raise InputError(
            "the monitor",
            "is of no workspace, where its audits would lie",
            advice="use `evenhand monitor window`",
        )
    return Workspace(monitor.owner)


def audits_of(monitor: KeptMonitor) -> list[SavedRun]:
    """Return the audits of windows of a monitor, latest first."""
    if not is_token(monitor.owner):
        return []
    return [run for run in SavedRuns().list(owner=monitor.owner) if is_window_of(monitor.id, run.spec)]


def audits_told(monitor: KeptMonitor) -> list[dict[str, Any]]:
    """Return them as plain data."""
    return [_told(run) for run in audits_of(monitor)]


def audit_of(monitor: KeptMonitor, key: str) -> dict[str, Any]:
    """Return how an audit of a window stands, with its results once it is done.

    Raises
    ------
    InputError
        If this monitor has none of that key.
    """
    run = next((each for each in audits_of(monitor) if each.key == key), None)
    if run is None:
        raise InputError("audit", "must be one of a window of this monitor", key[:80])
    results = SavedRuns().load(run.id, monitor.owner).to_json() if run.status == "done" else None
    return {**_told(run), "results": results}


def _told(run: SavedRun) -> dict[str, Any]:
    sentence = " ".join(run.spec["data"].get("mended", ()))
    return {"audit": run.key, **{name: getattr(run, name) for name in _SHOWN}, "window": sentence}
