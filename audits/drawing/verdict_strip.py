"""A strip above a figure: the interval that a verdict follows from, with the limit behind it."""

from __future__ import annotations

import math

import plotly.graph_objects as go

from audits.drawing.marks import decisive
from audits.drawing.style import CLEAR, GRAY, INK, annotate, describe, wrap_title
from audits.stats import Judgment
from audits.stats.badges import interval_text

_STRIP, _GAP = 76, 64  # pixels of the strip, and below it for its axis and a legend
_REACH = 30.0  # points to both sides, unless the interval reaches further


def with_strip(figure: go.Figure, judged: Judgment, label: str, *, unit: float = 1.0) -> go.Figure:
    """Return a finished figure below the interval that decides, whose trace comes first.

    Parameters
    ----------
    figure : Figure
        With axes x and y.
    judged : Judgment
    label : str
        What the interval is of.
    unit : float
        What its values are drawn times: 100 for percentage points.
    """
    interval, layout = judged.interval, figure.layout
    margin = layout.margin.t + layout.margin.b
    inner = layout.height - margin
    said = wrap_title(describe(label, longest=98), 50)
    strip = _STRIP + 17 * said.count("<br>")
    whole = inner + strip + _GAP
    first = decisive(judged, 0, unit).update(xaxis="x2", yaxis="y2")
    made = go.Figure(data=(first, *figure.data), layout=layout)
    ends = [abs(unit * end) for end in (interval.low, interval.value, interval.high) if end is not None]
    far = max(ends, default=0.0)
    low, high = judged.immaterial_low, judged.immaterial_high
    if high is not None:
        far = max(far, 1.5 * abs(unit * high))
    edge = max(1.05 * far, _REACH if unit == 100 else 0.0) or 1.0
    made.update_layout(
        height=whole + margin,
        yaxis_domain=[0.0, inner / whole],
        xaxis2={"anchor": "y2", "range": [-edge, edge]},
        yaxis2={
            "domain": [1 - strip / whole, 1.0],
            "range": [-0.7, 2 * strip / _STRIP - 0.7],
            "visible": False,
        },
        legend={"y": (inner + 6) / whole},
    )
    shapes = [{"type": "line", "x0": 0, "x1": 0, "line": {"color": INK, "width": 1}}]
    if high is not None:
        start = -edge if low is None or not math.isfinite(low) else unit * low
        look = {"fillcolor": GRAY, "opacity": 0.16, "line": {"width": 0}, "layer": "below"}
        shapes.append({"type": "rect", "x0": max(start, -edge), "x1": unit * high, **look})
    where = {"xref": "x2", "yref": "y2 domain", "y0": 0, "y1": 0.6 * _STRIP / strip}
    made.layout.shapes = [*made.layout.shapes, *({**where, **shape} for shape in shapes)]
    said += f"<br><b>{interval_text(judged) or 'no interval'}</b>"
    left = {"xref": "paper", "x": 0, "xanchor": "left", "xshift": CLEAR, "yref": "y2 domain", "y": 1.0}
    annotate(made, [{**left, "yanchor": "top", "align": "left", "showarrow": False, "text": said}])
    return made
