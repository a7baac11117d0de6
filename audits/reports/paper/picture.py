"""A whole Plotly figure on paper: panels, axes, traces, lines across, notes, legend.

Drawn is what our figures are made of: scatter, bar, heatmap, contour (as cells), Sankey (two sides) and
sunburst traces on linear, logarithmic, date and category axes. A figure that holds anything else is not
drawn at all, so that a picture never lacks a part in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go
from reportlab.graphics.shapes import Drawing, Line
from reportlab.lib.colors import HexColor

from audits.reports.paper.axes import Axis
from audits.reports.paper.bars import bars_of
from audits.reports.paper.flows import draw_rings, draw_sankey
from audits.reports.paper.frame import Frame
from audits.reports.paper.ink import PALE, Paper
from audits.reports.paper.notes import draw_labels, draw_legend, draw_note, draw_shape
from audits.reports.paper.traces import PIXEL, draw_bars, draw_cells, draw_scatter

__all__ = ["drawing_of"]

_SCATTER, _CELLS, _ALONE = {"scatter", "scattergl"}, {"heatmap", "contour"}, {"sankey", "sunburst"}
_DRAWN = _SCATTER | _CELLS | _ALONE | {"bar"}
_LOWEST, _TALLEST = 80.0, 600.0
_GRID = HexColor("#ECEEF1")


def drawing_of(
    figure: go.Figure, width: float, font: str, printable: Callable[[str], str]
) -> tuple[Drawing, list[str]] | None:
    """Return a figure drawn `width` points wide, and notes on what is not all drawn.

    None if it holds a kind of trace that cannot be drawn here, or nothing at all.
    """
    traces = [trace.to_plotly_json() for trace in figure.data]
    traces = [part for trace in traces if trace.get("visible") in {None, True} for part in _opened(trace)]
    layout = figure.layout.to_plotly_json()
    kinds = {trace.get("type") or "scatter" for trace in traces}
    if not traces or kinds - _DRAWN or (kinds & _ALONE and len(traces) > 1):
        return None
    height = min(max(PIXEL * float(layout.get("height") or 320), _LOWEST), _TALLEST)
    paper = Paper(Drawing(width, height), font, printable)
    if "sankey" in kinds:
        draw_sankey(paper, traces[0], width, height)
    elif "sunburst" in kinds:
        draw_rings(paper, traces[0], width, height)
    else:
        _draw(Frame(paper, traces, layout, width, height))
    return paper.drawing, paper.notes


def _opened(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """A lying box of given quantiles as two intervals around its median, the inner one thick."""
    if trace.get("type") != "box" or trace.get("q1") is None or trace.get("orientation") != "h":
        return [trace]
    middle = [float(value) for value in trace["median"]]
    shared = {"mode": "markers", "x": middle, "marker": {**(trace.get("marker") or {}), "size": 7}}
    shared |= {key: trace[key] for key in ("y", "xaxis", "yaxis", "name", "showlegend") if key in trace}
    return [
        {
            **shared,
            "type": "scatter",
            "error_x": {
                "array": [float(end) - value for end, value in zip(trace[above], middle, strict=True)],
                "arrayminus": [value - float(end) for end, value in zip(trace[below], middle, strict=True)],
                "symmetric": False,
                "thickness": thickness,
            },
        }
        for below, above, thickness in (("lowerfence", "upperfence", 1.5), ("q1", "q3", 6))
    ]


def _draw(frame: Frame) -> None:
    """Draw all of it, from the back to the front."""
    for x, y in frame.panels:
        _grid(frame.paper, frame.axes[x], frame.axes[y])
    for shape in frame.layout.get("shapes") or ():
        draw_shape(frame, shape)
    for panel in frame.panels:
        _panel(frame, *panel)
    for name in frame.axes:
        draw_labels(frame, name)
    for note in frame.layout.get("annotations") or ():
        draw_note(frame, note)
    draw_legend(frame)


def _panel(frame: Frame, x: str, y: str) -> None:
    a, b = frame.axes[x], frame.axes[y]
    here = [
        (place, trace)
        for place, trace in enumerate(frame.traces)
        if (trace.get("xaxis") or "x", trace.get("yaxis") or "y") == (x, y)
    ]
    for _, trace in here:
        if trace.get("type") in _CELLS:
            draw_cells(frame.paper, trace, a, b)
    bars = [trace for _, trace in here if trace.get("type") == "bar"]
    if bars:
        across = bars[0].get("orientation") == "h"
        stand, letter = (b, "y") if across else (a, "x")
        places = [[stand.value(value) for value in trace[letter]] for trace in bars]
        found = bars_of(bars, places, frame.layout, log=stand.log)
        draw_bars(frame.paper, bars, found, a, b, across=across)
    before: list[tuple[float, float]] = []
    for place, trace in here:
        if (trace.get("type") or "scatter") in _SCATTER:
            before = draw_scatter(frame.paper, trace, place, a, b, before)


def _grid(paper: Paper, x: Axis, y: Axis) -> None:
    add = paper.drawing.add
    for axis, other, flat in ((x, y, False), (y, x, True)):
        for unit, _ in axis.ticks if axis.grid else ():
            at = axis.point(unit)
            if axis.holds(at):
                box = (other.start, at, other.end, at) if flat else (at, other.start, at, other.end)
                add(Line(*box, strokeColor=_GRID, strokeWidth=0.5))
        zero = axis.place(0) if axis.zero and not axis.log else None
        if zero is not None and axis.holds(zero):
            box = (other.start, zero, other.end, zero) if flat else (zero, other.start, zero, other.end)
            add(Line(*box, strokeColor=PALE, strokeWidth=0.7))
