"""What the servers of a home folder say of themselves, and what they are asked to do.

Each writes ``status/<name>.json`` every few seconds, and looks into ``control`` for runs to be cancelled.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audits.errors import InputError, os_failure
from audits.runs.executors.process_lock import goes_on, this_process
from audits.runs.storage.store import write_json

_RUN = re.compile(r"[0-9a-f]{4,32}")


def tell(base: Path, facts: Mapping[str, Any]) -> None:
    """Write down how this process stands.

    Raises
    ------
    RunFailed
        If that cannot be written.
    """
    name = this_process(base)
    path = base / "status" / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.json"
    with os_failure("The server's state cannot be written"):
        write_json(path, {**facts, "process": name})


def servers(base: Path) -> list[dict[str, Any]]:
    """Return what each server that goes on has written down last; what others left behind is removed."""
    found = []
    for path in sorted((base / "status").glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError):
            facts = json.loads(path.read_text(encoding="utf-8"))
            if goes_on(facts["process"], facts["at"], base):
                found.append(facts)
            else:
                path.unlink(missing_ok=True)
    return found


def ask_to_cancel(base: Path, run: str) -> str:
    """Ask whichever server carries out the run whose id begins with `run` to cancel it; return its id.

    Raises
    ------
    InputError
        If none does, or several runs begin so.
    """
    going = [each["id"] for server in servers(base) for each in server["runs"]]
    found = [identity for identity in going if _RUN.fullmatch(run) and identity.startswith(run)]
    if len(found) != 1:
        rule = "names several runs" if found else "must be the id of a waiting or running audit"
        raise InputError("ID", rule, run)
    folder = base / "control"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / f"cancel-{found[0]}").touch()
    return found[0]


def asked_to_cancel(base: Path) -> list[str]:
    """Return the ids of the runs that are to be cancelled."""
    return [path.name.removeprefix("cancel-") for path in (base / "control").glob("cancel-*")]


def disk_by_workspace(base: Path) -> dict[str, int]:
    """Return the bytes of each workspace's uploads, and of what its runs found, by token."""
    found = {}
    for space in (base / "workspaces").glob("*"):
        owner = f"of-{hashlib.sha256(space.name.encode()).hexdigest()[:32]}"
        parts = (space, base / "runs" / owner)
        found[space.name] = sum(
            path.stat().st_size for part in parts for path in part.rglob("*") if path.is_file()
        )
    return found
