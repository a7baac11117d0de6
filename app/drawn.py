"""Figures of results that pages show, drawn once: a page is drawn anew with every act of its visitor.

What is kept of a result goes with it, so that nothing outlives what `app.work` remembers of a workspace.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["drawn"]

_MOST_BYTES = 400_000  # of the figures of one result, as JSON; what is kept of all results is bounded
_PLAIN = (str, int, float, bool, type(None))

_lock = threading.Lock()
_figures: dict[int, OrderedDict[Any, tuple[go.Figure, int]]] = {}


def drawn(draw: Callable[..., go.Figure], result: object, *more: Any, **options: Any) -> go.Figure:
    """Return ``draw(result, *more, **options)``, which nobody may change.

    It is drawn anew for another result, other arguments, or arguments that are more than words and numbers.
    """
    given = (*more, *options.values())
    if not all(_is_plain(value) for value in given):
        return draw(result, *more, **options)
    key = (draw.__module__, draw.__qualname__, more, tuple(sorted(options.items())), tuple(map(type, given)))
    with _lock:
        own = _figures.get(id(result))
        if own is None:
            own = _figures[id(result)] = OrderedDict()
            weakref.finalize(result, _figures.pop, id(result), None)
        if key in own:
            own.move_to_end(key)
            return own[key][0]
    figure = draw(result, *more, **options)
    size = len(figure.to_json())
    with _lock:
        own[key] = (figure, size)
        while sum(size for _, size in own.values()) > _MOST_BYTES:
            own.popitem(last=False)
    return figure


def _is_plain(value: object) -> bool:
    return isinstance(value, _PLAIN) or (isinstance(value, tuple) and all(map(_is_plain, value)))
