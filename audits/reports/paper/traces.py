"""Lines, dots, bars and cells of a figure, drawn between two axes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from reportlab.graphics.shapes import Circle, Line, Polygon, PolyLine, Rect
from reportlab.lib.colors import Color

from audits.drawing.style import ACCENT, INK, OKABE_ITO
from audits.reports.paper.axes import Axis
from audits.reports.paper.bars import Bar
from audits.reports.paper.ink import SMALL, Paper, colour_of, on_scale, plain
from audits.stats.words import count

__all__ = ["PIXEL", "colour_at", "draw_bars", "draw_cells", "draw_scatter", "ends_of", "trace_colour"]

PIXEL = 0.5
"""Points of paper for a pixel of the screen."""

_MOST_MARKS = 2000
_DASHES = {"dot": [1, 2], "dash": [4, 2], "dashdot": [4, 2, 1, 2], "longdash": [7, 3]}

Point = tuple[float, float]

_TRIANGLE: tuple[Point, ...] = ((-1.1, -0.8), (1.1, -0.8), (0, 1.2))
_CORNERS: dict[str, tuple[Point, ...]] = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "diamond": ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
}


def trace_colour(trace: dict[str, Any], place: int) -> str:
    """Return the colour that stands for a whole trace in the legend."""
    for part in ("line", "marker"):
        colour = (trace.get(part) or {}).get("color")
        if isinstance(colour, str):
            return colour
    first = (trace.get("marker") or {}).get("color")
    if first is not None and len(first) and isinstance(first[0], str):
        return str(first[0])
    return OKABE_ITO[place % len(OKABE_ITO)]


def colour_at(marker: dict[str, Any], row: int, otherwise: str, opacity: float = 1.0) -> Color:
    """Return the colour of one mark: its own, one on a colour scale, or that of its trace."""
    colours = marker.get("color", marker.get("colors"))
    opacity *= _number(marker.get("opacity"), row, 1.0)
    if colours is None or isinstance(colours, str):
        return colour_of(colours or otherwise, opacity)
    one = colours[row]
    if isinstance(one, str):
        return colour_of(one, opacity)
    if one is None or not np.isfinite(one):
        return colour_of(otherwise, opacity)
    known = [value for value in colours if value is not None and np.isfinite(value)]
    low = marker["cmin"] if marker.get("cmin") is not None else min(known)
    high = marker["cmax"] if marker.get("cmax") is not None else max(known)
    share = (one - low) / (high - low) if high > low else 0.5
    return on_scale(marker.get("colorscale") or [[0, "#FFFFFF"], [1, ACCENT]], share)


def ends_of(trace: dict[str, Any], axis: str) -> list[tuple[float | None, float | None]]:
    """Return the ends of each mark's interval along `axis`, in data; None where there is none."""
    error = trace.get(f"error_{axis}")
    values = trace.get(axis)
    if error is None or values is None or error.get("array") is None:
        return []
    above = list(error["array"])
    below = error.get("arrayminus")
    below = above if error.get("symmetric", below is None) or below is None else list(below)
    return [
        (None, None) if value is None or up is None or down is None else (value - down, value + up)
        for value, up, down in zip(values, above, below, strict=False)
    ]


def draw_bars(
    paper: Paper, traces: list[dict[str, Any]], bars: list[Bar], x: Axis, y: Axis, *, across: bool
) -> None:
    """Draw one panel's bars; `across` where they lie."""
    stand, reach = (y, x) if across else (x, y)
    for bar in bars:
        trace = traces[bar.trace]
        marker = trace.get("marker") or {}
        colour = colour_at(marker, bar.row, trace_colour(trace, bar.trace), _opacity(trace))
        ends = [_within(reach, reach.place(value)) for value in (bar.base, bar.top)]
        sides = [_within(stand, stand.point(bar.at + side * bar.width / 2)) for side in (-1, 1)]
        if None in ends or None in sides:
            if reach.log and ends[1] is not None and None not in sides:
                ends[0] = reach.start  # a bar from 0 begins at the edge of a logarithmic axis
            else:
                continue
        (a, b), (c, d) = sorted(ends), sorted(sides)  # type: ignore[type-var]
        box = (a, c, b - a, d - c) if across else (c, a, d - c, b - a)  # type: ignore[operator]
        line = (marker.get("line") or {}).get("color")
        edge = colour_of(line) if isinstance(line, str) else None
        paper.drawing.add(Rect(*box, fillColor=colour, strokeColor=edge, strokeWidth=0.4 if edge else 0))
        text = _item(trace.get("text"), bar.row)
        if text:
            at, middle = reach.point(reach.value(bar.top) or 0.0), (c + d) / 2  # type: ignore[operator]
            if across:
                paper.text(at + 2, middle - 2.3, plain(text), size=SMALL - 1)
            else:
                paper.text(middle, at + 2, plain(text), size=SMALL - 1, anchor="middle")
    for number, trace in enumerate(traces):
        own = {bar.row: bar.at for bar in bars if bar.trace == number}
        letter = "x" if across else "y"
        for row, (low, high) in enumerate(ends_of(trace, letter)):
            if row in own and low is not None and high is not None:
                at = stand.point(own[row])
                _interval(paper, reach, at, (low, high), colour_of(INK), across=across)


