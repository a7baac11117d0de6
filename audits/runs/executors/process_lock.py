"""Processes by name: is the one that began a run still there?

Each holds a lock on a file of its own in the home folder for as long as it lives: whoever can take that lock
knows that it is gone. Names of machines, ids and clocks may change meanwhile (a container that starts again),
locks go with their process.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import threading
import time
from pathlib import Path

from audits.runs.executors import system

_FORGOTTEN_SECONDS = 86_400.0  # after which a run of another machine counts as interrupted
_held: dict[tuple[Path, int], int] = {}
_holding = threading.Lock()


def this_process(base: Path | None = None) -> str:
    """Return a name of this process that no other one ever has: machine, id, and when it started.

    With a home folder `base`, others there can tell from now on whether it goes on.
    """
    name = f"{socket.gethostname()} {os.getpid()} {system.start_time(os.getpid())}"
    if base is not None and system.HAS_LOCKS:
        with _holding, contextlib.suppress(OSError):  # no room: others look for the process itself
            if (base, os.getpid()) not in _held:
                _held[base, os.getpid()] = _lock_file(_file(base, name))
    return name


def goes_on(process: str, created: float, base: Path | None = None) -> bool:
    """Tell whether `process`, as `this_process` named it, still runs.

    Without a lock of it in the home folder `base`, one of this machine is looked for; one of another machine
    counts as running for a day after `created`. An empty name is nobody's.
    """
    if not process:
        return False
    if base is not None and system.HAS_LOCKS:
        path = _file(base, process)
        if path.exists():
            return _is_locked(path)
    host, pid, started = process.rsplit(" ", 2)
    if host != socket.gethostname():
        return 0 <= time.time() - created < _FORGOTTEN_SECONDS
    return system.goes_on(int(pid)) and system.start_time(int(pid)) == started


def _file(base: Path, process: str) -> Path:
    return base / "processes" / f"{hashlib.sha256(process.encode()).hexdigest()[:32]}.lock"


def _lock_file(path: Path) -> int:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        system.lock(file, wait=False)
    except OSError:
        os.close(file)
        raise
    return file


def _is_locked(path: Path) -> bool:
    """Tell whether someone holds the lock; the file stays, as what says that this process is gone."""
    try:
        file = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return system.is_locked(file)
    finally:
        os.close(file)
