"""Figures as SVG without a browser: what a notebook keeps where no script runs, on GitHub and offline.

Draws what the figures of audits are made of: lines, dots and bars with their texts and error bars, on axes of
numbers and of names, with notes, lines and areas over them. What it does not know it leaves to Plotly.
"""

from __future__ import annotations

import functools
import html
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.drawing.style import GRAY, INK, OKABE_ITO, round_ticks, short

_FONT = "'Source Sans 3', 'Segoe UI', Helvetica, Arial, sans-serif"
_GRID = "#ECEEF1"
_LINE = 1.3  # of a text's size: from one line to the next
_LEGEND_ROW = 18
_WIDE = 0.52  # of a text's size: a letter
_DASHES = {"dot": "2,3", "dash": "7,5", "dashdot": "7,4,2,4", "longdash": "11,5"}
_ANCHORS = {"left": "start", "center": "middle", "right": "end", "auto": "middle", None: "middle"}
_DRAWN = {"scatter", "bar"}
_TAG = re.compile(r"<[^>]*>")


@dataclass
class _Axis:
    """One axis: what its values are in pixels, from `start` to `end`; `across` is one of x."""

    layout: Any
    across: bool
    low: float
    high: float
    start: float
    end: float
    names: list[str]

    def at(self, value: Any) -> float:
        """Return the pixel of a value; of a name its place on the axis."""
        number = self.names.index(value) if isinstance(value, str) else float(value)
        return self.along((number - self.low) / (self.high - self.low or 1.0))

    def along(self, share: float) -> float:
        """Return the pixel at a share of the axis."""
        return self.start + share * (self.end - self.start)

    def through(self, place: float, other: _Axis) -> tuple[float, float, float, float]:
        """Return the ends of a line through a pixel of the axis, as long as the axis that it stands on."""
        return (
            (place, other.start, place, other.end) if self.across else (other.start, place, other.end, place)
        )

    def ticks(self) -> list[tuple[float, str]]:
        """Return where labels stand, and the labels."""
        if self.layout.visible is False or self.layout.showticklabels is False:
            return []
        values, texts = self.layout.tickvals, self.layout.ticktext
        if values is None and self.names:
            values = texts = self.names
        elif values is None:
            low, high = sorted((self.low, self.high))
            values = round_ticks(low, high, self.layout.nticks or 5)
            texts = [f"{short(value).replace('-', '−')}{self.layout.ticksuffix or ''}" for value in values]
        shown = [
            (self.at(value), str(text))
            for value, text in zip(values, texts or map(short, values), strict=False)
        ]
        first, last = sorted((self.start, self.end))
        return [(place, text) for place, text in shown if first - 1 <= place <= last + 1]


def to_svg(figure: Any, width: int = 720) -> str | None:
    """Return a figure as a text of SVG; None where it holds traces that only Plotly draws.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
    width : int
        Of the picture, in pixels; its height is the figure's.
    """
    traces = [trace for trace in figure.data if trace.visible in (None, True)]
    if not traces or any(trace.type not in _DRAWN for trace in traces):
        return None
    height = int(figure.layout.height or 360)
    axes = _axes(figure.layout, traces)
    area = _lay_out(figure.layout, axes, width, height)
    parts: list[str] = []
    for name, axis in axes.items():
        parts += _scale(axis, _crossing_axis(name, axes))
    shapes = sorted(figure.layout.shapes, key=lambda shape: shape.layer != "below")
    parts += [_shape(shape, axes, area) for shape in shapes if shape.layer == "below"]
    bases: dict[tuple[str, str, Any], float] = {}
    for place, trace in enumerate(traces):
        color = (trace.line.color if trace.type == "scatter" else None) or OKABE_ITO[place % len(OKABE_ITO)]
        across, up = axes[trace.xaxis or "x"], axes[trace.yaxis or "y"]
        if trace.type == "bar":
            beside = [each for each in traces if each.type == "bar" and _panel(each) == _panel(trace)]
            parts += _bars(trace, (across, up), color, figure.layout.barmode or "group", bases, beside)
        else:
            parts += _scatter(trace, across, up, color)
    parts += [_shape(shape, axes, area) for shape in shapes if shape.layer != "below"]
    parts += [_note(note, axes, area) for note in figure.layout.annotations if note.visible is not False]
    legend, under = _legend(figure, traces, area["x"][0], width)
    height += under
    parts = [
        f'<rect width="{width}" height="{height}" fill="white"/>',
        *legend,
        f'<g transform="translate(0,{under})">',
        *parts,
        "</g>",
    ]
    alt = html.escape(str((figure.layout.meta or {}).get("alt", "")), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{alt}" font-family="{_FONT}" font-size="13" fill="{INK}">'
        f"{''.join(parts)}</svg>"
    )