def draw_scatter(paper: Paper, trace: dict[str, Any], place: int, x: Axis, y: Axis,
                 before: list[Point]) -> list[Point]:  # fmt: skip
    """Draw a trace of lines, dots and texts; return its points for a filling up to it.

    Parameters
    ----------
    place : int
        Of the trace in the figure, which decides its colour where it has none.
    before : list of points
        Of the trace before this one.
    """
    xs, ys = (list(values) if values is not None else [] for values in (trace.get("x"), trace.get("y")))
    if not xs or not ys:
        xs, ys = xs or list(range(len(ys))), ys or list(range(len(xs)))
    pairs = [(x.place(a), y.place(b)) for a, b in zip(xs, ys, strict=False)]
    mode = str(trace.get("mode") or ("lines" if len(pairs) > 20 else "lines+markers"))
    colour = trace_colour(trace, place)
    line = trace.get("line") or {}
    runs = [
        _stepped([(a, b) for a, b in run if a is not None and b is not None], line.get("shape"))
        for known, run in itertools.groupby(pairs, key=lambda pair: None not in pair)
        if known
    ]
    _fill(paper, trace, runs, before, y, colour)
    if "lines" in mode and line.get("width") != 0:
        for run in runs:
            kept = [(_clamped(x, a), _clamped(y, b)) for a, b in run]
            if len(kept) > 1:
                paper.drawing.add(
                    PolyLine(
                        list(itertools.chain.from_iterable(kept)),
                        strokeColor=colour_of(line.get("color") or colour, _opacity(trace)),
                        strokeWidth=max(0.5, PIXEL * float(line.get("width") or 2)),
                        strokeDashArray=_DASHES.get(str(line.get("dash"))),
                        strokeLineJoin=1,
                    )
                )
    _intervals(paper, trace, pairs, x, y, colour)
    if "markers" in mode:
        _dots(paper, trace, pairs, x, y, colour)
    if "text" in mode:
        _texts(paper, trace, pairs)
    return [point for run in runs for point in run]


def draw_cells(paper: Paper, trace: dict[str, Any], x: Axis, y: Axis) -> None:
    """Draw a matrix as cells of a colour scale."""
    values = [list(row) for row in trace["z"]]
    flat = [value for row in values for value in row if value is not None and np.isfinite(value)]
    if not flat:
        return
    low = trace["zmin"] if trace.get("zmin") is not None else min(flat)
    high = trace["zmax"] if trace.get("zmax") is not None else max(flat)
    scale = trace.get("colorscale") or [[0, "#FFFFFF"], [1, ACCENT]]
    columns = _cell_edges(x, trace.get("x"), len(values[0]))
    rows = _cell_edges(y, trace.get("y"), len(values))
    for (bottom, top), row in zip(rows, values, strict=False):
        for (left, right), value in zip(columns, row, strict=False):
            if value is None or not np.isfinite(value):
                continue
            share = (value - low) / (high - low) if high > low else 0.5
            a, b = sorted((x.point(left), x.point(right)))
            c, d = sorted((y.point(bottom), y.point(top)))
            paper.drawing.add(
                Rect(a, c, b - a, d - c, fillColor=on_scale(scale, share), strokeColor=None, strokeWidth=0)
            )


def _cell_edges(axis: Axis, values: Any, k: int) -> list[tuple[float, float]]:
    given = list(values) if values is not None else list(range(k))
    units = [axis.value(value) for value in given]
    places = [unit if unit is not None else float(place) for place, unit in enumerate(units)]
    if len(places) == k + 1:
        return list(itertools.pairwise(places))
    middles = [(a + b) / 2 for a, b in itertools.pairwise(places)]
    first = places[0] - (middles[0] - places[0] if middles else 0.5)
    last = places[-1] + (places[-1] - middles[-1] if middles else 0.5)
    return list(itertools.pairwise([first, *middles, last]))


def _fill(
    paper: Paper, trace: dict[str, Any], runs: list[list[Point]], before: list[Point], y: Axis, colour: str
) -> None:
    kind = trace.get("fill")
    if not kind or kind == "none" or not runs:
        return
    given = trace.get("fillcolor")
    tone = colour_of(given, _opacity(trace)) if given else colour_of(colour, 0.3 * _opacity(trace))
    for run in runs:
        if kind == "tozeroy":
            floor = y.place(0) if not y.log else y.start
            edge = [*run, (run[-1][0], floor or y.start), (run[0][0], floor or y.start)]
        elif kind == "tonexty" and before:
            edge = [*run, *reversed(before)]
        else:
            edge = run
        if len(edge) > 2:
            flat = list(itertools.chain.from_iterable(edge))
            paper.drawing.add(Polygon(flat, fillColor=tone, strokeColor=None, strokeWidth=0))


