"""Differences as rows: the interval that decides first and thickest, the others thin, the limit behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from audits.drawing.marks import add_legend, decisive, dot, named_above, reaching
from audits.drawing.style import CONTEXT, GRAY, INK, distinct, empty, finish, rows_named
from audits.stats import Estimate, Judgment
from audits.stats.text import number

_MOST = 12


def differences(
    judged: Judgment,
    rows: Sequence[tuple[str, Estimate, str]],
    *,
    title: str,
    unit: float = 1.0,
    limit: tuple[float | None, float | None] | None = None,
    ordered: bool = True,
) -> go.Figure:
    """Draw differences and the interval that a verdict follows from.

    Parameters
    ----------
    judged : Judgment
        Its interval is the first trace, in the row that states the same one.
    rows : sequence of (name, Estimate, what a click selects)
    title : str
        Of the axis.
    unit : float
        What values are drawn times.
    limit : pair of float or None, optional
        Ends of what does not matter; None is without end. By default that of `judged`.
    ordered : bool
        Whether the largest stands highest, and of many only the largest are drawn; otherwise the first.
    """
    known = [row for row in rows if row[1].value is not None]
    if not known:
        return empty("There is nobody to compare with.")
    known = sorted(known, key=lambda row: row[1].value or 0.0) if ordered else known[::-1]
    if ordered and len(known) > _MOST:
        title = f"{title} · {_MOST} of {len(known)}, the others in the table"
        sizes = [(row[1] != judged.interval, -abs(row[1].value or 0.0)) for row in known]
        largest = sorted(range(len(known)), key=sizes.__getitem__)[:_MOST]
        known = [known[place] for place in sorted(largest)]
    names, found = distinct([name for name, _, _ in known], longest=44), [each for _, each, _ in known]
    first = max((k for k, each in enumerate(found) if each == judged.interval), default=None)
    figure = go.Figure() if first is None else go.Figure(decisive(judged, first, unit))
    said = [_interval_label(each, unit) for each in found]
    told = [[name, words] for name, words in zip(names, said, strict=True)]
    drawn = [(own, each, people) for own, (_, each, people) in zip(told, known, strict=True)]
    add_thin(figure, drawn, "%{customdata[0]}: %{customdata[1]}<extra></extra>", first, unit)
    low, high = limit or (judged.immaterial_low, judged.immaterial_high)
    if high is not None:
        ends = (unit * (0.0 if low is None else low), unit * high)
        figure.add_vrect(*ends, fillcolor=GRAY, opacity=0.12, line_width=0)
        values = [
            unit * end for each in found for end in (each.value, each.low, each.high) if end is not None
        ]
        named_above(figure, "too little to matter", ends, (min(*values, *ends), max(*values, *ends)))
    figure.add_vline(x=0.0, line={"color": INK, "width": 1})
    figure.update_xaxes(title=title)
    each = rows_named(figure, names)
    alt = "; ".join(f"{name} {end}" for name, end in told)
    return finish(figure, height=120 + (each + 4) * len(names), alt=f"{title.replace('<br>', ' ')}: {alt}.")


def add_thin(
    figure: go.Figure,
    rows: Sequence[tuple[Any, Estimate, str]],
    hover: str,
    first: int | None,
    unit: float = 1.0,
    colors: str | Sequence[str] = INK,
    size: float = 7,
    thickness: float = 1,
) -> None:
    """Draw estimates thin, the first lowest; the one in row `first` leaves its place to what decides.

    Parameters
    ----------
    rows : sequence of (what `hover` says of it, Estimate, what a click selects)
    """
    thin = [
        each if k != first else Estimate(each.value, None, None, each.n, "")
        for k, (_, each, _) in enumerate(rows)
    ]
    figure.add_scatter(
        x=[unit * (each.value or 0.0) for each in thin],
        y=list(range(len(rows))),
        mode="markers",
        marker={"color": colors, "size": size, "opacity": [float(k != first) for k in range(len(rows))]},
        error_x=reaching(thin, unit, thickness=thickness),
        customdata=[told for told, _, _ in rows],
        meta=[people for _, _, people in rows],
        hovertemplate=hover,
        showlegend=False,
    )
    if CONTEXT in colors:  # which must not look like an interval of no width
        add_legend(figure, [("too few people for an interval", dot(CONTEXT))])


def _interval_label(found: Estimate, unit: float) -> str:
    """Value and interval as figures say them."""
    value, low, high = (
        "" if end is None else number(unit * end) for end in (found.value, found.low, found.high)
    )
    return f"{value} ({low} to {high})" if low and high else value