def _panel(trace: Any) -> tuple[str, str]:
    return trace.xaxis or "x", trace.yaxis or "y"


def _axes(layout: Any, traces: Sequence[Any]) -> dict[str, _Axis]:
    """Return every axis that is drawn on, with the ends of what it has to hold."""
    found: dict[str, _Axis] = {}
    for name in dict.fromkeys(name for trace in traces for name in _panel(trace)):
        letter = name[0]
        own = layout[f"{letter}axis{name[1:]}"]
        values = [value for trace in traces if name in _panel(trace) for value in _extent(trace, letter)]
        names = list(dict.fromkeys(value for value in values if isinstance(value, str)))
        if own.range is not None:
            low, high = map(float, own.range)
        elif names:
            low, high = -0.5, len(names) - 0.5
        else:
            numbers = [float(value) for value in values if _known(value)]
            low, high = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
            spare = 0.05 * (high - low) or 0.5
            low, high = low - spare * (low != 0), high + spare
        if own.autorange == "reversed" and own.range is None:
            low, high = high, low
        found[name] = _Axis(own, letter == "x", low, high, 0.0, 1.0, names)
    return found


def _extent(trace: Any, letter: str) -> list[Any]:
    """Return what an axis has to hold of a trace: values, the ends of errors, the edges of bars."""
    values = _as_list(getattr(trace, letter))
    found, error = list(values), getattr(trace, f"error_{letter}")
    bar = trace.type == "bar"
    along = bar and (trace.orientation == "h") == (letter == "x")
    apart = _step(values)
    for place, value in enumerate(values):
        if isinstance(value, str) or not _known(value):
            continue
        if (reach := _error_reach(error, place)) is not None:
            found += [value - reach[0], value + reach[1]]
        if bar and not along:
            half = (_nth(trace.width, place) or apart) / 2
            found += [value - half, value + half]
    return [*found, 0] if along else found


def _lay_out(
    layout: Any, axes: Mapping[str, _Axis], width: int, height: int
) -> dict[str, tuple[float, float]]:
    """Give every axis its pixels, beside labels, titles and margins; return those of the paper by letter."""
    margin = layout.margin
    right, top = float(width - (margin.r or 12)), margin.t if margin.t is not None else 36
    heads = [_size(note.text or "")[1] for note in layout.annotations if note.yref == "paper" and note.y >= 1]
    top = float(max(top, 26 + max(heads, default=0)) if layout.showlegend is not False else top)
    beside, under = 0.0, 0.0
    for name, axis in axes.items():
        if (_crossing_axis(name, axes).layout.domain or (0.0,))[0] >= 0.01:
            continue
        labels = [_size(text)[0] for _, text in axis.ticks()]
        title = axis.layout.title.text if axis.layout.visible is not False else None
        if axis.across:
            under = max(under, 20 * bool(labels) + (6 + _size(title)[1] if title else 0))
        else:
            beside = max(beside, max(labels, default=0) + 8 * bool(labels) + (22 if title else 0))
    # as Plotly does: a margin that is asked for holds labels and titles, and grows where they need more
    left, bottom = max(float(margin.l or 0), 8 + beside), height - max(float(margin.b or 0), 8 + under)
    area = {"x": (left, right), "y": (bottom, top)}
    for name, axis in axes.items():
        near, far = area[name[0]]
        axis.start, axis.end = (near + part * (far - near) for part in axis.layout.domain or (0.0, 1.0))
    return area


