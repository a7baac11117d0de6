"""Bars of a figure: where each begins, how far it reaches, and how wide it stands."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Bar", "bars_of"]

_GAP = 0.2


@dataclass(frozen=True)
class Bar:
    """One bar: its place on the axis of names, from where to where it reaches, and its width.

    `at`, `start` and `width` are in units of the axis it stands on (positions of categories, or numbers;
    logarithms on a logarithmic axis), `base` and `top` in the data of the other one.
    """

    trace: int
    row: int
    at: float
    width: float
    base: float
    top: float


def bars_of(traces: list[dict[str, Any]], places: list[list[float | None]], layout: dict[str, Any],
            *, log: bool) -> list[Bar]:  # fmt: skip
    """Return the bars of one panel.

    Parameters
    ----------
    traces : list of dict
        Its bar traces.
    places : list of lists
        For each trace, where its bars stand on the axis; None for none.
    layout : dict
        The figure's layout: ``barmode`` and ``bargap`` count.
    log : bool
        Whether the axis that they stand on is logarithmic; given widths are then in data.
    """
    mode = layout.get("barmode") or "group"
    known = sorted({place for found in places for place in found if place is not None})
    step = float(np.min(np.diff(known))) if len(known) > 1 else 1.0
    room = step * (1 - float(layout.get("bargap", _GAP)))
    grouped = mode == "group" and len(traces) > 1
    above: dict[float, float] = defaultdict(float)
    below: dict[float, float] = defaultdict(float)
    found = []
    for number, (trace, own) in enumerate(zip(traces, places, strict=True)):
        lengths = trace.get("x" if trace.get("orientation") == "h" else "y")
        lengths = [] if lengths is None else list(lengths)
        for row, (place, length) in enumerate(zip(own, lengths, strict=False)):
            if place is None or length is None or not np.isfinite(length):
                continue
            width = _width(trace, row, place, log=log)
            offset = _at(trace.get("offset"), row)
            if width is None:
                width = room / len(traces) if grouped else room
            middle = place if offset is None else place + offset + width / 2
            if grouped and offset is None and trace.get("width") is None:
                middle += (number - (len(traces) - 1) / 2) * width
            base = float(_at(trace.get("base"), row) or 0.0)
            if mode in {"stack", "relative"}:
                pile = above if length >= 0 else below
                base = pile[place]
                pile[place] += float(length)
            found.append(Bar(number, row, middle, width, base, base + float(length)))
    return found


def _width(trace: dict[str, Any], row: int, place: float, *, log: bool) -> float | None:
    width = _at(trace.get("width"), row)
    if width is None or not log:
        return width
    centre = 10.0**place  # the two ends of a bar that is centred in data, not in logarithms
    return float(np.log10(centre + width / 2) - np.log10(max(centre - width / 2, centre * 1e-3)))


def _at(values: Any, row: int) -> float | None:
    if values is None:
        return None
    return float(values) if np.ndim(values) == 0 else float(values[row])
