"""Figures of a mitigation."""

from __future__ import annotations

import itertools

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.drawing.differences import differences
from audits.drawing.marks import reaching, segments
from audits.drawing.style import CONTEXT, FOCUS, INK, finish
from audits.mitigation.result import METHODS, MitigationResult
from audits.stats.text import count, number, percent
from audits.stats.vocabulary import vocabulary

SYMBOLS = {
    "as it was": "diamond",
    "thresholds": "circle",
    "reweighing": "square",
    "reductions": "triangle-up",
    "retraining": "x",
}
"""The mark of each method."""


def left(result: MitigationResult) -> go.Figure:
    """Draw the group's difference from the others before, and after training again: what decides."""
    told = {0: "before" if result.chosen else "as it was"} | {
        place: f"after {count(result.steps[place].added)} samples" for place in {result.chosen} - {0}
    }
    rows = [(name, result.steps[place].difference, "") for place, name in told.items()]
    title = f"{vocabulary().share_yes} in the group,<br>minus the others (points)"
    return differences(result.judged, rows, title=title, unit=100.0, ordered=False)


def amounts(result: MitigationResult) -> go.Figure:
    """Draw the group's difference, the largest score of any group and the accuracy against samples added."""
    added = [step.added for step in result.steps]
    gaps = [100 * (step.difference.value or 0.0) for step in result.steps]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.12, row_heights=[0.6, 0.4])
    intervals = reaching([step.difference for step in result.steps], 100.0, color=None, thickness=None)
    for name, values, row, look in (
        (
            "the group",
            gaps,
            1,
            {"error_y": intervals, "hovertemplate": "%{x:,} samples: %{y:.1f} points<extra></extra>"},
        ),
        ("largest of all", [100 * step.worst_score for step in result.steps], 1, {"line_dash": "dash"}),
        ("accuracy", [100 * (step.accuracy.value or 0.0) for step in result.steps], 2, {"showlegend": False}),
    ):
        figure.add_scatter(
            x=added,
            y=values,
            mode="lines+markers",
            name=name,
            cliponaxis=False,
            line_color=INK,
            row=row,
            col=1,
            **look,
        )
    figure.update_xaxes(rangemode="tozero")
    figure.update_xaxes(title="samples added to the training rows", row=2)
    figure.update_yaxes(title="difference (points)", zeroline=True, row=1)
    figure.update_yaxes(title="accuracy (%)", range=[0, 100], row=2)
    last = result.steps[result.chosen]
    alt = (
        f"Difference of {result.rule_set} against samples added: {number(gaps[0])} points without, "
        f"{number(gaps[result.chosen])} with {count(last.added)}."
    )
    return finish(figure, height=360, alt=alt)


def frontier(result: MitigationResult) -> go.Figure:
    """Draw the gap of every model against its accuracy, both with intervals; the chosen one in focus."""
    figure = go.Figure()
    order = sorted(
        (each for each in result.frontier if each.efficient), key=lambda each: each.accuracy.value or 0.0
    )
    path = [(100 * (each.accuracy.value or 0.0), 100 * (each.gap.value or 0.0)) for each in order]
    figure.add_trace(segments(itertools.pairwise(path), CONTEXT, 1.5))
    best = result.frontier[result.best].name
    for method, symbol in SYMBOLS.items():
        points = [each for each in result.frontier if each.method == method and each.gap.value is not None]
        if points:
            colors = [FOCUS if each.name == best else INK for each in points]
            figure.add_scatter(
                x=[100 * (each.accuracy.value or 0.0) for each in points],
                y=[100 * (each.gap.value or 0.0) for each in points],
                mode="markers",
                name=METHODS[method],
                marker={"color": colors, "size": 10, "symbol": symbol},
                error_x=reaching([each.accuracy for each in points], 100.0, thickness=1),
                error_y=reaching([each.gap for each in points], 100.0, thickness=1),
                customdata=[each.name for each in points],
                hovertemplate="%{customdata}: %{x:.1f}% correct, gap %{y:.1f} points<extra></extra>",
            )
    figure.update_xaxes(title="correct decisions (%)")
    figure.update_yaxes(title="gap (points)", rangemode="tozero")
    said = "; ".join(
        f"{each.name} {percent(each.accuracy.value, 999)} correct, gap {percent(each.gap.value, 999)}"
        for each in result.frontier
    )
    return finish(figure, height=420, alt=f"Accuracy and gap of {len(result.frontier)} models: {said}.")
