"""What a page and a report show of the audit."""

from __future__ import annotations

import plotly.graph_objects as go

from audits.drawing import style
from audits.records import Exhibit, Section
from evenhand_top_scores.result import TopScoresResult


def section(result: TopScoresResult) -> Section:
    """Arrange the result."""
    exhibit = Exhibit(
        "shares",
        "Among the best",
        "Where intervals of two groups are far apart, one is among the best more often.",
        lambda: _shares(result),
        result.to_frame,
    )
    facts = {"Groups compared": str(len(result.table))}
    if result.options["note"]:
        facts["Note"] = result.options["note"]
    return Section(title="Best scores", exhibits=(exhibit,), facts=facts)


def _shares(result: TopScoresResult) -> go.Figure:
    frame = result.to_frame()
    reach = {
        "array": frame["high"] - frame["among the best"],
        "arrayminus": frame["among the best"] - frame["low"],
    }
    dots = go.Scatter(x=frame["among the best"], y=frame["group"], mode="markers", error_x=reach)
    figure = go.Figure(dots).update_xaxes(title="share of the group", rangemode="tozero")
    return style.finish(figure, height=120 + 40 * len(frame), alt=result.finding)
