"""Estimates as rows: a dot with its interval, and a thin line for a wider range; at most twelve at first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from audits.drawing.differences import add_thin
from audits.drawing.marks import segments
from audits.drawing.style import CONTEXT, FOCUS, INK, distinct, empty, finish, rows_named
from audits.stats import Estimate
from audits.stats.text import count

MAX_ROWS, MIN_PEOPLE = 12, 10
"""Rows that a figure shows, the table holds all; people below whom an interval may leave the figure."""


@dataclass(frozen=True)
class IntervalRow:
    """One estimate: its name, the people it stands for, and a range around it that is drawn thin.

    Without an interval it is drawn gray. `focus` marks the group that the page's sentence is about.
    """

    name: str
    estimate: Estimate
    people: str = ""
    outer: tuple[float, float] | None = None
    focus: bool = False


def interval_rows(
    rows: Sequence[IntervalRow],
    *,
    title: str,
    alt: str,
    unit: float = 1.0,
    ends: tuple[float, float] | None = None,
    nothing: str = "There is nobody to count.",
) -> go.Figure:
    """Draw estimates below each other, the first on top.

    Parameters
    ----------
    title : str
        Of the axis.
    unit : float
        What values are drawn times.
    ends : pair of float, optional
        Of the axis; else from 0 to the largest value.
    nothing : str
        What is said where no row has a value.
    """
    known = [row for row in rows if row.estimate.value is not None]
    if not known:
        return empty(nothing)
    kept = known[:MAX_ROWS]
    if not any(row.focus for row in kept):
        kept = [
            *kept[: MAX_ROWS - 1],
            *([row for row in known if row.focus] or known[MAX_ROWS - 1 : MAX_ROWS]),
        ]
    kept = list(dict.fromkeys(kept))[::-1]
    figure = go.Figure()
    outer = [(k, row.outer) for k, row in enumerate(kept) if row.outer is not None]
    if outer:
        ranges = [((unit * low, k), (unit * high, k)) for k, (low, high) in outer]
        figure.add_trace(segments(ranges, CONTEXT))
    names = [
        f"{name} ({count(row.estimate.n)})"
        for name, row in zip(distinct([row.name for row in kept], longest=44), kept, strict=True)
    ]
    colors = [FOCUS if row.focus else INK if row.estimate.low is not None else CONTEXT for row in kept]
    told = [(name, row.estimate, row.people) for name, row in zip(names, kept, strict=True)]
    hover = "%{customdata}: %{x:.3g}<extra></extra>"
    add_thin(figure, told, hover, None, unit, colors, size=9, thickness=3)
    more = f" · {len(kept)} of {len(known)} rows" if len(known) > len(kept) else ""
    far = [_reach(row) for row in kept]
    figure.update_xaxes(title=f"{title}{more}", range=ends or [0.0, 1.05 * unit * max(*far, 1e-9)])
    each = rows_named(figure, names)
    return finish(figure, height=90 + each * len(kept), alt=alt)


def _reach(row: IntervalRow) -> float:
    """Return how far a row's marks go to the right; of few people, without the interval."""
    found = row.estimate
    high = found.high if found.high is not None and found.n >= MIN_PEOPLE else found.value
    return max(high or 0.0, row.outer[1] if row.outer else 0.0)