def _crossing_axis(name: str, axes: Mapping[str, _Axis]) -> _Axis:
    """Return the axis that another stands on."""
    other = "y" if name[0] == "x" else "x"
    anchor = axes[name].layout.anchor
    return (
        axes.get(anchor) or axes.get(other + name[1:]) or next(axes[key] for key in axes if key[0] == other)
    )


def _scale(axis: _Axis, other: _Axis) -> Iterator[str]:
    """Draw the lines, the labels and the title of an axis."""
    if axis.layout.visible is False:
        return
    ticks, title = axis.ticks(), axis.layout.title.text
    room = max(4, int(abs(axis.end - axis.start) / max(len(ticks), 1) / (13 * _WIDE)))
    for place, text in ticks:
        if axis.layout.showgrid is not False:
            yield _stroke(axis.through(place, other), _GRID, 1)
        if axis.across:
            shown = text if len(text) <= room else f"{text[: room - 1]}…"
            yield _text(shown, place, other.start + 16, "middle")
        else:
            yield _text(text, other.start - 6, place + 4, "end")
    low, high = sorted((axis.low, axis.high))
    if axis.layout.zeroline is not False and not axis.names and low <= 0 <= high:
        yield _stroke(axis.through(axis.at(0), other), GRAY, 1.5)
    middle = (axis.start + axis.end) / 2
    if title and axis.across:
        yield _text(title, middle, other.start + 38, "middle", size=12)
    elif title:
        turned = _text(title, 14, middle, "middle", size=12)
        yield f'<g transform="rotate(-90 14 {middle:.1f})">{turned}</g>'


def _scatter(trace: Any, across: _Axis, up: _Axis, color: str) -> Iterator[str]:
    """Draw the line, the error bars, the dots and the texts of a trace."""
    points = [
        (across.at(x), up.at(y)) if _known(x) and _known(y) else None
        for x, y in zip(_as_list(trace.x), _as_list(trace.y), strict=False)
    ]
    mode = trace.mode or "lines+markers"
    opacity = trace.opacity if trace.opacity is not None else 1
    if "lines" in mode:
        line = trace.line
        dash = _DASHES.get(line.dash or "", "")
        style = f'stroke="{color}" stroke-width="{line.width or 2}" opacity="{opacity}"'
        style += f' stroke-dasharray="{dash}"' if dash else ""
        for part in _unbroken(points):
            path = "L".join(f"{x:.1f},{y:.1f}" for x, y in part)
            fill = trace.fillcolor if trace.fill in {"toself", "tozeroy"} and trace.fillcolor else "none"
            yield f'<path d="M{path}" fill="{fill}" {style}/>'
    for letter, axis in (("x", across), ("y", up)):
        yield from _errors(getattr(trace, f"error_{letter}"), letter, axis, trace, points, color)
    for place, point in enumerate(points):
        if point is None:
            continue
        if "markers" in mode:
            yield _dot(trace.marker, place, point, color, opacity)
        if "text" in mode and trace.text is not None:
            text = _nth(trace.text, place)
            where = str(_nth(trace.textposition, place) or "middle center")
            beside = {"left": ("end", -8), "right": ("start", 8)}.get(where.split()[-1], ("middle", 0))
            over = {"top": -9, "bottom": 18}.get(where.split()[0], 4)
            yield _text(
                str(text or ""),
                point[0] + beside[1],
                point[1] + over,
                beside[0],
                color=_nth(trace.textfont.color, place) or INK,
                size=_nth(trace.textfont.size, place) or 13,
            )


