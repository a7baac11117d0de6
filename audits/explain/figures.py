"""Figures of an explain audit: what is left of the gap, explainer by explainer, and value by value."""

from __future__ import annotations

import re
from collections.abc import Sequence

import plotly.graph_objects as go

from audits.brief import value_words
from audits.drawing.marks import dashes, dot, named, reaching
from audits.drawing.selected import is_first, of_value, people_id
from audits.drawing.style import ACCENT, CONTRAST, GREY, INK, distinct, empty, finish, rows_named
from audits.explain.result import ExplainResult
from audits.explain.words import points
from audits.stats.words import people as people_words

__all__ = ["left", "values"]

_MOST = 15
_ABOVE = 44  # letters above a row, on a phone too
_MANY = 1000  # numbers above it are rounded as they are written
_RANGE = re.compile(r"(-?\d[\d.e+-]*) to (-?\d[\d.e+-]*)")


def left(result: ExplainResult) -> go.Figure:
    """Draw what is left of the gap among people alike, the explainer that shrinks it most first."""
    items = [result.together] * bool(result.together.columns) + list(result.each[:_MOST])
    items = [item for item in items if item.unexplained.value is not None][::-1]
    told = [f"together: {item.name}" if item is result.together else item.name for item in items]
    rows = list(zip(distinct(told, longest=_ABOVE), items, strict=True))
    if not rows or result.gap.value is None:
        return empty("No column may explain the gap.")
    figure = go.Figure(
        go.Scatter(
            x=[100 * (item.unexplained.value or 0.0) for _, item in rows],
            y=list(range(len(rows))),
            mode="markers",
            marker={
                "color": [ACCENT if item is result.together else INK for _, item in rows],
                "size": 10,
            },
            error_x=reaching([item.unexplained for _, item in rows], 100.0),
            customdata=[[name, item.kind or "–"] for name, item in rows],
            hovertemplate="%{customdata[0]}: %{x:.1f} points left (%{customdata[1]})<extra></extra>",
            showlegend=False,
        )
    )
    gap = 100 * result.gap.value
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    figure.add_vline(x=gap, line={"color": GREY, "dash": "dot", "width": 2})
    named(figure, [("what is left, with its interval", dot(INK)), ("the whole gap", dashes(GREY))])
    if result.together.columns:
        named(figure, [("the best few together", dot(ACCENT))])
    each = rows_named(figure, [name for name, _ in rows])
    figure.update_xaxes(title="difference left among people alike, source minus target (percentage points)")
    first = result.each[0] if result.each else result.together
    alt = (
        f"A gap of {points(result.gap.value)}; within {first.name} {points(first.unexplained.value or 0.0)} "
        "are left."
    )
    return finish(figure, height=120 + each * len(rows), alt=alt)


def _cells(values: Sequence[str]) -> list[str]:
    """Word values, or ranges of numbers as people write them; a range holds its upper end alone, as cut.

    Examples
    --------
    >>> _cells(["17 to 21", "21 to 26"]), _cells(["8475 to 32500"]), _cells(["clerk", "(missing)"])
    (['17–21', '22–26'], ['8475 to 32,500'], ['clerk', '(missing)'])
    >>> _cells(["0 to 0", "0 to 3"]), _cells(["1990 to 2010", "2010 to 2024"])
    (['0', '1–3'], ['1990 to 2010', '2010 to 2024'])
    """
    found = [_RANGE.fullmatch(value) for value in values]
    ranges = [(float(ends[1]), float(ends[2])) for ends in found if ends is not None]
    whole = all(end.is_integer() and abs(end) < _MANY for ends in ranges for end in ends)
    told = []
    for value, ends in zip(values, found, strict=True):
        if ends is None:
            told.append(value)
            continue
        low, high = float(ends[1]), float(ends[2])
        first = low if is_first(low, high, ranges) else low + 1
        between = f"{first:.0f}–{high:.0f}" if first < high else f"{high:.0f}"
        told.append(between if whole else f"{value_words(low)} to {value_words(high)}")
    return told


def _people(result: ExplainResult, side: str, values: list[str]) -> list[str]:
    """Return whom the dots of one group stand for, value by value; nobody where a group is several."""
    group = result.options.get(side)
    if not isinstance(group, dict) or not all(isinstance(value, str) for value in group.values()):
        return []
    column = result.each[0].columns[0]
    found = [of_value(column, value, values) for value in values]
    return [people_id({"group": group}, *terms) if terms else "" for terms in found]


def values(result: ExplainResult) -> go.Figure:
    """Draw both groups' rates within each value of the first explainer; dots by how many people."""
    if not result.values:
        return empty("No column may explain the gap.")
    shown = result.values[::-1]
    most = max(max(row.source_people, row.target_people) for row in shown)
    figure = go.Figure()
    names = distinct([result.source, result.target], longest=46)
    for side, name, people, rates, colour in (
        ("source", names[0], [r.source_people for r in shown], [r.source_rate for r in shown], ACCENT),
        ("target", names[1], [r.target_people for r in shown], [r.target_rate for r in shown], CONTRAST),
    ):
        figure.add_trace(
            go.Scatter(
                x=[None if rate is None else 100 * rate for rate in rates],
                y=list(range(len(shown))),
                mode="markers",
                marker={"color": colour, "size": [6 + 18 * (n / most) ** 0.5 for n in people]},
                customdata=people,
                text=[people_words(n) for n in people],
                meta=_people(result, side, [row.value for row in shown]),
                name=name,
                hovertemplate="%{x:.1f} % of %{text}<extra>" + name + "</extra>",
            )
        )
    each = rows_named(figure, distinct(_cells([row.value for row in shown]), longest=_ABOVE))
    figure.update_xaxes(title="favorable (%)", range=[-3, 103])
    first = result.each[0]
    alt = f"Rates of both groups within {len(shown)} values of {first.name}."
    return finish(figure, height=130 + each * len(shown), alt=alt)
