"""Figures of the way of all rejected people: who is accepted on it, at which scores, and what changes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from audits.drawing.marks import whiskers
from audits.drawing.selected import of_run, people_id, within_edges
from audits.drawing.slider import frame_slider
from audits.drawing.style import (
    ACCENT,
    GREY,
    GROUPS,
    alt_text,
    distinct,
    empty,
    finish,
)
from audits.recourse.result import AlphaRow, RecourseResult
from audits.recourse.words import rejected, way_to
from audits.stats import Estimate
from audits.stats.words import count, number, percent, percent_interval

__all__ = [
    "changes",
    "reclassified",
    "scaled",
    "score_distribution",
    "signed",
    "sliding",
    "told_ends",
]

_ROUNDED = 1e-9  # what rounding leaves of no change
_MOST = 6  # groups drawn as lines; the palette has seven colours


def reclassified(result: RecourseResult) -> go.Figure:
    """Draw the share of rejected people who would be accepted on the way, a line a group with its band."""
    figure = go.Figure()
    groups = sorted(result.by_group, key=lambda row: -row.n)[:_MOST]
    lines: list[tuple[str, str, list[Estimate], list[dict[str, Any]]]] = [
        ("everybody", GREY, [row.reclassified for row in result.by_alpha], [])
    ]
    if len(result.by_group) > 1:
        names = distinct([row.group for row in groups])
        lines += [
            (
                f"{names[k]} ({count(row.n)})",
                GROUPS[k],
                list(row.reclassified),
                [of_run("group", within=[row.group])],
            )
            for k, row in enumerate(groups)
        ]
    for name, colour, shares, among in lines:
        steps = list(result.steps)
        figure.add_trace(
            go.Scatter(
                x=[100 * step for step in steps + steps[::-1]],
                y=[100 * (s.high or 0.0) for s in shares] + [100 * (s.low or 0.0) for s in shares[::-1]],
                fill="toself",
                fillcolor=colour,
                opacity=0.14,
                mode="lines",
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
                legendgroup=name,
            )
        )
        figure.add_trace(
            go.Scatter(
                x=[100 * step for step in steps],
                y=[None if s.value is None else 100 * s.value for s in shares],
                mode="lines+markers",
                line={"color": colour, "width": 2},
                name=name,
                legendgroup=name,
                meta=[
                    people_id(of_run("alpha", at_most=float(step)), *among) if step > 0 else ""
                    for step in steps
                ],
                hovertemplate=f"{name}: %{{y:.1f}} % accepted %{{x:.3g}} % of the way<extra></extra>",
            )
        )
    figure.update_xaxes(title="how far towards the accepted counterpart (%)", range=[0, 102])
    figure.update_yaxes(title="accepted (% of the rejected)", range=[0, 100])
    last = result.by_alpha[-1]
    alt = (
        f"Share of {rejected(result.n_rejected)} accepted on the way; {way_to(last.alpha)}: "
        f"{percent(last.reclassified.value, result.n_rejected)}."
    )
    return finish(figure, height=380, alt=alt)


def score_distribution(result: RecourseResult, alpha: float) -> go.Figure:
    """Draw the rejected people's scores at the step nearest to `alpha`, beside those of today."""
    step = min(result.by_alpha, key=lambda row: abs(row.alpha - alpha))
    today = result.by_alpha[0]
    edges = result.score_edges
    centres = [(low + high) / 2 for low, high in pairwise(edges)]
    figure = go.Figure()
    for row, colour, name in ((today, GREY, way_to(today.alpha)), (step, ACCENT, way_to(step.alpha))):
        figure.add_trace(
            go.Bar(
                x=centres,
                y=_shares(row),
                width=edges[1] - edges[0],
                marker={"color": colour, "opacity": 0.65},
                name=name,
                # where people's scores lie on the way, no table holds
                meta=[people_id(*within_edges("score", edges, k)) for k in range(len(edges) - 1)]
                if row.alpha == 0
                else None,
                hovertemplate="score %{x:.2f}: %{y:.1f} %<extra></extra>",
            )
        )
    figure.update_layout(barmode="overlay")
    figure.update_xaxes(title="score")
    figure.update_yaxes(title="rejected people (%)", rangemode="tozero")
    alt = (
        f"Scores of {rejected(result.n_rejected)} {way_to(step.alpha)}: mean "
        f"{number(step.mean_score.value)}, {number(today.mean_score.value)} {way_to(today.alpha)}."
    )
    return finish(figure, height=320, alt=alt)


def changes(result: RecourseResult, alpha: float | None = None, *, most: int = 14) -> go.Figure:
    """Draw the mean change of each feature at the step nearest to `alpha`, with intervals (Figure A1)."""
    step = result.steps[-1] if alpha is None else min(result.steps, key=lambda at: abs(at - alpha))
    rows = [row for row in result.changes if row.alpha == step and row.mean_change.value]
    if not rows:
        return empty("Nothing changes.")
    rows = sorted(rows, key=lambda row: abs(row.mean_change.value or 0.0) / row.scale)[-most:]
    values = [(row.mean_change.value or 0.0) / row.scale for row in rows]
    own = [signed(row.mean_change.value or 0.0) for row in rows]
    figure = go.Figure(
        go.Bar(
            x=values,
            y=distinct([row.feature for row in rows]),
            orientation="h",
            showlegend=False,
            marker={"color": ACCENT},
            error_x=_bars([scaled(row.mean_change, row.scale) for row in rows]),
            customdata=[[text, told_ends(row.mean_change)] for text, row in zip(own, rows, strict=True)],
            hovertemplate="%{y}: %{customdata[0]}%{customdata[1]} in its own unit<extra></extra>",
        )
    )
    edge = max(
        max(abs(value), abs(end))
        for value, row in zip(values, rows, strict=True)
        for end in scaled(row.mean_change, row.scale)[1:]
    )
    figure.add_trace(
        go.Scatter(
            x=[1.12 * edge] * len(rows),
            y=figure.data[0].y,
            mode="text",
            text=own,
            textposition="middle right",
            hoverinfo="skip",
            showlegend=False,
        )
    )
    figure.update_xaxes(
        title=f"mean change {way_to(step)} (standard deviations; shares)", range=[-1.1 * edge, 1.6 * edge]
    )
    top = f"{rows[-1].feature}, {own[-1]}"
    features = "one feature" if len(rows) == 1 else f"{len(rows)} features"
    alt = f"Mean change of {features} {way_to(step)}; largest: {top}."
    return finish(figure, height=110 + 28 * len(rows), alt=alt)


