"""Figures that hold a flipset audit against other comparisons of the same people."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from audits.drawing.differences import differences
from audits.drawing.intervals import IntervalRow, interval_rows
from audits.drawing.selected import of_run, people_id
from audits.drawing.style import CONTEXT, FOCUS, GRAY, INK, describe, empty, finish
from audits.flipset.result import WAYS, FlipsetResult
from audits.flipset.text import way_words
from audits.stats import Estimate
from audits.stats.text import number, people_in, percent
from audits.stats.vocabulary import vocabulary

MAX_LEVELS = 5


def causal(result: FlipsetResult) -> go.Figure:
    """Draw the flipsets' shares by transport and by true counterfactuals, with their intervals."""
    if result.causal is None:
        return empty("The data hold no true counterfactuals.")
    rows = [
        IntervalRow(
            f"{name}: {way_words(way)}",
            getattr(parts, way).share,
            # of the counterfactuals the table of people says nothing
            people_id(of_run(way, above=0)) if parts is result else "",
            focus=parts is result,
        )
        for way in WAYS
        for name, parts in (("matching", result), ("truth", result.causal))
    ]
    alt = (
        f"{way_words('negative')}: {percent(result.negative.share.value, result.n_source)} by matching, "
        f"{percent(result.causal.negative.share.value, result.n_source)} by true counterfactuals."
    )
    title = f"share of {describe(people_in(result.source))} (%)"
    return interval_rows(rows, title=title, alt=alt, unit=100.0)


def above_chance(result: FlipsetResult) -> go.Figure:
    """Draw all that the verdict looks at: what decides first, then the largest."""
    shown = result.looks()
    levels = [look for look in shown[1:] if look[0].startswith("level: ")][:MAX_LEVELS]
    kept = [look for look in shown if look in levels or look is shown[0] or not look[0].startswith("level: ")]
    return differences(
        result.judged,
        [(what.removeprefix("level: "), found, "") for what, found, _ in kept],
        title=f"percentage points of {vocabulary().people}",
        unit=100.0,
        ordered=False,
    )


def null_distribution(result: FlipsetResult) -> go.Figure:
    """Draw how large the larger direction is when membership is permuted, and how large it was."""
    noise = result.noise
    if noise is None or not noise.histogram:
        return empty("Chance was not measured, or by an earlier version.")
    edges, counts = noise.histogram["edges"], noise.histogram["permutations"]
    figure = go.Figure(
        histogram(edges, counts, 100.0, GRAY, hovertemplate="%{x:.1f}%: %{y} permutations<extra></extra>")
    )
    seen = 100 * noise.observed
    figure.add_vline(x=seen, line={"color": FOCUS, "width": 3})
    figure.add_annotation(
        text=f"found: {seen:.1f}%", x=seen, y=1, yref="paper", yanchor="bottom", showarrow=False
    )
    figure.update_xaxes(title="people in the larger direction (%)", rangemode="tozero")
    figure.update_yaxes(title="permutations")
    alt = (
        f"{noise.permutations} permutations give {100 * noise.null_quantiles['0.5']:.1f}% in the middle; "
        f"{seen:.1f}% was found."
    )
    return finish(figure, height=260, alt=alt)


def same_values(result: FlipsetResult, *, most: int = 12) -> go.Figure:
    """Draw the difference of the groups' rates among people who agree in a feature, and the one among all."""
    rows = [(f"same {each.feature}", each.difference, "") for each in result.same_values]
    return _rates(result, [*rows[:most], ("everyone", result.net, "")])


def strata(result: FlipsetResult) -> go.Figure:
    """Draw the difference of the groups' rates within each value of the conditioning column."""
    return _rates(
        result,
        [
            (each.value, each.net, people_id(of_run("within", within=[each.value])))
            for each in result.ranked_strata
        ],
    )


def _rates(result: FlipsetResult, rows: list[tuple[str, Estimate, str]]) -> go.Figure:
    reach = float(result.judged.immaterial_high or result.options["material"]) / result.judged.times
    return differences(
        result.judged,
        rows,
        title=f"{vocabulary().share_yes}, first group minus second (points)",
        unit=100.0,
        limit=(-reach, reach),
        ordered=False,
    )


def score_change(result: FlipsetResult) -> go.Figure:
    """Draw how the score changes from person to counterpart: to the right counterparts score better."""
    change = result.score_change
    if change is None or not change.histogram:
        return empty("The change of the score was not measured.")
    edges, people = change.histogram["edges"], change.histogram["people"]
    total = sum(people) or 1.0
    figure = go.Figure(
        histogram(
            edges,
            [100 * value / total for value in people],
            1.0,
            CONTEXT,
            hovertemplate="%{x:.3g}: %{y:.1f}% of people<extra></extra>",
        )
    )
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    figure.update_xaxes(title="score of the counterpart minus the person's own")
    figure.update_yaxes(title=f"share of {vocabulary().people} (%)", rangemode="tozero")
    alt = (
        f"Change of the score from {people_in(result.source)} to their counterparts: "
        f"{number(change.mean)} on average, nine in ten between {number(change.quantiles['0.05'])} and "
        f"{number(change.quantiles['0.95'])}."
    )
    return finish(figure, height=260, alt=alt)


def histogram(
    edges: Sequence[float], heights: Sequence[float], times: float, color: str, **look: Any
) -> go.Bar:
    """Return the bars of a histogram, each as wide as its bin; `times`: what the axis shows of 1."""
    ends = [(times * low, times * high) for low, high in itertools.pairwise(edges)]
    return go.Bar(
        x=[(low + high) / 2 for low, high in ends],
        y=list(heights),
        width=[high - low for low, high in ends],
        marker={"color": color, "line": {"width": 1, "color": "white"} if times > 1 else {"width": 0}},
        showlegend=False,
        **look,
    )
