"""What is written around and across a figure on paper: tick labels, titles, lines, notes, the legend."""

from __future__ import annotations

from typing import Any

from reportlab.graphics.shapes import Line, Rect
from reportlab.lib.colors import white

from audits.drawing.style import GREY
from audits.reports.paper.axes import Axis
from audits.reports.paper.frame import LINE, LONGEST_TICK, Frame, on_paper
from audits.reports.paper.ink import AXIS, SMALL, colour_of, plain, plain_lines
from audits.reports.paper.traces import PIXEL, trace_colour

__all__ = ["draw_labels", "draw_legend", "draw_note", "draw_shape"]

_TURN = 30.0
_DASHES = {"dot": [1, 2], "dash": [4, 2]}


def draw_labels(frame: Frame, name: str) -> None:
    """Write an axis's tick labels and its title."""
    axis = frame.axes[name]
    panel = next(pair for pair in frame.panels if name in pair)
    x, y = (frame.axes[other] for other in panel)
    if axis.labelled and name[0] == "y":
        room = x.start - (0 if x.start <= frame.box[0] + 1 else frame.box[0]) - 4
        room = max(min(room, 0.36 * frame.paper.drawing.width), 30.0)
        _upright(frame, axis, x.start - 4, room)
    elif axis.labelled:
        _level(frame, axis, y.start)
    if axis.title and name[0] == "x":
        low = y.start - frame.tick_room(name, frame.paper.drawing.width) + 1
        frame.paper.text(
            (axis.start + axis.end) / 2, max(low, 1.0), plain(axis.title), size=SMALL, anchor="middle"
        )
    elif axis.title:
        wide = frame.tick_room(name, frame.paper.drawing.width)
        words = frame.paper.fitted(plain(axis.title), 1.3 * abs(axis.end - axis.start), SMALL)
        frame.paper.text(
            max(x.start - wide + SMALL, SMALL), (axis.start + axis.end) / 2, words, size=SMALL,
            anchor="middle", turned=90,
        )  # fmt: skip


def draw_shape(frame: Frame, shape: dict[str, Any]) -> None:
    """Draw a line or a band across a panel."""
    ends = [frame.spot(shape, key[0], key) for key in ("x0", "y0", "x1", "y1")]
    if any(end is None for end in ends):
        return
    a, b, c, d = (float(end) for end in ends if end is not None)
    low, tall, left, wide = frame.box[1], frame.box[3], frame.box[0], frame.box[2]
    a, c = (min(max(end, left), left + wide) for end in (a, c))
    b, d = (min(max(end, low), low + tall) for end in (b, d))
    line = shape.get("line") or {}
    if shape.get("type") == "rect":
        tone = colour_of(shape.get("fillcolor") or GREY, float(shape.get("opacity") or 1.0))
        frame.paper.drawing.add(Rect(min(a, c), min(b, d), abs(c - a), abs(d - b), fillColor=tone,
                                    strokeColor=None, strokeWidth=0))  # fmt: skip
        return
    frame.paper.drawing.add(
        Line(
            a, b, c, d,
            strokeColor=colour_of(line.get("color") or GREY),
            strokeWidth=PIXEL * float(line.get("width") or 2),
            strokeDashArray=_DASHES.get(str(line.get("dash"))),
        )
    )  # fmt: skip


def draw_note(frame: Frame, note: dict[str, Any]) -> None:
    """Write a text that stands in the figure."""
    x, y = frame.spot(note, "x"), frame.spot(note, "y")
    lines = [line for line in plain_lines(note.get("text")) if line]
    if x is None or y is None or not lines:
        return
    anchor = {"left": "start", "right": "end"}.get(str(note.get("xanchor")), "middle")
    if note.get("xanchor") in {None, "auto"}:
        to = str(note.get("xref") or "x")
        anchor = "middle" if to != "paper" else _auto(float(note.get("x") or 0.5))
    lift = {"bottom": 2.0, "top": -AXIS, "middle": -2.3}.get(str(note.get("yanchor")), -2.3)
    if note.get("yanchor") in {None, "auto"} and on_paper(note, "y") > 0.99:
        lift = 2.0
    x += PIXEL * float(note.get("xshift") or 0)
    y += PIXEL * float(note.get("yshift") or 0) + lift + AXIS * (len(lines) - 1) * (lift > 0)
    room = frame.paper.drawing.width - (x if anchor == "start" else 0) - 2
    if anchor == "start":
        room = min(room, PIXEL * _to_the_next(frame, note) - 3)
    if note.get("bgcolor") == "white":  # lines stop at it
        wide = min(room, max(frame.paper.width(line, SMALL) for line in lines))
        left = {"start": x, "end": x - wide}.get(anchor, x - wide / 2)
        below = (AXIS + 1) * (len(lines) - 1)
        box = Rect(left - 1, y - below - 1.5, wide + 2, below + SMALL, fillColor=white, strokeColor=None)
        frame.paper.drawing.add(box)
    for number, line in enumerate(lines):
        frame.paper.text(x, y - number * (AXIS + 1), frame.paper.fitted(line, room, SMALL), size=SMALL,
                        anchor=anchor)  # fmt: skip


