"""Figures of the way of all rejected people: who is accepted on it, at which scores, and what changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from audits.drawing.intervals import MAX_ROWS
from audits.drawing.marks import whiskers
from audits.drawing.selected import of_run, people_id, within_edges
from audits.drawing.slider import with_slider
from audits.drawing.style import CONTEXT, FOCUS, GROUPS, INK, annotate, distinct, empty
from audits.recourse.result import AlphaRow, RecourseResult
from audits.recourse.text import judged_row, rejected_people, way_to, yes_word
from audits.stats import Estimate
from audits.stats.text import count, number, people_in, percent, percent_interval, several
from audits.stats.vocabulary import vocabulary

_ROUNDED = 1e-9  # what rounding leaves of no change
MAX_GROUPS = 4


def _reach_text(result: RecourseResult) -> str:
    last = result.by_alpha[-1]
    share = percent(last.reclassified.value, result.n_rejected)
    whom = rejected_people(result.n_rejected)
    return f"Share of {whom} {yes_word()} on the way; {way_to(last.alpha)}: {share}."


def _curves(result: RecourseResult) -> list[go.Scatter]:
    """Return a line for everyone and the largest groups, with a band around the one in question."""
    lines: list[tuple[str, str, Sequence[Estimate], list[dict[str, Any]]]] = [
        ("everybody", INK, [row.reclassified for row in result.by_alpha], [])
    ]
    focus = judged_row(result)
    banded = INK if focus is None or len(result.by_group) < 2 else FOCUS
    if len(result.by_group) > 1:
        groups = sorted(result.by_group, key=lambda row: (row != focus, -row.n))[:MAX_GROUPS]
        names = distinct([people_in(row.group) for row in groups])
        hues = iter(GROUPS)
        lines += [
            (
                f"{name} ({count(row.n)})",
                FOCUS if row == focus else next(hues),
                row.reclassified,
                [of_run("group", within=[row.group])],
            )
            for name, row in zip(names, groups, strict=True)
        ]
    steps, traces = list(result.steps), []
    for name, color, shares, among in lines:
        ends = [100 * (s.high or 0.0) for s in shares] + [100 * (s.low or 0.0) for s in shares[::-1]]
        look = {"fill": "toself", "fillcolor": color, "opacity": 0.12, "line": {"width": 0}}
        quiet = {"hoverinfo": "skip", "showlegend": False, "legendgroup": name, "mode": "lines"}
        if color == banded:
            traces.append(go.Scatter(x=[100 * step for step in steps + steps[::-1]], y=ends, **look, **quiet))
        traces.append(
            go.Scatter(
                x=[100 * step for step in steps],
                y=[None if s.value is None else 100 * s.value for s in shares],
                mode="lines+markers",
                marker={"size": 5},
                line={"color": color, "width": 2},
                name=name,
                legendgroup=name,
                meta=[
                    people_id(of_run("alpha", at_most=float(step)), *among) if step > 0 else ""
                    for step in steps
                ],
                hovertemplate=f"{name}: %{{y:.1f}}% {yes_word()} %{{x:.3g}}% of the way<extra></extra>",
            )
        )
    return traces


def _middles(result: RecourseResult) -> list[float]:
    return [(low + high) / 2 for low, high in pairwise(result.score_edges)]


def _outline(result: RecourseResult, step: AlphaRow) -> go.Scatter:
    """Return a step's scores as an outline; a click selects who has them today."""
    edges, shares = result.score_edges, _shares(step)
    return go.Scatter(
        x=_middles(result),
        y=shares,
        mode="lines",
        line={"color": CONTEXT, "width": 2, "shape": "hvh"},
        name=way_to(step.alpha),
        # where people's scores lie on the way, no table holds
        meta=[people_id(*within_edges("score", edges, k)) for k in range(len(edges) - 1)],
        hovertemplate="score %{x:.2f}: %{y:.1f}%<extra></extra>",
    )


def _bars_of(result: RecourseResult, step: AlphaRow) -> go.Bar:
    """Return a step's scores as bars: filled beyond the cut-off, hollow before it."""
    cut = cut_off(result)
    filled = ["white" if cut is not None and middle < cut else INK for middle in _middles(result)]
    return go.Bar(
        x=_middles(result),
        y=_shares(step),
        width=result.score_edges[1] - result.score_edges[0],
        marker={"color": filled, "line": {"color": INK, "width": 1}},
        name=way_to(step.alpha),
        showlegend=False,
        hovertemplate="score %{x:.2f}: %{y:.1f}%<extra></extra>",
    )


def cut_off(result: RecourseResult) -> float | None:
    """Return the score from which people are accepted; None where groups differ.

    Results saved before it was kept tell the lowest score that is accepted.
    """
    if result.cut_off is not None:
        return result.cut_off
    score, accepted = result.paths["score"], result.paths["decision"].astype(bool)
    if not accepted.any():
        return None
    lowest = float(score[accepted].min())
    return lowest if accepted.all() or float(score[~accepted].max()) < lowest else None


def _cut_off(figure: go.Figure, result: RecourseResult) -> None:
    """Draw the cut-off through the scores, with what lies on either side of it above."""
    if (cut := cut_off(result)) is not None:
        line, where = {"color": INK, "width": 1, "dash": "dot"}, {"xref": "x2", "yref": "y2 domain"}
        figure.add_shape(type="line", x0=cut, x1=cut, y0=0, y1=1, line=line, **where)
        figure.layout.xaxis2.title = f"score (dotted: cut-off {number(cut)})"
        words = vocabulary()
        above = {**where, "x": cut, "y": 1, "yanchor": "bottom", "showarrow": False}
        sides = (("right", words.no or "rejected"), ("left", words.yes or "accepted"))
        annotate(figure, [{**above, "xanchor": anchor, "text": f" {text} "} for anchor, text in sides])


