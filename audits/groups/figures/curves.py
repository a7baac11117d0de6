"""Figures over scores: how they are spread, whether they mean the same, what a threshold trades."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from audits.drawing.marks import reaching
from audits.drawing.selected import people_id, within_edges
from audits.drawing.style import (
    ACCENT,
    CONTRAST,
    GRAY,
    describe,
    distinct,
    empty,
    finish,
)
from audits.groups.figures.layout import LEGEND, colors, leading, people_of
from audits.groups.inference import lower_first
from audits.groups.names import people_of as people_of_row
from audits.groups.result import GroupRow, GroupsResult
from audits.stats.text import count, percent
from audits.stats.vocabulary import vocabulary


def _by_score(
    result: GroupsResult, row: GroupRow, edges: Sequence[float], shown: Sequence[int], held: Sequence[float]
) -> list[str]:
    """Return who of a group has a score in each bin shown that holds some; nothing where nobody was kept."""
    group = people_of(result, row.attribute).get(row.group, "") if len(result.people) else ""
    if not group:
        return []
    own = json.loads(group)
    return [people_id(*own, *within_edges("score", edges, k)) if held[k] else "" for k in shown]


def scores(result: GroupsResult, attribute: str, *, most: int = 4) -> go.Figure:
    """Draw the distribution of scores of the largest groups, each as a share of its people."""
    told = lower_first(result)
    rows = leading(result.of(attribute), told, most)
    edges = result.score_edges
    centers = [(low + high) / 2 for low, high in itertools.pairwise(edges)]
    figure = go.Figure()
    labels = distinct([people_of_row(row) for row in rows], longest=LEGEND)
    for row, label, color in zip(rows, labels, colors(rows, told), strict=True):
        figure.add_scatter(
            x=centers,
            y=[100 * n / row.n for n in row.score_counts],
            mode="lines+markers",  # a line alone tells no click
            marker={"size": 4},
            line={"color": color, "shape": "hvh", "width": 2},
            meta=_by_score(result, row, edges, range(len(centers)), row.score_counts),
            name=f"{label} ({count(row.n)})",
        )
    figure.update_xaxes(title="favorable score (higher is better for the person)")
    figure.update_yaxes(title="share of the group (%)", rangemode="tozero")
    alt = f"Distribution of the favorable score in {len(rows)} groups of {attribute}."
    return finish(figure, height=320, alt=alt)


def has_scores(result: GroupsResult, attribute: str) -> bool:
    """Tell scores from mere decisions: those are 0 or 1, of which the rates say all there is to see."""
    return any(any(row.score_counts[1:-1]) for row in result.of(attribute))


def calibration(result: GroupsResult, attribute: str, *, most: int = 4) -> go.Figure:
    """Draw how often the label was favorable against the predicted score, a line a group."""
    told = lower_first(result)
    rows = [row for row in leading(result.of(attribute), told, most) if row.calibration is not None]
    if not rows:
        return empty("Calibration needs a label and scores that are probabilities.")
    figure = go.Figure(
        go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line={"color": GRAY, "dash": "dot"}, name="calibrated")
    )
    labels = distinct([people_of_row(row) for row in rows], longest=LEGEND)
    for row, label, color in zip(rows, labels, colors(rows, told), strict=True):
        bins = row.calibration
        if bins is None:
            continue
        lines = zip(bins.mean_score, bins.favorable_rate, bins.n, strict=True)
        held = {
            place: (score, rate)
            for place, (score, rate, n) in enumerate(lines)
            if n > 0 and score is not None and rate.value is not None
        }
        shown = list(held.values())
        figure.add_scatter(
            x=[score for score, _ in shown],
            y=[rate.value for _, rate in shown],
            error_y=reaching([rate for _, rate in shown], color=None, thickness=1),
            mode="lines+markers",
            line={"color": color},
            meta=_by_score(result, row, bins.edges, list(held), bins.n),
            name=f"{label} ({count(row.n)})",
        )
    figure.update_xaxes(title="mean favorable score of a bin", range=[0, 1])
    figure.update_yaxes(title="share with a favorable label", range=[0, 1])
    alt = f"Calibration of {len(rows)} groups of {attribute}; on the dotted line scores mean what they say."
    return finish(figure, height=360, alt=alt)


def trade_off(table: pd.DataFrame, here: tuple[float, float], attribute: str) -> go.Figure:
    """Draw accuracy against the gap over thresholds for everyone, and where the decisions shown stand.

    Without labels the share decided favorably takes the place of accuracy.

    Parameters
    ----------
    table : DataFrame
        Of `audits.groups.threshold_change.trade_off`.
    here : (float, float)
        Gap in points, and accuracy (or share decided favorably), of the decisions shown.
    """
    column = "accuracy" if table["accuracy"].notna().any() else "selection rate"
    words = "correct decisions (%)" if column == "accuracy" else f"{vocabulary().share_yes} (%)"
    gap, level = here
    figure = go.Figure(
        go.Scatter(
            x=table["gap"],
            y=100 * table[column],
            mode="markers",
            marker={"color": ACCENT, "size": 6},
            customdata=[f"{cut:.4g}" for cut in table["threshold"]],
            hovertemplate="threshold %{customdata}: gap %{x:.1f} points, %{y:.1f}%<extra></extra>",
            name="one threshold for everybody",
        )
    )
    figure.add_scatter(
        x=[gap],
        y=[100 * level],
        mode="markers+text",
        marker={"color": CONTRAST, "size": 14, "symbol": "diamond"},
        text=["you are here"],
        textposition="top center",
        cliponaxis=False,
        hovertemplate="shown: gap %{x:.1f} points, %{y:.1f}%<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(
        title=f"largest gap in selection rates by {describe(attribute)} (points)", rangemode="tozero"
    )
    figure.update_yaxes(title=words)
    best = table.iloc[int(table[column].to_numpy().argmax())]
    alt = (
        f"{words.removesuffix(' (%)').capitalize()} against the gap by {attribute}, over {len(table)} "
        f"thresholds; most at {best['threshold']:.3g}, {percent(best[column], 0)} with a gap of "
        f"{best['gap']:.1f} points. You are at a gap of {gap:.1f} points and {percent(level, 0)}."
    )
    return finish(figure, height=330, alt=alt)
