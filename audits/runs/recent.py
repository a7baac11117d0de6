"""A small memory of the last things made, so that a warm process does not make them again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Recent"]

T = TypeVar("T")


class Recent(Generic[T]):
    """The things used last, by key; keys are digests of all that a thing depends on.

    Parameters
    ----------
    most : int
        Things remembered.
    cells : callable
        Size of a thing, in table cells.
    most_cells : int
        Cells remembered in all; a thing larger than that is never remembered.
    """

    def __init__(self, most: int, cells: Callable[[T], int], most_cells: int = 20_000_000) -> None:
        self._most, self._cells, self._most_cells = most, cells, most_cells
        self._things: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, make: Callable[[], T]) -> T:
        """Return the thing under `key`, made now if it is not remembered."""
        with self._lock:
            if key in self._things:
                self._things.move_to_end(key)
                return self._things[key]
        thing = make()
        if self._cells(thing) > self._most_cells:
            return thing
        with self._lock:
            self._things[key] = thing
            while len(self._things) > self._most or self._total() > self._most_cells:
                self._things.popitem(last=False)
        return thing

    def _total(self) -> int:
        return sum(self._cells(thing) for thing in self._things.values())