def sliding(result: RecourseResult) -> go.Figure:
    """Draw who is accepted and how scores walk over the cut-off, under a slider of the way that plays.

    Every step is in the figure: it moves in the browser by mouse, keys and the link's ``alpha``.
    """
    last = result.by_alpha[-1]
    curves = _curves(result)
    figure = go.Figure([*curves, _point(last), _outline(result, result.by_alpha[0]), _bars_of(result, last)])
    below = {"xaxis": "x2", "yaxis": "y2"}
    for trace in figure.data[len(curves) + 1 :]:
        trace.update(below)
    moving = [len(curves), len(curves) + 2]
    figure.frames = [
        {
            "name": f"{row.alpha:g}",
            "data": [_point(row), {"type": "bar", "y": _shares(row), "name": way_to(row.alpha)}],
            "traces": moving,
        }
        for row in result.by_alpha
    ]
    words = vocabulary()
    labels = [
        f"{way_to(row.alpha)}: {percent_interval(row.reclassified)} {words.yes or 'accepted'}"
        for row in result.by_alpha
    ]
    highest = max(max(_shares(row)) for row in result.by_alpha)
    figure.update_layout(
        yaxis={"domain": [0.58, 1.0], "title": f"{words.share_yes} (%)", "range": [0, 100]},
        xaxis={"title": "how far towards the match (%)", "range": [0, 102]},
        yaxis2={"domain": [0.0, 0.36], "title": "people (%)", "range": [0, 1.08 * highest]},
        xaxis2={"anchor": "y2", "title": "score"},
    )
    _cut_off(figure, result)
    alt = f"{_reach_text(result)} A slider moves through the steps; the table holds them."
    return with_slider(figure, labels, len(labels) - 1, height=600, alt=alt, link="alpha")


def _point(step: AlphaRow) -> dict[str, Any]:
    """Return the mark that moves along everyone's curve."""
    share = step.reclassified.value
    look = {"mode": "markers", "marker": {"size": 12, "color": INK}, "showlegend": False, "hoverinfo": "skip"}
    return {"type": "scatter", "x": [100 * step.alpha], "y": [100 * (share or 0.0)], **look}


def changes(result: RecourseResult) -> go.Figure:
    """Draw the mean change of each feature on the way, with intervals, under a slider of it (Figure A1)."""
    step = result.steps[-1]
    largest, last = dict[str, float](), dict[str, float]()
    for row in result.changes:
        ends = scale_estimate(row.mean_change, row.scale)
        largest[row.feature] = max(*map(abs, ends), largest.get(row.feature, 0.0))
        last[row.feature] = abs(ends[0])  # steps rise
    features = sorted((name for name in largest if largest[name] > 0), key=last.__getitem__)[-MAX_ROWS:]
    if not features:
        return empty("Nothing changes.")
    edge = max(largest[name] for name in features)
    bars, words = _changes_at(result, step, features)
    where = {"y": distinct(features), "showlegend": False}
    hover = "%{y}: %{customdata[0]}%{customdata[1]} in its own unit<extra></extra>"
    figure = go.Figure(
        [
            go.Bar(**bars, **where, orientation="h", marker={"color": INK}, hovertemplate=hover),
            go.Scatter(
                **words,
                **where,
                x=[1.06 * edge] * len(features),
                mode="text",
                textposition="middle right",
                hoverinfo="skip",
            ),
        ]
    )
    figure.frames = [
        {"name": f"{at:g}", "data": list(_changes_at(result, at, features)), "traces": [0, 1]}
        for at in result.steps
    ]
    figure.update_xaxes(title="mean change (standard deviations; shares)", range=[-1.05 * edge, 1.5 * edge])
    told = f"{features[-1]}, {words['text'][-1]}"
    alt = f"Mean change of {several(len(features), 'feature')} {way_to(step)}; largest: {told}."
    height = 240 + 26 * len(features)
    labels = [way_to(at) for at in result.steps]
    return with_slider(figure, labels, len(labels) - 1, height=height, alt=alt)


def _changes_at(
    result: RecourseResult, step: float, features: list[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what differs between steps: bars of mean changes, and the changes in their own units."""
    rows = {row.feature: row for row in result.changes if row.alpha == step}
    ends = [scale_estimate(rows[name].mean_change, rows[name].scale) for name in features]
    own = [signed_text(rows[name].mean_change.value or 0.0) for name in features]
    bars = {
        "type": "bar",
        "x": [value for value, _, _ in ends],
        "error_x": whiskers([value for value, _, _ in ends], [each[1:] for each in ends], color=CONTEXT),
        "customdata": [
            [text, interval_text(rows[name].mean_change)] for text, name in zip(own, features, strict=True)
        ],
    }
    return bars, {"type": "scatter", "text": own}


def _shares(step: AlphaRow) -> list[float]:
    total = sum(step.scores) or 1.0
    return [100 * value / total for value in step.scores]


def scale_estimate(estimate: Estimate, scale: float) -> tuple[float, float, float]:
    """Return value and ends of an estimate in units of `scale`; the value where it has no interval."""
    value = (estimate.value or 0.0) / scale
    low = value if estimate.low is None else estimate.low / scale
    high = value if estimate.high is None else estimate.high / scale
    return value, low, high


def interval_text(estimate: Estimate) -> str:
    """Return the interval of an estimate in brackets; nothing where it has none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f" ({signed_text(estimate.low)} to {signed_text(estimate.high)})"


def signed_text(value: float) -> str:
    """Return a change as it is told, with its sign."""
    if abs(value) < _ROUNDED:
        return "0"
    text = f"{value:+,.0f}" if abs(value) >= 1000 else f"{value:+.3g}"
    return text.replace("-", "−")
