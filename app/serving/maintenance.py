"""Background maintenance: status reports, cancellations and data retention.

A workspace that nobody has opened for ``EVENHAND_KEEP_DAYS`` is removed with all that it holds, and so are
uploads that a server was killed at.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from pathlib import Path
from typing import Any

from app import jobs
from app.serving.clock import Clock
from app.serving.downloads import DOWNLOADS
from app.tables.client import READERS
from app.workspaces import deletion
from app.workspaces.shares import Shares
from app.workspaces.workspace import Workspace, is_token
from audits.checks import number_from
from audits.errors import InputError, RunFailed
from audits.runs.executors.sandbox import resident_memory
from audits.runs.storage import control
from audits.runs.storage.audit_log import AuditLog, short
from audits.runs.storage.saved import SavedRuns
from audits.runs.storage.store import home

_TELL_SECONDS, _TIDY_SECONDS = 5.0, 60.0
_DAY = 86_400.0
_HALF_WRITTEN_SECONDS = 3600.0  # a file that nobody has written to for so long never becomes whole
_log = logging.getLogger("evenhand")


def snapshot() -> dict[str, Any]:
    """Return how this server stands: runs, workers, memory; workspaces are named as in the audit log."""
    executor = jobs.executor()
    now, runs = time.time(), []
    for run in executor.going_on():
        progress = run.progress
        runs.append(
            {
                "id": run.id,
                "workspace": short(run.owner or ""),
                "person": Workspace(run.owner).owner if run.owner and is_token(run.owner) else "",
                "status": run.status,
                "doing": progress.doing,
                "share": round(progress.fraction, 3),
                "seconds": round(now - run.submitted, 1),
            }
        )
    memory = READERS().memory_by_owner()
    return {
        "at": now,
        "runs": runs,
        "workers": {str(pid): resident_memory(pid) for pid in executor.pids()},
        "tables": {(short(each) if is_token(each) else each): size for each, size in memory.items()},
        "limits": {"memory": executor.limits.memory, "seconds": executor.limits.seconds},
    }


class Maintenance:
    """A thread that sees to this; start and close it with the server."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._clock = Clock()

    def start(self) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._live, name="evenhand-tend", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it was started and goes on."""
        return self._thread is not None and self._thread.is_alive()

    def close(self) -> None:
        """End."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _live(self) -> None:
        tidied = 0.0
        while not self._stop.wait(_TELL_SECONDS):
            try:
                control.tell(home(), snapshot())
                self.cancel()
                if time.monotonic() - tidied > _TIDY_SECONDS:
                    tidied = time.monotonic()
                    self.tidy()
            except Exception:  # noqa: BLE001  (the thread lives on)
                _log.exception("Background maintenance failed")

    def cancel(self) -> None:
        """Cancel the runs that someone asked to have cancelled."""
        going = {run.id: run for run in jobs.executor().going_on()}
        for identity in control.asked_to_cancel(home()):
            if identity in going:
                going[identity].cancel()
                (home() / "control" / f"cancel-{identity}").unlink(missing_ok=True)

    def tidy(self) -> None:
        """Take in runs that wait for the database, start those handed back, and remove what is too old."""
        jobs.tidy()
        with contextlib.suppress(InputError, RunFailed):  # it is away
            SavedRuns().reconcile()
            jobs.restart()
        Shares().tidy()
        DOWNLOADS.tidy()
        for path in (home() / "workspaces").glob("*/files/*.partial"):
            if abs(time.time() - path.stat().st_mtime) > _HALF_WRITTEN_SECONDS:
                path.unlink(missing_ok=True)
        days = number_from("EVENHAND_KEEP_DAYS", 0, least=0, most=36_500)
        if days and self._clock.believed(home() / "status" / "tidied"):
            self._remove_older(days * _DAY)

    def _remove_older(self, seconds: float) -> None:
        for folder in (home() / "workspaces").glob("*"):
            if is_token(folder.name) and time.time() - _last_used(folder) > seconds:
                deletion.erase(Workspace(folder.name))
                AuditLog(home()).note("deleted", workspace=folder.name, what="retention")


MAINTENANCE = Maintenance()
"""The server's one, started and ended with it."""


def _last_used(folder: Path) -> float:
    """Return when a workspace was last opened or changed."""
    return max(path.stat().st_mtime for path in (folder, *folder.glob("*.json")))
