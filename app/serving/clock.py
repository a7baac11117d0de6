"""Whether the clock may be believed: one that jumps ahead would make everything old at once.

After a gap of more than two days between two looks, nothing is removed for one.
"""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

_DAY = 86_400.0
_GAP = 2 * _DAY
_log = logging.getLogger("evenhand")


class Clock:
    """Remembers when it was last looked at, over restarts, by the time of a file."""

    def __init__(self) -> None:
        self._removes_from = 0.0  # on the clock that never jumps

    def believed(self, mark: Path) -> bool:
        """Tell whether what is old by the clock may be removed; look at least once in two days."""
        try:
            last = mark.stat().st_mtime
        except OSError:
            last = 0.0
        mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        now = time.time()
        mark.touch()
        os.utime(mark, (now, now))
        if abs(now - last) > _GAP:
            self._removes_from = time.monotonic() + _DAY
            _log.warning("Nothing is removed for a day: the clock has jumped, or the server was down")
        return time.monotonic() >= self._removes_from