def _dot(marker: Any, place: int, point: tuple[float, float], color: str, opacity: float) -> str:
    fill = _nth(marker.color, place) or color
    size = float(_nth(marker.size, place) if marker.size is not None else 6)
    symbol = str(_nth(marker.symbol, place) or "circle")
    edge, thick = _nth(marker.line.color, place), _nth(marker.line.width, place) or 0
    seen = _nth(marker.opacity, place)
    seen = opacity if seen is None else seen
    if symbol.endswith("-open"):
        fill, edge, thick = "white", fill, thick or 1.5
    style = f'fill="{fill}" opacity="{seen}"' + (
        f' stroke="{edge}" stroke-width="{thick}"' if edge and thick else ""
    )
    x, y = point
    if symbol.startswith(("square", "line")):
        half = size / 2
        wide = 1.0 if symbol.startswith("line-ns") else half
        return _box((x - wide, y - half, 2 * wide, size), style)
    if symbol.startswith(("diamond", "triangle")):
        half = size / 2 * 1.2
        corners = ((x, y - half), (x + half, y), (x, y + half), (x - half, y))
        return f'<polygon points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in corners)}" {style}/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size / 2:.1f}" {style}/>'


def _errors(
    error: Any, letter: str, axis: _Axis, trace: Any, points: Sequence[tuple[float, float] | None], color: str
) -> Iterator[str]:
    values = _as_list(getattr(trace, letter))
    for place, point in enumerate(points):
        reach = _error_reach(error, place)
        if point is None or reach is None:
            continue
        first, last = axis.at(float(values[place]) - reach[0]), axis.at(float(values[place]) + reach[1])
        ends = (first, point[1], last, point[1]) if letter == "x" else (point[0], first, point[0], last)
        own = _nth(trace.marker.color, place) if trace.type == "scatter" else None
        yield _stroke(ends, error.color or own or color, error.thickness or 2)


def _error_reach(error: Any, place: int) -> tuple[float, float] | None:
    """Return how far an error bar reaches below and above its value; None where there is none."""
    more = _nth(error.array, place)
    less = more if error.arrayminus is None else _nth(error.arrayminus, place)
    return (float(less), float(more)) if _known(less) and _known(more) else None


def _bars(
    trace: Any,
    panel: tuple[_Axis, _Axis],
    color: str,
    mode: str,
    bases: dict[tuple[str, str, Any], float],
    beside: Sequence[Any],
) -> Iterator[str]:
    """Draw the bars of a trace: beside those of others, on them, or where `offset` says."""
    flat = trace.orientation == "h"
    long, wide = panel if flat else panel[::-1]
    places, sizes = (trace.y, trace.x) if flat else (trace.x, trace.y)
    grouped = mode == "group" and trace.offset is None and len(beside) > 1
    share = 1 / len(beside) if grouped else 1.0
    ends: list[tuple[float, float] | None] = []
    for place, (at, size) in enumerate(zip(_as_list(places), _as_list(sizes), strict=False)):
        if not (_known(at) and _known(size)):
            ends.append(None)
            continue
        middle = float(wide.names.index(at)) if isinstance(at, str) else float(at)
        width = _nth(trace.width, place) or 0.9 * share * _step(places)
        offset = _nth(trace.offset, place)
        first = middle + (offset if offset is not None else -width / 2)
        if grouped:
            first = middle + (beside.index(trace) - len(beside) / 2) * width
        key = (*_panel(trace), (at, float(size) >= 0))
        base = _nth(trace.base, place) or (bases.get(key, 0.0) if mode in {"stack", "relative"} else 0.0)
        bases[key] = float(base) + float(size)
        near, far = sorted((long.at(base), long.at(float(base) + float(size))))
        low, high = sorted((wide.at(first), wide.at(first + width)))
        box = (near, low, far - near, high - low) if flat else (low, near, high - low, far - near)
        edge, thick = _nth(trace.marker.line.color, place) or "white", _nth(trace.marker.line.width, place)
        style = f'stroke="{edge}" stroke-width="{0.5 if thick is None else thick}"'
        fill, seen = _nth(trace.marker.color, place) or color, trace.opacity or 1
        yield _box(box, f'fill="{fill}" opacity="{seen}" {style}')
        center = ((near + far) / 2, (low + high) / 2) if flat else ((low + high) / 2, (near + far) / 2)
        ends.append(center)
        if trace.text is not None and trace.textposition != "none":
            ink = _nth(trace.textfont.color, place) or ("white" if trace.textposition == "inside" else INK)
            yield _text(str(_nth(trace.text, place) or ""), center[0], center[1] + 4, "middle", color=ink)
    yield from _errors(trace.error_x, "x", panel[0], trace, ends, INK)
    yield from _errors(trace.error_y, "y", panel[1], trace, ends, INK)


