"""What marks mean: one look a verdict in every figure, and a legend that names each mark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go

from audits.drawing.style import CONTEXT, CONTRAST, FOCUS, INK, annotate
from audits.stats import EVIDENCE, INSUFFICIENT, VERDICTS, Estimate, Judgment

Place = tuple[float | None, float]
_MAX_TICKS = 6
_ROUND_FAR = (1.0, 2.0, 5.0)
_ROUND = (1.0, 1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 2.0, 3.0, 5.0, 7.0, 8.0, 9.0)


def verdict_look(verdict: str | None) -> tuple[str, str]:
    """Return the color and the symbol of what has this verdict: gray where people are too few."""
    if verdict == INSUFFICIENT:
        return CONTEXT, "circle"
    return (CONTRAST, "circle") if verdict == EVIDENCE else (INK, "circle")


def dot(color: str, symbol: str = "circle") -> dict[str, Any]:
    """Return a dot for `add_legend`."""
    line = {"color": color, "width": 1.5}
    return {"mode": "markers", "marker": {"color": color, "symbol": symbol, "size": 9, "line": line}}


def box(color: str) -> dict[str, Any]:
    """Return a bar for `add_legend`."""
    line = {"color": color, "width": 1.5}
    return {"mode": "markers", "marker": {"color": color, "line": line, "symbol": "square", "size": 10}}


def dashes(color: str, dash: str = "dot", width: float = 2) -> dict[str, Any]:
    """Return a line for `add_legend`."""
    return {"mode": "lines", "line": {"color": color, "dash": dash, "width": width}}


def decisive(judged: Judgment, y: Any, unit: float = 1.0) -> go.Scatter:
    """Return the trace of the interval that a verdict follows from: the first of an audit's first figure.

    Parameters
    ----------
    judged : Judgment
    y : str or number
        The row that it stands in.
    unit : float
        What values are drawn times: 100 for percentage points.

    Returns
    -------
    plotly.graph_objects.Scatter
        Low, value and high as x, in the focus color; dashed and gray where the verdict rests on what cannot
        be trusted. ``meta`` holds value, low and high as results.json states them.
    """
    found = judged.interval
    known = [each for each in (found.low, found.value, found.high) if each is not None]
    trusted = judged.badge != "no verdict"
    color = FOCUS if trusted else CONTEXT
    size = [0, 12, 0] if len(known) == 3 else 12
    return go.Scatter(
        x=[unit * each for each in known],
        y=[y] * len(known),
        mode="lines+markers",
        line={"color": color, "width": 4, "dash": "solid" if trusted else "dash"},
        marker={"color": color, "size": size, "opacity": 1},
        meta={"value": found.value, "low": found.low, "high": found.high},
        showlegend=False,
        hoverinfo="skip",
        cliponaxis=False,
    )


def whiskers(
    values: Sequence[float], ends: Iterable[tuple[float | None, float | None]], **look: Any
) -> dict[str, Any]:
    """Return error bars from `values` to their `ends`; none where an end is unknown."""
    both = list(zip(values, ends, strict=True))
    return {
        "type": "data",
        "symmetric": False,
        "array": [0.0 if high is None else high - value for value, (_, high) in both],
        "arrayminus": [0.0 if low is None else value - low for value, (low, _) in both],
        "color": INK,
        "thickness": 1.4,
        **look,
    }


def reaching(estimates: Iterable[Estimate], unit: float = 1.0, **look: Any) -> dict[str, Any]:
    """Return the error bars of estimates that are drawn at `unit` times their value."""
    known = [
        [None if end is None else unit * end for end in (each.value, each.low, each.high)]
        for each in estimates
    ]
    return whiskers([value or 0.0 for value, _, _ in known], [(low, high) for _, low, high in known], **look)


def segments(ends: Iterable[tuple[Place, Place]], color: str, width: float = 2, **line: Any) -> go.Scatter:
    """Return lines, each from one place (x, y) to another; nothing is told where they are pointed at."""
    path = [place for pair in ends for place in (*pair, (None, None))]
    return go.Scatter(
        x=[x for x, _ in path],
        y=[y for _, y in path],
        mode="lines",
        line={"color": color, "width": width, **line},
        hoverinfo="skip",
        showlegend=False,
    )


def add_legend(figure: go.Figure, marks: Iterable[tuple[str, dict[str, Any]]]) -> go.Figure:
    """Name marks in the legend; the traces that do so are empty and come last, where they move no others."""
    for name, look in marks:
        figure.add_trace(go.Scatter(x=[None], y=[None], name=name, showlegend=True, hoverinfo="skip", **look))
    return figure


def named_above(
    figure: go.Figure, text: str, marked: tuple[float, float], drawn: tuple[float, float]
) -> go.Figure:
    """Name a line or a band above the plot, where it is; the name runs to where more room is.

    Parameters
    ----------
    marked : pair of float
        Ends of the band; of a line its place twice.
    drawn : pair of float
        About where the axis ends.
    """
    low, high = drawn
    part = ((marked[0] + marked[1]) / 2 - low) / ((high - low) or 1.0)
    side = "left" if part < 0.35 else "right" if part > 0.65 else "center"
    at = {"left": marked[0], "right": marked[1], "center": (marked[0] + marked[1]) / 2}[side]
    where = {"x": at, "xanchor": side, "yref": "paper", "y": 1, "yanchor": "bottom", "showarrow": False}
    annotate(figure, [{**where, "text": text}])
    return figure


def ratio_axis(values: Iterable[float | None], title: str) -> dict[str, Any]:
    """Return a log axis that holds 1 and all `values`, with ticks at round numbers."""
    known = [1.0, *(value for value in values if value is not None and value > 0)]
    least, most = min(known), max(known)
    pad = max((most / least) ** 0.06, 1.01)
    low, high = least / pad, most * pad
    steps = _ROUND if most / least < 20 else _ROUND_FAR
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ladder = [round(10.0**decade * step, 12) for decade in decades for step in steps]
    inside = [value for value in ladder if least * 0.999 <= value <= high]  # 1 itself, if nothing is below
    above = thin_ticks([value for value in inside if value >= 1], _MAX_TICKS, high / low)
    below = thin_ticks([1 / value for value in inside[::-1] if value <= 1], _MAX_TICKS, high / low)
    ticks = sorted({*above, *(round(1 / value, 12) for value in below)})  # 1 is among them
    return {
        "type": "log",
        "title": title,
        "range": [math.log10(low), math.log10(high)],
        "tickvals": ticks,
        "ticktext": [f"{value:g}" if value < 1e5 else f"{value:.0e}" for value in ticks],
    }


def thin_ticks(values: Sequence[float], most: int, span: float | None = None) -> list[float]:
    """Return about `most` of the rising positive `values`, the first and well apart on a log scale.

    `most` are those that an axis of `span` times its least value has room for; by default it ends with them.

    Examples
    --------
    >>> thin_ticks([10, 20, 40, 50, 80, 85, 160], 4)
    [10, 20, 40, 80, 160]
    """
    kept: list[float] = []
    apart = (span or values[-1] / values[0]) ** (1 / most) * 0.999 if values else 1.0
    for value in values:
        if not kept or value >= kept[-1] * apart:
            kept.append(value)
    return kept


def verdicts_named(figure: go.Figure, verdicts: Iterable[str | None]) -> go.Figure:
    """Name the looks of the verdicts that occur."""
    seen = set(verdicts)
    shown = [(legend_name(each), dot(*verdict_look(each))) for each in VERDICTS if each in seen]
    return add_legend(figure, shown)


def legend_name(verdict: str) -> str:
    """Return what legends call a verdict: as badges do."""
    names: dict[str, str] = {EVIDENCE: "difference found", INSUFFICIENT: "can't tell yet"}
    return names.get(verdict, verdict)
