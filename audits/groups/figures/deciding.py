"""The figure of the interval that decides, and of what was compared beside it."""

from __future__ import annotations

import plotly.graph_objects as go

from audits.data import group_name
from audits.drawing.marks import dashes, decisive, named, whiskers
from audits.drawing.style import CONTEXT, FOCUS, INK, describe
from audits.groups.figures.layout import MOST_GROUPS, laid_out, named_rows
from audits.groups.judging import RATIO, ordered
from audits.groups.metrics import METRICS
from audits.groups.result import GroupsResult
from audits.groups.words import is_probable
from audits.stats import Estimate
from audits.stats.words import people_in, several, stated

__all__ = ["deciding", "title"]


def deciding(result: GroupsResult, *, most: int = MOST_GROUPS) -> go.Figure:
    """Draw the interval that the verdict follows from, and thin beneath it the same of the other groups."""
    judged = result.judged
    by_ratio = judged.decided_by == RATIO
    rows = _probable(result) if is_probable(result) else _known(result, by_ratio)
    rows = rows[:most]
    unit, axis = (1.0, "ratio of the two rates") if by_ratio else (100.0, "difference in points")
    first = len(rows) - 1
    figure = go.Figure(decisive(judged, first, unit))
    known = [
        (first - place, gap)
        for place, (_, _, gap) in enumerate(rows)
        if place and None not in (gap.value, gap.low, gap.high)
    ]
    if known:
        values, ends = [], []
        for _, gap in known:
            low, value, high = (unit * float(end or 0.0) for end in (gap.low, gap.value, gap.high))
            values.append(value)
            ends.append((low, high))
        figure.add_scatter(
            x=values,
            y=[place for place, _ in known],
            mode="markers",
            marker={"color": INK, "size": 6},
            error_x=whiskers(values, ends, width=0),
            customdata=[stated(gap, unit) for _, gap in known],
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
        )
    figure.add_vline(x=1.0 if by_ratio else 0.0, line={"color": INK, "width": 1})
    for end in (judged.immaterial_low, judged.immaterial_high):
        if end is not None:
            figure.add_vline(x=unit * end, line={"color": CONTEXT, "dash": "dot"})
    named(figure, [("decides", dashes(FOCUS, "solid", 4)), ("your limit", dashes(CONTEXT))])
    figure.update_xaxes(title=axis, nticks=5)
    names = [(group, people) for group, people, _ in rows[::-1]]
    pitch = named_rows(figure, "" if is_probable(result) else _attribute(result), names, "")
    alt = f"{describe(rows[0][0])}: {stated(judged.interval, unit)}, and {several(first, 'other group')}."
    return laid_out(figure, len(rows), pitch, alt)


def _attribute(result: GroupsResult) -> str:
    return next(ordered(result.table))[0].attribute


def _known(result: GroupsResult, by_ratio: bool) -> list[tuple[str, float | None, Estimate]]:
    """Groups of the deciding attribute with their differences in the deciding rate, as `ordered` has them."""
    parts = list(ordered(result.table))
    attribute, rate = parts[0][0].attribute, parts[0][1]
    found: list[tuple[str, float | None, Estimate]] = []
    for row, name in parts:
        if (row.attribute, name) == (attribute, rate):
            gap = row.differences[rate]
            found.append((row.group, row.n, gap.ratio if by_ratio and gap.ratio else gap.estimate))
    return found


def _probable(result: GroupsResult) -> list[tuple[str, float | None, Estimate]]:
    """Groups known by probability with the bounds of their differences, the deciding one first."""
    found: list[tuple[str, float | None, Estimate]] = [
        (group_name({each.attribute: each.group}), each.n, each.difference_bounds)
        for each in result.probable
        if each.difference_bounds is not None
    ]
    found.sort(key=lambda each: each[2] != result.judged.interval)
    return found


def title(result: GroupsResult) -> str:
    """Say what the figure is of."""
    if is_probable(result):
        return "The difference that decides"
    row, rate = next(ordered(result.table))
    reference = next(item for item in result.table if item.is_reference and item.attribute == row.attribute)
    return f"{METRICS[rate].words.capitalize()} compared with {people_in(reference.group)}"