def _step(places: Any) -> float:
    """Return how far bars are apart; names are 1."""
    numbers = np.unique(
        [float(each) for each in _as_list(places) if _known(each) and not isinstance(each, str)]
    )
    return float(np.diff(numbers).min()) if len(numbers) > 1 else 1.0


def _shape(shape: Any, axes: Mapping[str, _Axis], area: Mapping[str, tuple[float, float]]) -> str:
    x0, x1 = (_pixel(value, "x", shape.xref, axes, area) for value in (shape.x0, shape.x1))
    y0, y1 = (_pixel(value, "y", shape.yref, axes, area) for value in (shape.y0, shape.y1))
    line = shape.line
    if shape.type == "line":
        return _stroke((x0, y0, x1, y1), line.color or INK, line.width or 2, line.dash)
    seen = 1 if shape.opacity is None else shape.opacity
    style = f'fill="{shape.fillcolor or "none"}" opacity="{seen}"'
    style += f' stroke="{line.color}" stroke-width="{line.width or 1}"' if line.color else ""
    return _box((min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)), style)


def _pixel(
    value: Any,
    letter: str,
    ref: str | None,
    axes: Mapping[str, _Axis],
    area: Mapping[str, tuple[float, float]],
) -> float:
    """Return the pixel of a place on the paper, on an axis, or on an axis' domain."""
    name = (ref or letter).split()[0]
    if name not in axes:
        first, last = area[letter]
        return first + float(value) * (last - first)
    axis = axes[name]
    return axis.along(float(value)) if str(ref).endswith("domain") else axis.at(value)


def _note(note: Any, axes: Mapping[str, _Axis], area: Mapping[str, tuple[float, float]]) -> str:
    """Draw a text where it stands; arrows are left out, their texts stay."""
    if note.visible is False or not note.text:
        return ""
    x = _pixel(note.x, "x", note.xref, axes, area) + (note.xshift or 0)
    y = _pixel(note.y, "y", note.yref, axes, area) - (note.yshift or 0)
    if note.showarrow is not False:
        x, y = x + (note.ax or 0), y + (note.ay if note.ay is not None else -30)
    size = note.font.size or 13
    high = _size(note.text, size)[1]
    top = {"bottom": y - high, "top": y}.get(note.yanchor or "middle", y - high / 2)
    anchor = _ANCHORS.get(note.xanchor, "middle")
    return _text(note.text, x, top + 0.95 * size, anchor, color=note.font.color or INK, size=size)


