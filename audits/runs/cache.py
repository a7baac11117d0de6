"""A memory of the last things made, in bytes, so that a warm process does not make them again."""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import pandas as pd

from audits.results import tables

if TYPE_CHECKING:
    from audits.runs.result import RunResult

T = TypeVar("T")
_LOOKED_AT_SECONDS = 120.0
_BESIDE = 2_200_000  # numbers and sentences of an audit, and the figures that pages keep of it, about


@dataclass
class _Kept(Generic[T]):
    thing: T
    owner: str
    size: int
    used: float


class Cache(Generic[T]):
    """The things used last, by key; keys are digests of all that a thing depends on.

    What one owner adds never drives out what another has used in the last two minutes: it is his own oldest
    things that go, then what nobody looks at; where that is not enough, the new thing is not remembered.

    Parameters
    ----------
    size : callable
        Bytes of a thing.
    most : int
        Bytes remembered in all.
    most_each : int, optional
        Bytes remembered for one owner; by default `most`.
    """

    def __init__(self, size: Callable[[T], int], most: int, most_each: int | None = None) -> None:
        self._size, self._most, self._most_each = size, most, min(most_each or most, most)
        self._things: OrderedDict[str, _Kept[T]] = OrderedDict()
        self._bytes: Counter[str] = Counter()  # by owner
        self._lock = threading.Lock()

    def get(self, key: str, make: Callable[[], T], owner: str = "") -> T:
        """Return the thing under `key`, made now if it is not remembered."""
        with self._lock:
            kept = self._things.get(key)
            if kept is not None:
                kept.used = time.monotonic()
                self._things.move_to_end(key)
                return kept.thing
        thing = make()
        size = self._size(thing)
        with self._lock:
            if key not in self._things and self._make_room(size, owner):
                self._things[key] = _Kept(thing, owner, size, time.monotonic())
                self._bytes[owner] += size
        return thing

    def forget(self, owner: str) -> None:
        """Drop all that is remembered for `owner`."""
        with self._lock:
            for key in self._of(owner):
                self._drop(key)

    def _make_room(self, size: int, owner: str) -> bool:
        if size > self._most_each:
            return False
        now, mine = time.monotonic(), self._of(owner)
        stale = [key for key, kept in self._things.items() if now - kept.used > _LOOKED_AT_SECONDS]
        for key in dict.fromkeys((*mine, *stale)):
            if self._fits(size, owner):
                break
            self._drop(key)
        return self._fits(size, owner)

    def _fits(self, size: int, owner: str) -> bool:
        return self._bytes[owner] + size <= self._most_each and self._bytes.total() + size <= self._most

    def _of(self, owner: str) -> list[str]:
        return [key for key, kept in self._things.items() if kept.owner == owner]

    def _drop(self, key: str) -> None:
        kept = self._things.pop(key)
        self._bytes[kept.owner] -= kept.size
        if not self._bytes[kept.owner]:
            del self._bytes[kept.owner]


def frame_bytes(frame: pd.DataFrame) -> int:
    """Return the bytes of a frame, its texts included."""
    return int(frame.memory_usage(deep=True).sum())


def result_bytes(found: RunResult) -> int:
    """Return about how many bytes a result takes."""
    frames = (table for audit in found.audits for table in tables(audit.result).values())
    second = 0 if found.compared is None else result_bytes(found.compared.second)
    return sum(map(frame_bytes, frames)) + _BESIDE * len(found.audits) + second
