"""Figures of results that pages show, drawn once: a page is drawn again with every act of its visitor.

What is kept of a result goes with it, so that nothing outlives what `app.jobs` remembers of a workspace.
"""

from __future__ import annotations

import dataclasses
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from audits.records import Audit, Exhibit, Section
from audits.runs.registry import AUDITS

if TYPE_CHECKING:
    import plotly.graph_objects as go

_MAX_BYTES = 400_000  # of the figures of one result, as JSON; what is kept of all results is bounded
_PLAIN = (str, int, float, bool, type(None))

_lock = threading.Lock()
_figures: dict[int, OrderedDict[Any, tuple[go.Figure, int]]] = {}
_written: dict[int, str] = {}


def cached_section(record: Audit, result: object) -> Section:
    """Return how `result` is presented, its exhibits' figures drawn as `cached_figure` draws them."""
    found = _section(record, result)
    kept = [drawn_once(each, _exhibit_figure, result, record.name, each.key) for each in found.exhibits]
    return dataclasses.replace(found, exhibits=tuple(kept))


def _section(record: Audit, result: object) -> Section:
    own: dict[str, Any] = vars(result)  # it holds the result, so that it can lie nowhere else
    name = f"section of {record.name}"
    if name not in own:
        own[name] = record.section(result)
    return own[name]


def drawn_once(
    exhibit: Exhibit, draw: Callable[..., go.Figure], result: object, *more: Any, **options: Any
) -> Exhibit:
    """Return `exhibit` with its figure drawn as `cached_figure` draws it."""
    return dataclasses.replace(exhibit, figure=partial(cached_figure, draw, result, *more, **options))


def _exhibit_figure(result: object, audit: str, key: str) -> go.Figure:
    return _section(AUDITS[audit], result).exhibit(key).figure()


def cached_figure(draw: Callable[..., go.Figure], result: object, *more: Any, **options: Any) -> go.Figure:
    """Return ``draw(result, *more, **options)``, which nobody may change.

    It is drawn again for another result, other arguments, or arguments that are more than words and numbers.
    What `draw` may read beside them, as a function inside another can, are the data of the result's own run.
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
    size = len(as_json(figure))
    with _lock:
        own[key] = (figure, size)
        while sum(size for _, size in own.values()) > _MAX_BYTES:
            own.popitem(last=False)
    return figure


def as_json(figure: go.Figure) -> str:
    """Return a figure that nobody changes any more as a browser is given it, written once."""
    key = id(figure)
    if key not in _written:
        text: str = figure.to_json(validate=False)
        weakref.finalize(figure, _written.pop, key, None)
        _written[key] = text
    return _written[key]


def _is_plain(value: object) -> bool:
    return isinstance(value, _PLAIN) or (isinstance(value, tuple) and all(map(_is_plain, value)))
