"""Processes by name: is the one that began a run still there?"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from pathlib import Path

__all__ = ["goes_on", "this_process"]

_FORGOTTEN_SECONDS = 86_400.0  # after which a run of another machine counts as interrupted


def this_process() -> str:
    """Return a name of this process that no other one ever has: machine, id, and when it started."""
    return f"{socket.gethostname()} {os.getpid()} {_started(os.getpid())}"


def goes_on(process: str, created: float) -> bool:
    """Tell whether `process`, as `this_process` named it, still runs.

    One of another machine cannot be looked at from here; it counts as running for a day after `created`.
    """
    host, pid, started = process.rsplit(" ", 2)
    if host != socket.gethostname():
        return time.time() - created < _FORGOTTEN_SECONDS
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return _started(int(pid)) == started


def _started(pid: int) -> str:
    """Return when a process started, in the kernel's ticks: ids are used again, this is not."""
    with contextlib.suppress(OSError):
        facts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "over" if facts[0] == "Z" else facts[19]  # a zombie has ended
    return "?"
