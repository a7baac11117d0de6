"""Who works on the parts of a table: this process, or others that `use_workers` names for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

Divide = Callable[[Callable[..., Any], tuple[Any, ...], Sequence[Any]], Iterable[Any]]
"""``divide(work, common, parts)`` gives ``work(*common, part)`` of each part, in their order."""


def _here(work: Callable[..., Any], common: tuple[Any, ...], parts: Sequence[Any]) -> Iterable[Any]:
    return (work(*common, part) for part in parts)


_divide: ContextVar[Divide] = ContextVar("divide", default=_here)


def divide() -> Divide:
    """Return what has parts worked on."""
    return _divide.get()


@contextlib.contextmanager
def use_workers(divide: Divide) -> Iterator[None]:
    """Have parts worked on by others, for as long as this lasts."""
    token = _divide.set(divide)
    try:
        yield
    finally:
        _divide.reset(token)
