"""A folder for what is thrown away, gone with the process that made it, however that ended.

The process holds a lock in it for as long as it lives. What one left behind that was killed, the next one
removes: its lock can be taken.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
import threading
from pathlib import Path

from audits.runs.executors import system

_PREFIX, _LOCK = "evenhand-of-", ".lock"
_made: dict[int, Path] = {}
_making = threading.Lock()


def scratch() -> Path:
    """Return this process's folder for temporary files, made at the first call."""
    with _making:
        own = _made.get(os.getpid())
        if own is None or not own.is_dir():  # someone tidies up the system's folder, too
            _remove_left()
            own = _made[os.getpid()] = _fresh()
            atexit.register(_remove, own, os.getpid())
    return own


def _fresh() -> Path:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with contextlib.suppress(OSError):  # taken for one that was left, before it was locked
            file = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)  # open until the process ends
            system.lock(file, wait=False)
            if os.fstat(file).st_nlink:
                return folder


def _remove_left() -> None:
    if not system.HAS_LOCKS:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # another user's, or someone's who goes on
            file = os.open(folder / _LOCK, os.O_RDWR)
            try:
                system.lock(file, wait=False)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(file)


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # not a copy of it
        shutil.rmtree(folder, ignore_errors=True)
