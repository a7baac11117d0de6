"""The audit log: who did what, and when; a file that only ever grows, each line bound to the one before.

It holds no data and no titles: workspaces and what they hold are named by digests and ids, so that what is
deleted is not kept alive here.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audits.errors import InputError, RunFailed, os_failure
from audits.runs.executors import system

ACTS = (
    "opened", "brought", "ran", "cancelled", "exported", "shared", "revoked", "deleted", "erased",
    "monitor made", "monitor removed", "token made", "token revoked", "measured", "backed up", "restored",
)  # fmt: skip
_MAX_LINE = 1 << 16
_BEGIN = "0" * 64


def short(token: str) -> str:
    """Return the name of a workspace in the log: its token would open it, this does not."""
    return hashlib.sha256(f"workspace {token}".encode()).hexdigest()[:12] if token else ""


class AuditLog:
    """The audit log of a home folder; several processes may write to it."""

    def __init__(self, base: Path) -> None:
        self.path = base / "log" / "audit.jsonl"

    def note(self, act: str, *, who: str = "", workspace: str = "", what: str = "") -> None:
        """Add a line.

        Parameters
        ----------
        act : str
            One of `ACTS`.
        who : str
            Name of a person; empty where nobody is asked who he is.
        workspace : str
            Token of a workspace; only its digest is kept.
        what : str
            Id of the run, file or monitor.

        Raises
        ------
        RunFailed
            If it cannot be written.
        """
        if act not in ACTS:
            raise InputError("act", f"must be one of {', '.join(ACTS)}", act)
        entry = {
            "at": round(time.time(), 3),
            "who": who,
            "act": act,
            "workspace": short(workspace),
            "what": what,
        }
        with os_failure("The audit log cannot be written"):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with system.alone(self.path) as file:
                before = _last(file)
                line = json.dumps({**entry, "before": before}, ensure_ascii=False)
                os.write(file, line.encode() + b"\n")
                os.fsync(file)

    def entries(self, *, since: float = 0.0, who: str = "", act: str = "") -> Iterator[dict[str, Any]]:
        """Yield the lines, oldest first: of one person, of one act, since a time, where given."""
        for _, entry in self._lines():
            wanted = entry["at"] >= since and who in {"", entry["who"]} and act in {"", entry["act"]}
            if wanted:
                yield {name: value for name, value in entry.items() if name != "before"}

    def check(self) -> int:
        """Return how many lines there are, each bound to the one before.

        Raises
        ------
        RunFailed
            If one was changed, or taken out.
        """
        before, number = _BEGIN, 0
        for number, (line, entry) in enumerate(self._lines(), start=1):
            if entry.get("before") != before:
                raise RunFailed(f"Line {number:,} of the audit log does not follow from the one before it.")
            before = hashlib.sha256(line).hexdigest()
        return number

    def _lines(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    entry = json.loads(line)
                except ValueError:
                    raise RunFailed(f"Line {number:,} of the audit log is damaged.") from None
                yield line.rstrip(b"\n"), entry


def _last(file: int) -> str:
    """Return the digest of the last whole line; a half one, of a full disk, is cut off."""
    size = os.fstat(file).st_size
    if not size:
        return _BEGIN
    start = max(0, size - _MAX_LINE)
    end = system.read_at(file, size - start, start)
    whole, newline, half = end.rpartition(b"\n")
    if half:
        os.ftruncate(file, start + len(whole) + len(newline))
    line = whole.rpartition(b"\n")[2]
    return hashlib.sha256(line).hexdigest() if line else _BEGIN
