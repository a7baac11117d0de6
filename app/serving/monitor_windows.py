"""Windows of what a monitor received, audited as ordinary runs of the workspace that the monitor is of."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app import jobs
from app.workspaces.workspace import Workspace, is_token
from audits.errors import InputError
from audits.monitor.monitors import Monitors, StoredMonitor
from audits.monitor.windows import (
    MAX,
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


class WindowRequest(BaseModel):
    """A window to be audited: either `last`, or `since` and `until` or one of them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    last: int | None = Field(None, ge=1, le=MAX, description="The last N people.")
    since: str | None = Field(None, description="A date or time, of UTC unless it says otherwise.")
    until: str | None = Field(None, description="A date or time; not included.")
    outcomes: bool = Field(False, description="With outcomes, where they are known.")
    audits: list[str | dict[str, Any]] | None = Field(
        None,
        min_length=1,
        max_length=20,
        description="As in a spec; by default groups, rule_sets, and where rows are kept flipset.",
    )
    title: str = Field("", max_length=200)


_SHOWN = ("id", "title", "status", "created", "ended", "verdict", "finding", "error", "note")


@dataclass(frozen=True)
class WindowRun:
    """A window being audited: its key among the runs, the window, what was asked, what could not be."""

    key: str
    window: Window
    audits: list[str]
    notes: list[str]

    @property
    def facts(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {"audit": self.key, "window": self.window.facts, "audits": self.audits, "notes": self.notes}


def submit_window(monitors: Monitors, monitor: StoredMonitor, wanted: WindowRequest) -> WindowRun:
    """Have a window audited in the monitor's workspace.

    Raises
    ------
    InputError
        If the window or an audit is wrong, or cannot be, or the monitor is of no workspace.
    """
    audits, outcomes, space = wanted.audits or (), wanted.outcomes, _space(monitor)
    times = {name: moment(name, getattr(wanted, name)) for name in ("since", "until")}
    rows = needs_rows(audits) if audits else monitor.keeps_rows
    window = take_window(monitors, monitor.id, last=wanted.last, outcomes=outcomes, rows=rows, **times)
    spec, notes = window_spec(monitor, window, file_name(monitor), audits, outcomes=outcomes)
    parse_spec(spec, space.folder)  # an audit's options are refused before anything is kept
    content = io.BytesIO()
    window.frame.to_parquet(content, index=False)
    content.seek(0)
    spec["data"]["path"] = str(space.add_file(file_name(monitor), content))
    run = jobs.submit(space, spec, wanted.title or f"Window of {monitor.name}")
    return WindowRun(run.key, window, [name for each in spec["audits"] for name in each], notes)


def _space(monitor: StoredMonitor) -> Workspace:
    if not is_token(monitor.owner):
        raise InputError(
            "the monitor",
            "belongs to no workspace that could hold its audits",
            advice="use `evenhand monitor window`",
        )
    return Workspace(monitor.owner)


def audits_of(monitor: StoredMonitor) -> list[SavedRun]:
    """Return the audits of windows of a monitor, latest first."""
    if not is_token(monitor.owner):
        return []
    return [run for run in SavedRuns().list(owner=monitor.owner) if is_window_of(monitor.id, run.spec)]


def audits_of_monitor(monitor: StoredMonitor) -> list[dict[str, Any]]:
    """Return them as plain data."""
    return [_facts(run) for run in audits_of(monitor)]


def audit_of(monitor: StoredMonitor, key: str) -> dict[str, Any]:
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
    return {**_facts(run), "results": results}


def _facts(run: SavedRun) -> dict[str, Any]:
    sentence = " ".join(run.spec["data"].get("mended", ()))
    return {"audit": run.key, **{name: getattr(run, name) for name in _SHOWN}, "window": sentence}
