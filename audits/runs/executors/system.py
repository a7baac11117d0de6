"""What systems do differently, each with what is done where it is lacking: locks, ends of processes, copies.

All tests run on Linux. What macOS and Windows lack is taken away in tests/runs/test_system.py, and the rest
goes on: without locks on files nobody else is told apart, without process groups a worker is ended by the
system's command, without copies of a process new ones are started. Limits on strangers' files stand in
`sandbox`, which names those that hold.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None
"""Whether locks on files tell processes apart here."""


def lock(file: int, *, wait: bool) -> None:
    """Lock an open file for this process alone, until it is closed; nothing where there are no locks.

    Raises
    ------
    OSError
        If another process holds it, unless `wait`.
    """
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


@contextlib.contextmanager
def alone(path: Path) -> Iterator[int]:
    """Open a file, made if absent, to be read and appended to by this process alone, or to guard another."""
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        lock(file, wait=True)
        yield file
    finally:
        os.close(file)


def is_locked(file: int) -> bool:
    """Tell whether another process holds the lock of an open file; False where there are no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def read_at(file: int, size: int, start: int) -> bytes:
    """Return at most `size` bytes of an open file from `start` on."""
    if hasattr(os, "pread"):
        return os.pread(file, size, start)
    os.lseek(file, start, os.SEEK_SET)
    return os.read(file, size)


def end_group(pid: int) -> None:
    """End a process that has a group of its own, and all that it has started, at once."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)
        else:  # Windows: the tree by its own command
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(pid)], capture_output=True, check=False)


def goes_on(pid: int) -> bool:
    """Tell whether a process of this machine exists; on Windows True, where asking would end it."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def start_time(pid: int) -> str:
    """Return when a process started, in the kernel's ticks, as ids are used again; "?" if unknown."""
    with contextlib.suppress(OSError):
        facts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "over" if facts[0] == "Z" else facts[19]  # a zombie has ended
    return "?"


def start_timer(seconds: float, call: Callable[..., None], *given: object) -> threading.Timer:
    """Have something called after `seconds`, unless the timer is cancelled or this process ends before."""
    timer = threading.Timer(seconds, call, given)
    timer.daemon = True
    timer.start()
    return timer


def one_thread() -> bool:
    """Tell whether a copy of this process would be whole: this system copies, and there is one thread."""
    return sys.platform == "linux" and threading.active_count() == 1


def copy_of_pipes(pipes: Iterable[int]) -> None:
    """Make these pipes the standard input, output and error of this process, whatever their numbers are."""
    for number, pipe in enumerate([fcntl.fcntl(pipe, fcntl.F_DUPFD, 3) for pipe in pipes]):
        os.dup2(pipe, number)


def open_many_files(most: int) -> None:
    """Let this process open up to `most` files and sockets, as far as the system lets it."""
    if resource is not None:
        allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        wanted = min(allowed, most) if allowed > 0 else most
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, allowed))
