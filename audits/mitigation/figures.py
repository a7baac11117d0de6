"""Figures of a mitigation."""

from __future__ import annotations

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.drawing.differences import differences
from audits.drawing.marks import reaching
from audits.drawing.style import INK, finish
from audits.mitigation.result import MitigationResult
from audits.stats.words import count, number

__all__ = ["amounts", "left"]


def left(result: MitigationResult) -> go.Figure:
    """Draw the group's difference from the others before, and after training again: what decides."""
    told = {0: "before" if result.chosen else "as it was"} | {
        place: f"after {count(result.steps[place].added)} samples" for place in {result.chosen} - {0}
    }
    rows = [(name, result.steps[place].difference, "") for place, name in told.items()]
    title = "favorable share of the group,<br>minus the others (points)"
    return differences(result.judged, rows, title=title, unit=100.0, ordered=False)


def amounts(result: MitigationResult) -> go.Figure:
    """Draw the group's difference, the largest score of any group and the accuracy against samples added."""
    added = [step.added for step in result.steps]
    gaps = [100 * (step.difference.value or 0.0) for step in result.steps]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.12, row_heights=[0.6, 0.4])
    figure.add_trace(
        go.Scatter(
            x=added,
            y=gaps,
            mode="lines+markers",
            name="the group",
            cliponaxis=False,
            line={"color": INK},
            error_y=reaching([step.difference for step in result.steps], 100.0, color=None, thickness=None),
            hovertemplate="%{x:,} samples: %{y:.1f} points<extra></extra>",
        ),
        row=1,
        col=1,
    )
    for words, values, dash, row in (
        ("largest of all", [100 * step.worst_score for step in result.steps], "dash", 1),
        ("accuracy", [100 * (step.accuracy.value or 0.0) for step in result.steps], "solid", 2),
    ):
        figure.add_trace(
            go.Scatter(
                x=added,
                y=values,
                mode="lines+markers",
                name=words,
                showlegend=row == 1,
                cliponaxis=False,
                line={"color": INK, "dash": dash},
            ),
            row=row,
            col=1,
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