def sliding(result: RecourseResult, *, most: int = 12) -> go.Figure:
    """Draw scores and mean changes under a slider, which moves in the browser, where all steps are."""
    last = result.steps[-1]
    figure = score_distribution(result, last)
    largest: dict[str, float] = {}
    for row in result.changes:
        reach = max(abs(end) for end in scaled(row.mean_change, row.scale))
        largest[row.feature] = max(reach, largest.get(row.feature, 0.0))
    features = sorted((name for name in largest if largest[name] > 0), key=largest.__getitem__)[-most:]
    edge = max((largest[name] for name in features), default=1.0)
    figure.add_traces(_changes_at(result, result.by_alpha[-1], features, edge))
    figure.frames = [
        {"name": f"{row.alpha:g}", "data": _moved(result, row, features), "traces": [1, 2, 3]}
        for row in result.by_alpha
    ]
    labels = [
        f"{way_to(row.alpha)}: {percent_interval(row.reclassified)} accepted" for row in result.by_alpha
    ]
    names = [f"{row.alpha:g}" for row in result.by_alpha]
    lower = 28 * len(features)
    height = 400 + lower
    middle = (lower + 20) / (height - 160)
    figure.update_layout(
        yaxis={"domain": [min(middle + 0.16, 0.9), 1.0]},
        yaxis2={"domain": [0.0, min(middle, 0.7)]},
        xaxis2={
            "anchor": "y2",
            "title": "mean change (standard deviations; shares)",
            "range": [-1.1 * edge, 1.7 * edge],
        },
        sliders=[frame_slider(names, labels, len(names) - 1)],
    )
    alt = alt_text(figure) + " A slider moves them; the table holds the shares and scores at each step."
    # a figure with a slider has its tools above, and the legend below them
    return finish(figure, height=height + 30, alt=alt).update_layout(margin={"b": 70, "t": 66})


def _moved(result: RecourseResult, step: AlphaRow, features: list[str]) -> list[dict[str, Any]]:
    """What differs between steps of the slider: score bars, bars of the changes, and their words."""
    rows = {row.feature: row for row in result.changes if row.alpha == step.alpha}
    ends = [scaled(rows[name].mean_change, rows[name].scale) for name in features]
    own = [signed(rows[name].mean_change.value or 0.0) for name in features]
    hover = [[text, told_ends(rows[name].mean_change)] for text, name in zip(own, features, strict=True)]
    bars = {
        "type": "bar",
        "x": [value for value, _, _ in ends],
        "marker": {"color": ACCENT},
        "error_x": _bars(ends),
        "customdata": hover,
    }
    scores = {"type": "bar", "y": _shares(step), "name": way_to(step.alpha)}
    return [scores, bars, {"type": "scatter", "text": own}]


def _shares(step: AlphaRow) -> list[float]:
    total = sum(step.scores) or 1.0
    return [100 * value / total for value in step.scores]


def _changes_at(
    result: RecourseResult, step: AlphaRow, features: list[str], edge: float
) -> tuple[go.Bar, go.Scatter]:
    """Mean changes of `features` at a step, as bars with intervals, and in their own units beside them."""
    _, bars, words = _moved(result, step, features)
    where = {"y": distinct(features), "xaxis": "x2", "yaxis": "y2", "showlegend": False}
    hover = "%{y}: %{customdata[0]}%{customdata[1]} in its own unit<extra></extra>"
    return (
        go.Bar(**bars, **where, orientation="h", hovertemplate=hover),
        go.Scatter(
            **words,
            **where,
            x=[1.12 * edge] * len(features),
            mode="text",
            textposition="middle right",
            hoverinfo="skip",
        ),
    )


def scaled(estimate: Estimate, scale: float) -> tuple[float, float, float]:
    """Return value and ends of an estimate in units of `scale`; the value where it has no interval."""
    value = (estimate.value or 0.0) / scale
    low = value if estimate.low is None else estimate.low / scale
    high = value if estimate.high is None else estimate.high / scale
    return value, low, high


def _bars(ends: list[tuple[float, float, float]]) -> dict[str, Any]:
    return whiskers([value for value, _, _ in ends], [each[1:] for each in ends], thickness=None)


def told_ends(estimate: Estimate) -> str:
    """Return the interval of an estimate in brackets; nothing where it has none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f" ({signed(estimate.low)} to {signed(estimate.high)})"


def signed(value: float) -> str:
    """Return a change as it is told, with its sign."""
    if abs(value) < _ROUNDED:
        return "0"
    text = f"{value:+,.0f}" if abs(value) >= 1000 else f"{value:+.3g}"
    return text.replace("-", "−")
