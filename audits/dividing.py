"""Who works on the pieces of a table: this process, or others that `divided` names for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

__all__ = ["Divide", "divided", "others"]

Divide = Callable[[Callable[..., Any], tuple[Any, ...], Sequence[Any]], Iterator[Any]]
"""``divide(work, common, pieces)`` yields ``work(*common, piece)`` of each piece, in their order."""

_others: ContextVar[Divide | None] = ContextVar("others", default=None)


def others() -> Divide | None:
    """Return who else works on pieces; None: nobody."""
    return _others.get()


@contextlib.contextmanager
def divided(divide: Divide) -> Iterator[None]:
    """Have pieces worked on by others, for as long as this lasts."""
    token = _others.set(divide)
    try:
        yield
    finally:
        _others.reset(token)