def _to_the_next(frame: Frame, note: dict[str, Any]) -> float:
    """Return the pixels up to the next note of the same row of labels; a great many where none is."""
    own = float(note.get("xshift") or 0)
    place = [note.get(name) for name in ("x", "xref", "y", "yref", "yshift")]
    beside = [
        float(each.get("xshift") or 0)
        for each in frame.layout.get("annotations") or ()
        if [each.get(name) for name in ("x", "xref", "y", "yref", "yshift")] == place
    ]
    return min((each - own for each in beside if each > own), default=1e6)


def draw_legend(frame: Frame) -> None:
    """Write the names of traces, each with its colour."""
    for row, entries in enumerate(frame.legend):
        x, y = 2.0, frame.paper.drawing.height - 8 - row * LINE
        for name, trace, place in entries:
            tone = colour_of(trace_colour(trace, place))
            dash = _DASHES.get(str((trace.get("line") or {}).get("dash")))
            if trace.get("type") == "bar":
                opacity = float((trace.get("marker") or {}).get("opacity") or 1.0)
                tone = colour_of(trace_colour(trace, place), opacity)
                frame.paper.drawing.add(Rect(x, y - 0.5, 10, 5, fillColor=tone, strokeColor=None))
            else:
                frame.paper.drawing.add(
                    Line(x, y + 2.2, x + 10, y + 2.2, strokeColor=tone, strokeWidth=1.5,
                         strokeDashArray=dash)
                )  # fmt: skip
            frame.paper.text(x + 13, y, name, size=SMALL)
            x += frame.paper.width(name, SMALL) + 22


def _upright(frame: Frame, axis: Axis, at: float, room: float) -> None:
    drawn = [(axis.point(unit), label) for unit, label in axis.ticks]
    drawn = [(point, label) for point, label in drawn if axis.holds(point)]
    gap = abs(axis.end - axis.start) / max(len(drawn), 1)
    every = max(1, round(AXIS / gap)) if gap < AXIS else 1
    for point, label in drawn[::every]:
        lines = plain_lines(label)
        lines = lines if gap > len(lines) * AXIS else [plain(label)]
        for number, line in enumerate(lines):
            low = point - 2.3 - (number - (len(lines) - 1) / 2) * (AXIS + 1)
            frame.paper.text(at, low, frame.paper.fitted(line, room), anchor="end")


def _level(frame: Frame, axis: Axis, floor: float) -> None:
    drawn = [(axis.point(unit), label) for unit, label in axis.ticks if axis.holds(axis.point(unit))]
    longest = max((frame.tick_width(label) for _, label in drawn), default=0.0)
    slot = abs(axis.end - axis.start) / max(len(drawn), 1)
    if longest <= slot or (not axis.categories and len(drawn) < 2):
        for point, label in drawn:
            for line, text in enumerate(plain_lines(label)):
                frame.paper.text(point, floor - 8 - line * AXIS, text, anchor="middle")
        return
    every = max(1, round(7 / slot)) if slot < 7 else 1
    for point, label in drawn[::every]:
        words = frame.paper.fitted(plain(label), LONGEST_TICK)
        frame.paper.text(point + 2, floor - 7, words, anchor="end", turned=_TURN)


def _auto(share: float) -> str:
    return "start" if share < 1 / 3 else "end" if share > 2 / 3 else "middle"
