"""Figures of an explain audit: what is left, one column level by level, and each level."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from audits.drawing.differences import differences
from audits.drawing.marks import add_legend, decisive, dot, named_above, reaching, segments
from audits.drawing.selected import of_value, people_id
from audits.drawing.style import CONTEXT, FOCUS, GRAY, INK, describe, distinct, empty, finish, rows_named
from audits.explain.result import ExplainResult, without
from audits.explain.text import interval_words, size_words
from audits.stats import AVERAGE, Estimate
from audits.stats.badges import interval_text
from audits.stats.text import count, people_in
from audits.stats.text import people as people_words
from audits.stats.vocabulary import vocabulary

MAX_ROWS, _FIRST = 12, 8  # rows
_ABOVE = 52  # letters above a row, on a phone too
_ENOUGH = 0.8  # of the source comparable, for a row to be trusted
_SMALL = 6  # pixels of a dot of few people: its color says whose it is
_FEW = 10  # people of a group at a level, for its dots to be trusted
_REACH = 30  # points to both sides, unless an interval reaches further
Row = tuple[str, Estimate, bool]


def _interval_rows(result: ExplainResult, figure: go.Figure, rows: Sequence[Row], above: str) -> int:
    """Draw estimates below the row named `above`, gray where not trusted; return the pixels of a row."""
    places, scale = range(len(rows) - 1, -1, -1), result.scale
    unit = _unit(result)
    known = [found if trusted else Estimate(found.value, None, None, 0, "") for _, found, trusted in rows]
    figure.add_scatter(
        x=[scale * (found.value or 0.0) for found in known],
        y=list(places),
        mode="markers",
        marker={"color": [INK if trusted else CONTEXT for _, _, trusted in rows], "size": 8},
        error_x=reaching(known, scale),
        customdata=[name for name, _, _ in rows],
        hovertemplate=f"%{{customdata}}: %{{x:.3~g}} {unit}<extra></extra>"
        if scale == 1.0
        else "%{customdata}: %{x:.1f} points<extra></extra>",
        showlegend=False,
    )
    dashed = [(found, k) for (_, found, trusted), k in zip(rows, places, strict=True) if not trusted]
    for found, k in dashed:
        ends = (scale * (found.low or 0.0), k), (scale * (found.high or 0.0), k)
        figure.add_trace(segments([ends], CONTEXT, 1.4, dash="dash"))
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    names = distinct([name for name, _, _ in rows], longest=_ABOVE)
    return rows_named(figure, [above, *names][::-1])


def left(result: ExplainResult) -> go.Figure:
    """Draw the interval that decides, then the gap, and what is left of it with each column."""
    judged, together = result.judged, result.together
    if result.gap.value is None:
        return empty("There is no gap to explain.")
    rows: list[Row] = [("gap overall", result.gap, True)]
    if judged.decided_by != AVERAGE and together.unexplained.value is not None:
        rows.append(("like for like, on average", together.unexplained, True))
    for item in result.each[:_FIRST]:
        if item.unexplained.value is not None:
            trusted = item.source_covered >= _ENOUGH
            why = "" if trusted else f" ({100 * item.source_covered:.0f}% comparable)"
            rows.append((f"same {item.name}{why}", item.unexplained, trusted))
    figure = go.Figure(decisive(judged, len(rows), result.scale))
    interval, _, level = interval_text(judged).partition(" · ")
    first = describe(level.removeprefix("level: ") or "like for like", longest=26)
    each = _interval_rows(result, figure, rows, f"{first}: {interval}")
    gap = {"color": GRAY, "dash": "dot", "width": 2}
    overall = result.scale * result.gap.value
    figure.add_vline(x=overall, line=gap)
    if any(not trusted for _, _, trusted in rows):
        add_legend(figure, [("few are comparable", dot(CONTEXT))])
    drawn = [judged.interval, *(found for _, found, _ in rows)]
    ends = [overall, *(result.scale * end for each in drawn for end in (each.low, each.high) if end)]
    edge = max([_REACH if result.scale == 100 else 0.0, *(1.03 * abs(end) for end in ends)]) or 1.0
    figure.update_xaxes(title=f"difference ({_unit(result)})", range=[-edge, edge])
    named_above(figure, "gap overall", (overall, overall), (-edge, edge))
    alt = f"A gap of {size_words(result, result.gap.value)}; {interval_words(judged)}."
    return _legend_higher(finish(figure, height=100 + each * (1 + len(rows)), alt=alt))


def _legend_higher(figure: go.Figure) -> go.Figure:
    """Place the legend, if there is one, above what is named above the plot."""
    if not any(trace.showlegend for trace in figure.data):
        return figure
    height = figure.layout.height + 20
    return figure.update_layout(height=height, margin={"t": 58}, legend={"y": 1.0 + 24 / (height - 110)})


def levels(result: ExplainResult) -> go.Figure:
    """Draw what is left at the levels that are covered, the largest first."""
    covered = (row for row in result.levels if row.covered)
    found = sorted(covered, key=lambda row: -abs(row.difference.value or 0.0))
    rows = [(f"{row.attribute} {row.level}", row.difference, "") for row in found[:MAX_ROWS]]
    return _differences(result, rows, f"difference ({_unit(result)})", result.scale)


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
    shown, percent = result.values[::-1], "%" if result.amount is None else ""
    places = list(range(len(shown)))
    figure = go.Figure()
    names = distinct([people_in(result.source), people_in(result.target)], longest=46)
    few = [min(row.source_people, row.target_people) < _FEW for row in shown]
    for side, name, color in (("source", names[0], FOCUS), ("target", names[1], INK)):
        people = [getattr(row, f"{side}_people") for row in shown]
        rates = [getattr(row, f"{side}_rate") for row in shown]
        figure.add_scatter(
            x=[None if rate is None else result.scale * rate for rate in rates],
            y=places,
            mode="markers",
            marker={"color": color, "size": [_SMALL if thin else 10 for thin in few]},
            customdata=people,
            text=[people_words(n) for n in people],
            meta=_people(result, side, [row.value for row in shown]),
            showlegend=False,
            hovertemplate=f"%{{x:.4g}}{percent} of %{{text}}<extra>" + name + "</extra>",
        )
    pairs = [(row.source_rate, row.target_rate, place) for place, row in enumerate(shown)]
    for thin, dash in ((False, "solid"), (True, "dash")):
        ends = [
            ((result.scale * one, place), (result.scale * other, place))
            for one, other, place in pairs
            if one is not None and other is not None and few[place] == thin
        ]
        figure.add_trace(segments(ends, GRAY, dash=dash))
    add_legend(figure, [(names[0], dot(FOCUS)), (names[1], dot(INK))])
    if any(few):
        small = {"mode": "markers", "marker": {"color": INK, "size": _SMALL}}
        add_legend(figure, [(f"small: fewer than {_FEW} {vocabulary().people}", small)])
    labels = [
        f"{describe(row.value)} ({count(row.source_people)} and {count(row.target_people)})" for row in shown
    ]
    each = rows_named(figure, labels)
    if result.amount is None:
        figure.update_xaxes(title=f"{vocabulary().share_yes} (%)", range=[-3, 103])
    else:
        title = f"mean {result.amount.of_which} ({result.amount.unit})".removesuffix(" ()")
        figure.update_xaxes(title=title)
    alt = f"Rates of both groups at {len(shown)} levels of {result.each[0].name}."
    return finish(figure, height=130 + each * len(shown), alt=alt)


def attribution(result: ExplainResult) -> go.Figure:
    """Draw each feature's part of the gap in mean score, the largest first, and the gap below them."""
    if result.attribution is None or result.attribution.gap.value is None:
        return empty("The features behind the gap were not asked for.")
    found = without(result.attribution, MAX_ROWS - 1)
    rows = [*((each.feature, each.part, "") for each in found.features), ("gap in mean score", found.gap, "")]
    return _differences(result, rows, "points of mean score", 100.0)


def _differences(
    result: ExplainResult, rows: Sequence[tuple[str, Estimate, str]], title: str, unit: float
) -> go.Figure:
    return differences(result.judged, rows, title=title, unit=unit, limit=(None, None), ordered=False)


def _unit(result: ExplainResult) -> str:
    """Name what differences are shown in."""
    return "points" if result.amount is None else result.amount.unit or result.amount.name
