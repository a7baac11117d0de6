"""Figures of a monitor: the control chart, and the latest people beside the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.drawing.style import CONTEXT, FOCUS, INK, empty, finish
from audits.monitor.alarms import Alarm, alarm_name
from audits.monitor.dashboard import Drift, Point
from audits.stats.control import Chart
from audits.stats.text import count, number, percent


def control_chart(points: Sequence[Point], chart: Chart, alarms: Sequence[Alarm]) -> go.Figure:
    """Draw the share of flags over time, and below it the chart's value with its limit and all alarms."""
    if not points:
        return empty("No predictions have come in yet.")
    when = [_moment(point.received) for point in points]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08, row_heights=[0.5, 0.5])
    shown = [alarm for alarm in alarms if alarm.raised >= points[0].received]
    flags = [100 * point.flagged / point.people for point in points]
    values = [100 * point.high / chart.limit for point in points]
    people = [f"{count(point.flagged)} of {count(point.people)} people" for point in points]
    quiet = {"x": when, "showlegend": False}
    figure.add_scatter(
        **quiet,
        y=flags,
        mode="markers",
        marker={"color": INK, "size": 6},
        customdata=people,
        hovertemplate="%{x}<br>%{y:.1f}% flagged (%{customdata})<extra></extra>",
        row=1,
        col=1,
    )
    figure.add_scatter(
        **quiet,
        y=values,
        mode="lines",
        line={"color": INK, "width": 2},
        hovertemplate="%{x}<br>%{y:.0f}% of the limit<extra></extra>",
        row=2,
        col=1,
    )
    figure.add_scatter(
        x=[_moment(alarm.raised) for alarm in shown],
        y=[100.0] * len(shown),
        mode="markers",
        marker={"color": FOCUS, "size": 12, "symbol": "x"},
        customdata=[
            f"alarm {' · '.join(alarm_name(alarm.place, alarm.about))}, batch {alarm.batch}"
            for alarm in shown
        ],
        hovertemplate="%{x}<br>%{customdata}<extra></extra>",
        name="alarm",
        showlegend=bool(shown),
        row=2,
        col=1,
    )
    line = {"line": {"color": INK, "dash": "dot", "width": 1}, "col": 1}
    figure.add_hline(100 * chart.rate, row=1, **line)
    figure.add_hline(100, row=2, annotation_text="limit", annotation_position="top left", **line)
    figure.update_yaxes(title="flagged (%)", range=[0, 1.25 * max(100 * chart.rate, *flags)], row=1, col=1)
    figure.update_yaxes(title="chart (% of limit)", range=[0, 1.25 * max(100.0, *values)], row=2, col=1)
    figure.update_xaxes(range=_span(when), nticks=5)
    some, flagged = sum(point.people for point in points), sum(point.flagged for point in points)
    alt = (
        f"Control chart: {percent(flagged / some, some)} of {count(some)} people flagged, "
        f"{percent(chart.rate, 1000)} count as in control; the chart stands at "
        f"{100 * points[-1].value / chart.limit:.0f}% of its limit; {len(shown)} alarms."
    )
    return finish(figure, height=360, alt=alt)


def drift(found: Drift, reference: np.ndarray, threshold: float) -> go.Figure:
    """Draw the distribution of the latest people's sensitivity beside the baseline's."""
    if found.people < 2:
        return empty("Too few predictions have come in to compare.")
    top = max(float(np.quantile(reference, 0.995)), 1.2 * threshold)
    edges = np.linspace(0.0, top, 13)
    figure = go.Figure()
    for name, values, look in (
        ("baseline", reference, {"color": CONTEXT, "width": 2}),
        (f"latest {count(found.people)}", found.values, {"color": FOCUS, "width": 2}),
    ):
        shares = np.histogram(np.minimum(values, top), edges)[0] / len(values)
        figure.add_scatter(
            x=(edges[:-1] + edges[1:]) / 2,
            y=100 * shares,
            mode="lines",
            line={**look, "shape": "hvh"},
            name=name,
            hovertemplate="%{x:.3g}: %{y:.1f}%<extra></extra>",
        )
    figure.add_vline(
        threshold,
        line={"color": INK, "width": 1.5},
        annotation_text="threshold",
        annotation_position="top left",  # above the line it would lie on the legend of a narrow page
    )
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