def _legend(figure: Any, traces: Sequence[Any], left: float, width: int) -> tuple[list[str], int]:
    """Name the traces in rows above the figure, where a legend is asked for; and how high all but one are."""
    shown = [
        (trace, OKABE_ITO[place % len(OKABE_ITO)])
        for place, trace in enumerate(traces)
        if trace.name and trace.showlegend is not False
    ]
    one = len(traces) == 1 and not (traces[0].showlegend or figure.layout.showlegend)
    if figure.layout.showlegend is False or one:
        return [], 0
    x, y, parts = left, 14.0, []
    for trace, color in shown:
        wide = 34 + _size(trace.name, 12)[0]
        if x > left and x + wide > width:
            x, y = left, y + _LEGEND_ROW
        ink = _nth(trace.marker.color, 0) or (trace.line.color if trace.type == "scatter" else None) or color
        parts.append(f'<circle cx="{x + 6:.1f}" cy="{y - 4:.1f}" r="5" fill="{ink}"/>')
        parts.append(_text(trace.name, x + 16, y, "start", size=12))
        x += wide
    return parts, round(y - 14)


def _text(text: str, x: float, y: float, anchor: str, *, color: str = INK, size: float = 13) -> str:
    """Write lines below each other; of Plotly's markup bold stays, the rest is taken off."""
    lines = text.replace("<br/>", "<br>").split("<br>")
    spans = "".join(
        f'<tspan x="{x:.1f}" dy="{0 if place == 0 else _LINE * size:.1f}">{_bold(line)}</tspan>'
        for place, line in enumerate(lines)
    )
    return f'<text y="{y:.1f}" text-anchor="{anchor}" fill="{color}" font-size="{size}">{spans}</text>'


def _bold(line: str) -> str:
    bold = "<b>" in line
    plain = html.escape(html.unescape(_TAG.sub("", line)))
    return f'<tspan font-weight="600">{plain}</tspan>' if bold else plain


def _size(text: str, size: float = 13) -> tuple[float, float]:
    """Return about how wide and high a text is, in pixels."""
    lines = [_TAG.sub("", line) for line in text.split("<br>")]
    return max(map(len, lines)) * _WIDE * size, len(lines) * _LINE * size


def _stroke(
    ends: tuple[float, float, float, float], color: str, width: float, dash: str | None = None
) -> str:
    x0, y0, x1, y1 = ends
    dashed = f' stroke-dasharray="{_DASHES[dash]}"' if dash in _DASHES else ""
    return (
        f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{color}" '
        f'stroke-width="{width}"{dashed}/>'
    )


def _box(box: tuple[float, float, float, float], style: str) -> str:
    x, y, width, height = box
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {style}/>'


def _unbroken(points: Iterable[tuple[float, float] | None]) -> Iterator[list[tuple[float, float]]]:
    """Yield the stretches of a line between its gaps."""
    part: list[tuple[float, float]] = []
    for point in [*points, None]:
        if point is not None:
            part.append(point)
        elif part:
            yield part
            part = []


def _as_list(values: Any) -> list[Any]:
    return [] if values is None else list(values)


def _nth(value: Any, place: int) -> Any:
    """Return what holds for one point of a trace: of a list its own, else what holds for all."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return value[place] if place < len(value) else None
    return value


def _known(value: Any) -> bool:
    return isinstance(value, str) or (value is not None and math.isfinite(float(value)))


def media(figure: Any) -> dict[str, Any]:
    """Return a figure as notebooks keep it: Plotly's data, and a picture for whatever runs no script.

    GitHub, nbconvert and a printed notebook show the picture.
    """
    shown = {"application/vnd.plotly.v1+json": json.loads(figure.to_json())}
    picture = to_svg(figure)
    return shown if picture is None else {**shown, "image/svg+xml": picture}


def in_notebooks(figure: Any) -> Any:
    """Return the figure as one that shows itself by `media` as the last line of a cell."""
    return _shown_by_media()(figure)


@functools.cache
def _shown_by_media() -> type:
    import plotly.graph_objects as go  # late: whoever looks at no figure needs no Plotly

    class Figure(go.Figure):
        """A Plotly figure with its picture beside it."""

        def _ipython_display_(self) -> None:
            from IPython.display import display

            display(media(self), raw=True)

        def __reduce__(self) -> Any:
            return go.Figure(self).__reduce__()

    return Figure
