"""Answers that were asked for outside the script thread, remembered by workspace and within bounds."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from audits.errors import InputError

_EACH, _SPACES = 4, 500
_BYTES = 100_000_000  # of what is known of all tables, and of all data
_WAITERS = 16  # threads that wait for the processes that read

_waiters = ThreadPoolExecutor(_WAITERS, thread_name_prefix="evenhand-read")


@dataclass
class _Constants:
    future: Future[Any]
    size: int = 0


class Futures:
    """The last futures of each workspace by key; one that failed, but not for the input, is tried again.

    Of workspaces that asked longest ago all goes once there are too many, their answers take too much, or
    nobody has asked for a while.
    """

    def __init__(self, size: Callable[[Any], int], most: int = _BYTES) -> None:
        self._kept: OrderedDict[str, OrderedDict[str, _Constants]] = OrderedDict()
        self._last: dict[str, float] = {}
        self._size, self._most = size, most
        self._lock = threading.Lock()

    def get(self, owner: str, key: str, make: Callable[[], Any]) -> Future[Any]:
        """Return what `make` gives, asked for now unless it is remembered."""
        with self._lock:
            own = self._kept.setdefault(owner, OrderedDict())
            asked = own.get(key)
            if asked is None or _broken(asked.future):
                asked = own[key] = _Constants(_waiters.submit(make))
                asked.future.add_done_callback(lambda _: self._measure(asked))
            own.move_to_end(key)
            while len(own) > _EACH:
                own.popitem(last=False)
            self._kept.move_to_end(owner)
            self._last[owner] = time.monotonic()
            while len(self._kept) > _SPACES or (self.size > self._most and len(self._kept) > 1):
                self._drop(next(iter(self._kept)))
        return asked.future

    def tidy(self, seconds: float) -> None:
        """Drop all of the workspaces that have not asked for so long."""
        with self._lock:
            for owner in [each for each in self._kept if time.monotonic() - self._last[each] > seconds]:
                self._drop(owner)

    def forget(self, owner: str) -> None:
        """Drop all of a workspace."""
        with self._lock:
            self._drop(owner)

    def _drop(self, owner: str) -> None:
        self._kept.pop(owner, None)
        self._last.pop(owner, None)

    @property
    def size(self) -> int:
        """About how many bytes all answers take."""
        return sum(asked.size for own in self._kept.values() for asked in own.values())

    def _measure(self, asked: _Constants) -> None:
        error = asked.future.exception()
        if error is None:
            asked.size = self._size(asked.future.result())
        else:  # what it passed on its way, files and tables among it, would be kept with it
            error.__traceback__ = error.__context__ = error.__cause__ = None


def _broken(future: Future[Any]) -> bool:
    return future.done() and (error := future.exception()) is not None and not isinstance(error, InputError)
