"""Figures of a monitor: the control chart, and the latest people beside the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.drawing.style import ACCENT, CONTRAST, GREY, INK, empty, finish
from audits.monitor.alarms import Alarm
from audits.monitor.dashboard import Drift, Point
from audits.stats.control import Chart
from audits.stats.words import count, number, percent

__all__ = ["control_chart", "drift", "points_frame"]


def control_chart(points: Sequence[Point], chart: Chart, alarms: Sequence[Alarm]) -> go.Figure:
    """Draw the share of flags over time, and below it the chart's value with its limit and alarms."""
    if not points:
        return empty("No predictions have come in yet.")
    when = [_moment(point.received) for point in points]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08, row_heights=[0.5, 0.5])
    shown = [alarm for alarm in alarms if alarm.raised >= points[0].received]
    shares = [100 * point.flagged / point.people for point in points]
    heights = [100 * point.high / chart.limit for point in points]
    raised, limit = [_moment(alarm.raised) for alarm in shown], [100.0] * len(shown)
    flags = [f"{count(point.flagged)} of {count(point.people)} people" for point in points]
    words = [f"alarm {alarm.place}: {alarm.about}, batch {alarm.batch}" for alarm in shown]
    cross = {"color": CONTRAST, "size": 12, "symbol": "x"}
    over = "%{x}<br>%{y:.0f} % of the limit"
    _mark(figure, 1, when, shares, "%{x}<br>%{y:.1f} % flagged (%{customdata})", flags)
    _mark(figure, 2, when, heights, over, mode="lines+markers", marker={"color": ACCENT, "size": 4})
    _mark(figure, 2, raised, limit, "%{x}<br>%{customdata}", words, marker=cross)
    control = f"in control up to {percent(chart.rate, 1000)}"
    _level(figure, 1, 100 * chart.rate, control, {"color": INK, "dash": "dot", "width": 1})
    _level(figure, 2, 100, "alarm", {"color": CONTRAST, "width": 1.5})
    for row, title, highest in (
        (1, "flagged (%)", max(100 * chart.rate, *shares)),
        (2, "chart (% of its limit)", max(100.0, *heights)),
    ):
        figure.update_yaxes(title=title, range=[0, 1.25 * highest], row=row, col=1)
    figure.update_xaxes(range=_span(when), nticks=5)
    people, flagged = sum(point.people for point in points), sum(point.flagged for point in points)
    alt = (
        f"Control chart: {percent(flagged / people, people)} of {count(people)} people flagged, "
        f"{percent(chart.rate, 1000)} count as in control; the chart stands at "
        f"{100 * points[-1].value / chart.limit:.0f} "
        f"% of its limit; {len(shown)} alarms."
    )
    return finish(figure, height=420, alt=alt)


def _mark(
    figure: go.Figure,
    row: int,
    x: Sequence[datetime],
    y: Sequence[float],
    hover: str,
    words: Sequence[str] = (),
    **look: Any,
) -> None:
    look = {"mode": "markers", "marker": {"color": ACCENT, "size": 6}, "line": {"color": ACCENT}, **look}
    hover = f"{hover}<extra></extra>"
    trace = go.Scatter(x=x, y=y, hovertemplate=hover, customdata=words, showlegend=False, **look)
    figure.add_trace(trace, row=row, col=1)


def _level(figure: go.Figure, row: int, y: float, words: str, line: dict[str, Any]) -> None:
    figure.add_hline(y, line=line, annotation_text=words, annotation_position="top left", row=row, col=1)


def drift(found: Drift, reference: np.ndarray, threshold: float) -> go.Figure:
    """Draw the distribution of the latest people's sensitivity beside the baseline's."""
    if found.people < 2:
        return empty("Too few predictions have come in to compare.")
    top = max(float(np.quantile(reference, 0.995)), 1.2 * threshold)
    edges = np.linspace(0.0, top, 31)
    figure = go.Figure()
    for name, values, colour in (
        ("baseline", reference, GREY),
        (f"latest {count(found.people)}", found.values, ACCENT),
    ):
        shares = np.histogram(np.minimum(values, top), edges)[0] / len(values)
        figure.add_trace(
            go.Bar(
                x=(edges[:-1] + edges[1:]) / 2,
                y=100 * shares,
                width=np.diff(edges),
                marker={"color": colour, "opacity": 0.65},
                name=name,
                hovertemplate="%{x:.3g}: %{y:.1f} %<extra></extra>",
            )
        )
    figure.add_vline(
        threshold,
        line={"color": INK, "width": 1.5},
        annotation_text="threshold",
        annotation_position="top left",  # above the line it would lie on the legend of a narrow page
    )
    figure.update_layout(barmode="overlay")
    figure.update_xaxes(title="sensitivity to protected status", rangemode="tozero")
    figure.update_yaxes(title="share of people (%)", rangemode="tozero")
    alt = (
        f"Sensitivity of the latest {count(found.people)} people beside the baseline: largest gap of the "
        f"distributions {number(found.distance)}."
    )
    return finish(figure, height=320, alt=alt)


def points_frame(points: Sequence[Point], limit: int) -> pd.DataFrame:
    """Return the chart's stretches as a table."""
    rows = [
        (_moment(p.received), p.person, p.people, p.flagged, p.mean, p.high / limit, p.value / limit)
        for p in points
    ]
    columns = ["time", "first person", "people", "flagged", "mean sensitivity", "highest", "last"]
    return pd.DataFrame(rows, columns=columns)


def _span(when: Sequence[datetime]) -> list[datetime]:
    """Return a range of time around all points, of two minutes at least."""
    around = max((when[-1] - when[0]) * 0.03, timedelta(minutes=1) - (when[-1] - when[0]) / 2)
    return [when[0] - around, when[-1] + around]


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
