"""Figures of the recourse audit."""

from __future__ import annotations

import math
from itertools import pairwise

import plotly.graph_objects as go

from audits.figures.style import ACCENT, CONTRAST, GREY, INK, OKABE_ITO, describe, empty, finish
from audits.outcomes import RecourseResult
from audits.stats.words import count, number, percent

__all__ = ["burden", "changes", "ladder", "reclassified", "score_distribution"]

_MOST = 6  # groups drawn as lines; the palette has seven colours


def reclassified(result: RecourseResult) -> go.Figure:
    """Draw the share of rejected people who would be accepted against α, a line a group with its band."""
    figure = go.Figure()
    groups = sorted(result.by_group, key=lambda row: -row.n)[:_MOST]
    lines = [("everybody", GREY, [row.reclassified for row in result.by_alpha])]
    if len(result.by_group) > 1:
        lines += [
            (f"{describe(row.group)} ({count(row.n)})", OKABE_ITO[k], list(row.reclassified))
            for k, row in enumerate(groups)
        ]
    for name, colour, shares in lines:
        steps = list(result.steps)
        figure.add_trace(
            go.Scatter(
                x=steps + steps[::-1],
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
                x=steps,
                y=[None if s.value is None else 100 * s.value for s in shares],
                mode="lines+markers",
                line={"color": colour, "width": 2},
                name=name,
                legendgroup=name,
                hovertemplate=f"{name}: %{{y:.1f}} % at α %{{x:g}}<extra></extra>",
            )
        )
    figure.update_xaxes(title="α: how far towards the accepted counterpart", range=[0, 1.02])
    figure.update_yaxes(title="accepted (% of those rejected today)", range=[0, 100])
    last = result.by_alpha[-1]
    alt = (
        f"Share of {count(result.n_rejected)} rejected people accepted, by α: "
        f"{percent(last.reclassified.value, result.n_rejected)} at {last.alpha:g}."
    )
    return finish(figure, height=380, alt=alt)


def score_distribution(result: RecourseResult, alpha: float) -> go.Figure:
    """Draw the rejected people's scores at the step nearest to `alpha`, beside those of today."""
    step = min(result.by_alpha, key=lambda row: abs(row.alpha - alpha))
    today = result.by_alpha[0]
    edges = result.score_edges
    centres = [(low + high) / 2 for low, high in pairwise(edges)]
    figure = go.Figure()
    for row, colour, name in ((today, GREY, f"α = {today.alpha:g}"), (step, ACCENT, f"α = {step.alpha:g}")):
        total = sum(row.scores) or 1.0
        figure.add_trace(
            go.Bar(
                x=centres,
                y=[100 * value / total for value in row.scores],
                width=edges[1] - edges[0],
                marker={"color": colour, "opacity": 0.65},
                name=name,
                hovertemplate="score %{x:.2f}: %{y:.1f} %<extra></extra>",
            )
        )
    figure.update_layout(barmode="overlay")
    figure.update_xaxes(title="score")
    figure.update_yaxes(title="rejected people (%)", rangemode="tozero")
    alt = (
        f"Scores of {count(result.n_rejected)} rejected people at α {step.alpha:g}: mean "
        f"{number(step.mean_score.value)}, {number(today.mean_score.value)} at α {today.alpha:g}."
    )
    return finish(figure, height=320, alt=alt)


def changes(result: RecourseResult, *, most: int = 14) -> go.Figure:
    """Draw the mean change of each feature at the largest step, with intervals (Figure A1)."""
    last = result.steps[-1]
    rows = [row for row in result.changes if row.alpha == last and row.mean_change.value]
    if not rows:
        return empty("Nothing changes.")
    rows = sorted(rows, key=lambda row: abs(row.mean_change.value or 0.0))[-most:]
    values = [row.mean_change.value or 0.0 for row in rows]
    figure = go.Figure(
        go.Bar(
            x=values,
            y=[describe(row.feature) for row in rows],
            orientation="h",
            marker={"color": [ACCENT if value > 0 else CONTRAST for value in values]},
            error_x={
                "type": "data",
                "color": INK,
                "array": [
                    0.0 if row.mean_change.high is None else row.mean_change.high - value
                    for row, value in zip(rows, values, strict=True)
                ],
                "arrayminus": [
                    0.0 if row.mean_change.low is None else value - row.mean_change.low
                    for row, value in zip(rows, values, strict=True)
                ],
            },
            hovertemplate="%{y}: %{x:.3g}<extra></extra>",
        )
    )
    figure.update_xaxes(title=f"mean change at α = {last:g} (own unit; share of people for column=value)")
    top = f"{rows[-1].feature}, {number(values[-1])}"
    alt = f"Mean change of {len(rows)} features at α {last:g}; largest: {top}."
    return finish(figure, height=110 + 28 * len(rows), alt=alt)


def burden(result: RecourseResult) -> go.Figure:
    """Draw how far each group's people have to go to be accepted, with intervals."""
    rows = sorted(
        (row for row in result.by_group if row.burden.value is not None),
        key=lambda row: row.burden.value or 0.0,
    )
    if not rows:
        return empty("Nobody is accepted on the way to the counterpart.")
    values = [row.burden.value or 0.0 for row in rows]
    figure = go.Figure(
        go.Scatter(
            x=values,
            y=[f"{describe(row.group)} ({count(row.n)})" for row in rows],
            mode="markers",
            marker={
                "size": 10,
                "color": [ACCENT if row.burden.low is not None else "#FFFFFF" for row in rows],
                "line": {"color": ACCENT, "width": 1.5},
            },
            error_x={
                "type": "data",
                "color": INK,
                "array": [
                    0.0 if row.burden.high is None else row.burden.high - value
                    for row, value in zip(rows, values, strict=True)
                ],
                "arrayminus": [
                    0.0 if row.burden.low is None else value - row.burden.low
                    for row, value in zip(rows, values, strict=True)
                ],
            },
            customdata=[[percent(row.never.value, row.n)] for row in rows],
            hovertemplate="%{y}: %{x:.3g}; %{customdata[0]} are never accepted<extra></extra>",
        )
    )
    figure.update_xaxes(
        title="cost of the smallest accepted change (standard deviations, categories)", rangemode="tozero"
    )
    alt = (
        f"Mean cost of the smallest change that is accepted, by group; largest for {rows[-1].group}, "
        f"{number(values[-1])}."
    )
    return finish(figure, height=120 + 40 * len(rows), alt=alt)


def ladder(result: RecourseResult, row: int | str) -> go.Figure:
    """Draw one person's score at each α; `row` is the user's row number."""
    if row not in result.scores.index:
        return empty("Choose a rejected person.")
    scores = result.scores.loc[[row]].to_numpy()[0]
    figure = go.Figure(
        go.Scatter(
            x=list(result.grid),
            y=scores.tolist(),
            mode="lines",
            line={"color": ACCENT, "width": 2},
            hovertemplate="α %{x:g}: score %{y:.3g}<extra></extra>",
        )
    )
    flips = float(result.people["alpha"].loc[row])
    found = not math.isnan(flips)
    if found:
        figure.add_vline(x=flips, line={"color": CONTRAST, "dash": "dot"}, annotation_text="accepted")
    figure.update_xaxes(title="α", range=[0, 1])
    figure.update_yaxes(title="score")
    told = f"accepted from α {flips:g}" if found else "never accepted"
    return finish(figure, height=280, alt=f"Score of the person in row {row} by α: {told}.")
