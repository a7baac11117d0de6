"""Figures of an explain audit: what is left, one column level by level, and each level."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from audits.drawing.marks import dashes, decisive, dot, named, reaching
from audits.drawing.selected import of_value, people_id
from audits.drawing.style import CONTEXT, FOCUS, GREY, INK, distinct, empty, finish, rows_named
from audits.explain.result import ExplainResult
from audits.explain.text import interval_words, points
from audits.stats import AVERAGE, Estimate
from audits.stats.words import people as people_words

__all__ = ["left", "levels", "values"]

_MOST = 12
_ABOVE = 44  # letters above a row, on a phone too
_ENOUGH = 0.8  # of the source comparable, for a row to be trusted


def _interval_rows(rows: Sequence[tuple[str, Estimate, bool]]) -> go.Scatter:
    """Draw estimates below the first row; those not trusted are gray and dashed."""
    return go.Scatter(
        x=[100 * (found.value or 0.0) for _, found, _ in rows],
        y=list(range(len(rows) - 1, -1, -1)),
        mode="markers",
        marker={
            "color": [INK if trusted else CONTEXT for _, _, trusted in rows],
            "symbol": ["circle" if trusted else "circle-open" for _, _, trusted in rows],
            "size": 8,
        },
        error_x=reaching([found for _, found, _ in rows], 100.0),
        customdata=[name for name, _, _ in rows],
        hovertemplate="%{customdata}: %{x:.1f} points<extra></extra>",
        showlegend=False,
    )


def left(result: ExplainResult) -> go.Figure:
    """Draw the interval that decides, then the gap, and what is left of it with each column."""
    judged, together = result.judged, result.together
    if result.gap.value is None:
        return empty("There is no gap to explain.")
    rows = [("overall", result.gap, True)]
    if judged.decided_by != AVERAGE and together.unexplained.value is not None:
        rows.append(("like for like, on average", together.unexplained, True))
    for item in result.each[:_MOST]:
        if item.unexplained.value is not None:
            rows.append((f"{item.name} alone", item.unexplained, item.source_covered >= _ENOUGH))
    decides = judged.decided_by.removeprefix("level: ")
    first = "like for like, on average" if decides == AVERAGE else f"like for like at {decides}"
    figure = go.Figure(decisive(judged, len(rows), 100.0))
    trusted = [row for row in rows if row[2]]
    figure.add_trace(_interval_rows(rows))
    if len(trusted) < len(rows):
        _dash(figure, rows)
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    figure.add_vline(x=100 * result.gap.value, line={"color": GREY, "dash": "dot", "width": 2})
    named(figure, [("decides", dashes(FOCUS, "solid", 4)), ("the gap overall", dashes(GREY))])
    named(figure, [("for reading", dot(INK))])
    if len(trusted) < len(rows):
        named(figure, [("too few comparable", dot(CONTEXT, "circle-open"))])
    labels = distinct([first, *(name for name, _, _ in rows)], longest=_ABOVE)
    each = rows_named(figure, labels[::-1])
    figure.update_xaxes(title="difference, source minus target (percentage points)")
    alt = f"A gap of {points(result.gap.value)}; {interval_words(judged)}."
    return finish(figure, height=120 + each * len(labels), alt=alt)


def _dash(figure: go.Figure, rows: Sequence[tuple[str, Estimate, bool]]) -> None:
    """Draw the intervals that are not trusted dashed instead."""
    marks = figure.data[1].error_x
    for k, (_, found, trusted) in enumerate(rows):
        if trusted or found.low is None or found.high is None:
            continue
        ends = [list(marks.array), list(marks.arrayminus)]
        ends[0][k] = ends[1][k] = 0.0
        marks.array, marks.arrayminus = ends
        line = {"color": CONTEXT, "width": 1.4, "dash": "dash"}
        where, reach = [len(rows) - 1 - k] * 2, [100 * found.low, 100 * found.high]
        figure.add_trace(
            go.Scatter(x=reach, y=where, mode="lines", line=line, showlegend=False, hoverinfo="skip")
        )


def levels(result: ExplainResult) -> go.Figure:
    """Draw what is left at the levels that are covered, the largest first."""
    found = sorted(
        (row for row in result.levels if row.covered), key=lambda row: -abs(row.difference.value or 0.0)
    )[:_MOST]
    rows = [(f"{row.attribute} {row.level}", row.difference, True) for row in found]
    figure = go.Figure(_interval_rows(rows))
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    each = rows_named(figure, distinct([name for name, _, _ in rows], longest=_ABOVE)[::-1])
    figure.update_xaxes(title="difference left, source minus target (percentage points)")
    return finish(figure, height=90 + each * len(rows), alt=f"What is left at {len(rows)} levels.")


def _people(result: ExplainResult, side: str, names: list[str]) -> list[str]:
    """Return whom the dots of one group stand for, level by level; nobody where a group is several."""
    group = result.options.get(side)
    if not isinstance(group, dict) or not all(isinstance(value, str) for value in group.values()):
        return []
    column = result.each[0].columns[0]
    found = [of_value(column, name, names) for name in names]
    return [people_id({"group": group}, *terms) if terms else "" for terms in found]


def values(result: ExplainResult) -> go.Figure:
    """Draw both groups' rates at each level of the column that changes the gap most, joined by a line."""
    if not result.values:
        return empty("No column may explain the gap.")
    shown = result.values[::-1]
    places = list(range(len(shown)))
    figure = go.Figure()
    names = distinct([result.source, result.target], longest=46)
    for side, name, color in (("source", names[0], FOCUS), ("target", names[1], INK)):
        people = [getattr(row, f"{side}_people") for row in shown]
        rates = [getattr(row, f"{side}_rate") for row in shown]
        figure.add_trace(
            go.Scatter(
                x=[None if rate is None else 100 * rate for rate in rates],
                y=places,
                mode="markers",
                marker={"color": color, "size": 10},
                customdata=people,
                text=[people_words(n) for n in people],
                meta=_people(result, side, [row.value for row in shown]),
                name=name,
                hovertemplate="%{x:.1f}% of %{text}<extra>" + name + "</extra>",
            )
        )
    pairs = [(row.source_rate, row.target_rate, place) for place, row in enumerate(shown)]
    known = [(one, other, place) for one, other, place in pairs if one is not None and other is not None]
    x = [each for one, other, _ in known for each in (100 * one, 100 * other, None)]
    y = [each for _, _, place in known for each in (place, place, None)]
    line = {"color": GREY, "width": 1.4}
    figure.add_trace(go.Scatter(x=x, y=y, mode="lines", line=line, showlegend=False, hoverinfo="skip"))
    each = rows_named(figure, distinct([row.value for row in shown], longest=_ABOVE))
    figure.update_xaxes(title="favorable (%)", range=[-3, 103])
    alt = f"Rates of both groups at {len(shown)} levels of {result.each[0].name}."
    return finish(figure, height=130 + each * len(shown), alt=alt)
