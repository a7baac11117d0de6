"""Figures that hold a flipset audit against other comparisons of the same people."""

from __future__ import annotations

import itertools

import plotly.graph_objects as go

from audits.drawing.marks import whiskers
from audits.drawing.selected import of_run, people_id
from audits.drawing.style import ACCENT, GREY, INK, describe, distinct, empty, finish
from audits.flipset import FlipsetResult
from audits.flipset.words import points
from audits.stats.words import number, people_in, percent, several

__all__ = ["causal", "same_values", "score_change", "strata"]


def causal(result: FlipsetResult) -> go.Figure:
    """Draw the flipsets' shares by transport and by true counterfactuals, side by side."""
    if result.causal is None:
        return empty("The data hold no true counterfactuals.")
    figure = go.Figure()
    for name, parts, colour in (
        ("by transport", (result.positive, result.negative), INK),
        ("by counterfactuals", (result.causal.positive, result.causal.negative), GREY),
    ):
        values = [100 * (part.share.value or 0.0) for part in parts]
        ends = [(part.share.low or 0.0, part.share.high or 0.0) for part in parts]
        figure.add_trace(
            go.Bar(
                x=values,
                y=["positive flipset", "negative flipset"],
                orientation="h",
                marker={"color": colour},
                error_x=whiskers(values, [(100 * low, 100 * high) for low, high in ends], width=3),
                name=name,
                # of the counterfactuals the table of people says nothing
                meta=[
                    people_id(of_run(way, above=0)) if name == "by transport" else ""
                    for way in ("positive", "negative")
                ],
                hovertemplate="%{x:.1f} %<extra>" + name + "</extra>",
            )
        )
    figure.update_xaxes(title=f"share of {describe(people_in(result.source))} (%)", rangemode="tozero")
    alt = (
        f"Negative flipset {percent(result.negative.share.value, result.n_source)} by transport and "
        f"{percent(result.causal.negative.share.value, result.n_source)} by true counterfactuals."
    )
    return finish(figure, height=250, alt=alt)


def same_values(result: FlipsetResult, *, most: int = 12) -> go.Figure:
    """Draw the difference of the groups' rates among people who agree in a feature, and the one among all.

    The largest difference comes first.
    """
    shown = [item for item in result.same_values if item.difference.value is not None][:most][::-1]
    if not shown or result.net.value is None:
        return empty("No feature has a value that occurs in both groups.")
    names = distinct([item.feature for item in shown])
    lines = [("everyone", result.net), *zip(names, (item.difference for item in shown), strict=True)]
    values = [100 * (difference.value or 0.0) for _, difference in lines]
    ends: list[tuple[float | None, float | None]] = [
        (None, None)
        if difference.low is None or difference.high is None
        else (100 * difference.low, 100 * difference.high)
        for _, difference in lines
    ]
    places = list(range(len(lines)))
    figure = go.Figure(
        go.Scatter(
            x=values,
            y=places,
            mode="markers",
            marker={"color": INK, "size": 10},
            error_x=whiskers(values, ends, width=3),
            customdata=[name for name, _ in lines],
            hovertemplate="%{customdata}: %{x:.1f} percentage points<extra></extra>",
            showlegend=False,
        )
    )
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    figure.update_yaxes(
        tickmode="array",
        tickvals=places,
        ticktext=["everyone", *(f"same {name}" for name, _ in lines[1:])],
    )
    figure.update_xaxes(title="difference of favorable rates, source minus target (percentage points)")
    nearest = shown[0]  # the smallest difference of those shown
    alt = (
        f"Difference of favorable rates: {points(result.net.value)} among everyone, "
        f"{points(nearest.difference.value or 0.0)} among people with the same {nearest.feature}."
    )
    return finish(figure, height=110 + 30 * len(lines), alt=alt)


def strata(result: FlipsetResult) -> go.Figure:
    """Draw the difference of the groups' rates within each value of the conditioning column."""
    table = result.strata_frame().dropna(subset=["difference of rates"]).iloc[::-1]
    if table.empty:
        return empty("Nobody was matched.")
    places = list(range(len(table)))
    values = [100 * value for value in table["difference of rates"]]
    ends = [(100 * low, 100 * high) for low, high in zip(table["low"], table["high"], strict=True)]
    figure = go.Figure(
        go.Scatter(
            x=values,
            y=places,
            mode="markers",
            marker={"color": INK, "size": 10},
            error_x=whiskers(values, ends, width=3),
            customdata=[describe(name, longest=60) for name in table["within"]],
            meta=[people_id(of_run("within", within=[name])) for name in table["within"]],
            hovertemplate="%{customdata}: %{x:.1f} percentage points<extra></extra>",
            showlegend=False,
        )
    )
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    figure.update_yaxes(
        tickmode="array", tickvals=places, ticktext=distinct([str(name) for name in table["within"]])
    )
    figure.update_xaxes(title="difference of favorable rates, source minus target (percentage points)")
    first = table.iloc[-1]
    alt = (
        f"Difference of favorable rates within {several(len(table), 'value')} of the conditioning column; "
        f"the largest is {points(first['difference of rates'])} within “{first['within']}”."
    )
    return finish(figure, height=110 + 30 * len(table), alt=alt)


def score_change(result: FlipsetResult) -> go.Figure:
    """Draw how the score changes from person to counterpart: to the right counterparts score better."""
    change = result.score_change
    if change is None or not change.histogram:
        return empty("The change of the score was not measured.")
    edges, people = change.histogram["edges"], change.histogram["people"]
    total = sum(people) or 1.0
    figure = go.Figure(
        go.Bar(
            x=[(low + high) / 2 for low, high in itertools.pairwise(edges)],
            y=[100 * value / total for value in people],
            width=[high - low for low, high in itertools.pairwise(edges)],
            marker={"color": ACCENT, "line": {"width": 0}},
            hovertemplate="%{x:.3g}: %{y:.1f} % of people<extra></extra>",
            showlegend=False,
        )
    )
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    figure.update_xaxes(title="score of the counterpart minus the person's own")
    figure.update_yaxes(title="share of people (%)", rangemode="tozero")
    alt = (
        f"Change of the score from {people_in(result.source)} to their counterparts: "
        f"{number(change.mean)} on average, nine in ten between {number(change.quantiles['0.05'])} and "
        f"{number(change.quantiles['0.95'])}."
    )
    return finish(figure, height=260, alt=alt)