def _intervals(paper: Paper, trace: dict[str, Any], pairs: list[Any], x: Axis, y: Axis, colour: str) -> None:
    for letter, reach, other in (("x", x, 1), ("y", y, 0)):
        marker = trace.get("marker") or {}
        for row, (low, high) in enumerate(ends_of(trace, letter)):
            at = pairs[row][other]
            if at is not None and low is not None and high is not None:
                tone = colour_at(marker, row, colour)
                error = trace.get(f"error_{letter}") or {}
                own = error.get("color")
                tone = colour_of(own) if isinstance(own, str) else tone
                thick = max(PIXEL * float(error.get("thickness") or 0), 1.1)
                _interval(paper, reach, at, (low, high), tone, thick=thick, across=letter == "x")


def _interval(
    paper: Paper,
    reach: Axis,
    at: float,
    said: tuple[float, float],
    colour: Color,
    *,
    thick: float = 1.1,
    across: bool,
) -> None:
    ends = [_within(reach, reach.place(value)) for value in said]
    ends = [reach.start if end is None else end for end in ends]
    box = (ends[0], at, ends[1], at) if across else (at, ends[0], at, ends[1])
    paper.drawing.add(Line(*box, strokeColor=colour, strokeWidth=thick))


def _dots(paper: Paper, trace: dict[str, Any], pairs: list[Any], x: Axis, y: Axis, colour: str) -> None:
    marker = trace.get("marker") or {}
    seen = [
        row
        for row, (a, b) in enumerate(pairs)
        if a is not None and b is not None and x.holds(a) and y.holds(b)
    ]
    if len(seen) > _MOST_MARKS:
        paper.notes.append(f"{count(_MOST_MARKS)} of {count(len(seen))} points are drawn.")
        seen = [seen[k * len(seen) // _MOST_MARKS] for k in range(_MOST_MARKS)]
    for row in seen:
        tone = colour_at(marker, row, colour, _opacity(trace))
        if tone.alpha <= 0:
            continue
        symbol = str(_item(marker.get("symbol"), row) or "circle")
        size = _number(marker.get("size"), row, 6.0) * PIXEL / 2
        _mark(paper, pairs[row], max(size, 0.6), tone, symbol)


def _mark(paper: Paper, at: Point, size: float, tone: Color, symbol: str) -> None:
    """One mark of a radius of `size` points."""
    a, b = at
    hollow = symbol.endswith("-open")
    look = {"fillColor": None if hollow else tone, "strokeColor": tone, "strokeWidth": 0.9 if hollow else 0}
    name = symbol.removesuffix("-open")
    if name.startswith("line-ns"):
        paper.drawing.add(Line(a, b - 1.6 * size, a, b + 1.6 * size, strokeColor=tone, strokeWidth=1.3))
    elif name.startswith("x"):
        for side in (-1, 1):
            paper.drawing.add(
                Line(a - size, b - side * size, a + size, b + side * size, strokeColor=tone, strokeWidth=1)
            )
    elif name in {"square", "diamond"} or name.startswith(("triangle", "arrow")):
        flat = [part for dx, dy in _CORNERS.get(name, _TRIANGLE) for part in (a + dx * size, b + dy * size)]
        paper.drawing.add(Polygon(flat, **look))
    else:
        paper.drawing.add(Circle(a, b, size, **look))


def _texts(paper: Paper, trace: dict[str, Any], pairs: list[Any]) -> None:
    for row, (a, b) in enumerate(pairs):
        text = plain(_item(trace.get("text"), row))
        if a is None or b is None or not text:
            continue
        where = str(_item(trace.get("textposition"), row) or "middle center")
        up = 5.0 if "top" in where else -9.0 if "bottom" in where else -2.3
        anchor = "start" if "right" in where else "end" if "left" in where else "middle"
        aside = 5.0 if anchor == "start" else -5.0 if anchor == "end" else 0.0
        paper.text(a + aside, b + up, text, size=SMALL - 0.5, anchor=anchor)


def _stepped(run: list[Point], shape: Any) -> list[Point]:
    """Return a line with the corners that its shape asks for."""
    if shape not in {"hv", "vh", "hvh", "vhv"} or len(run) < 2:
        return run
    found = [run[0]]
    for (a, b), (c, d) in itertools.pairwise(run):
        middle = {"hv": [(c, b)], "vh": [(a, d)]}.get(shape)
        if middle is None:
            half, level = (a + c) / 2, (b + d) / 2
            middle = [(half, b), (half, d)] if shape == "hvh" else [(a, level), (c, level)]
        found += [*middle, (c, d)]
    return found


def _within(axis: Axis, point: float | None) -> float | None:
    return None if point is None else _clamped(axis, point)


def _clamped(axis: Axis, point: float) -> float:
    low, high = min(axis.start, axis.end), max(axis.start, axis.end)
    return min(max(point, low), high)


def _opacity(trace: dict[str, Any]) -> float:
    return float(trace["opacity"]) if trace.get("opacity") is not None else 1.0


def _item(values: Any, row: int) -> Any:
    if values is None or isinstance(values, str):
        return values
    return values[row] if row < len(values) else None


def _number(values: Any, row: int, otherwise: float) -> float:
    if values is None:
        return otherwise
    return float(values) if np.ndim(values) == 0 else float(values[row])
