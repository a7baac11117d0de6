"""Figures of a group comparison."""

from __future__ import annotations

import itertools

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.figures.style import ACCENT, CONTRAST, GREY, INK, OKABE_ITO, describe, empty, finish
from audits.groups import GroupRow, GroupsResult
from audits.stats import EVIDENCE, INSUFFICIENT, Estimate
from audits.stats.words import count, percent

__all__ = ["calibration", "rates", "scores"]

_PANELS = {
    "selection_rate": "selection rate",
    "true_positive_rate": "true positive rate",
    "false_positive_rate": "false positive rate",
    "precision": "precision",
    "accuracy": "accuracy",
}
FOUR_FIFTHS = 0.8


def _of(result: GroupsResult, attribute: str) -> list[GroupRow]:
    return [row for row in result.table if row.attribute == attribute]


def rates(
    result: GroupsResult, attribute: str, *, metrics: tuple[str, ...] = (), most: int = 25
) -> go.Figure:
    """Draw rates with intervals: one row a group, one panel a metric; the reference is marked.

    Groups with too few people to say anything are hollow and grey. In the panel of selection rates a line
    stands at four fifths of the highest rate.
    """
    rows = _of(result, attribute)[:most][::-1]
    names = [
        name
        for name in (metrics or tuple(_PANELS)[:3])
        if any(getattr(row, name) is not None for row in rows)
    ]
    if not rows or not names:
        return empty("There is no group to compare.")
    labels = [f"{describe(row.group)}{' (reference)' if row.is_reference else ''}" for row in rows]
    figure = make_subplots(
        rows=1,
        cols=len(names),
        shared_yaxes=True,
        horizontal_spacing=0.03,
        subplot_titles=[_PANELS.get(name, name.replace("_", " ")) for name in names],
    )
    for panel, name in enumerate(names, start=1):
        for row, label in zip(rows, labels, strict=True):
            estimate: Estimate | None = getattr(row, name)
            if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
                continue
            colour, symbol = _mark(row)
            figure.add_trace(
                go.Scatter(
                    x=[100 * estimate.value],
                    y=[label],
                    mode="markers",
                    marker={
                        "color": colour,
                        "size": 9,
                        "symbol": symbol,
                        "line": {"color": colour, "width": 1.5},
                    },
                    error_x={
                        "type": "data",
                        "symmetric": False,
                        "array": [100 * (estimate.high - estimate.value)],
                        "arrayminus": [100 * (estimate.value - estimate.low)],
                        "thickness": 1.8,
                        "width": 0,
                    },
                    hovertemplate=f"{percent(estimate.value, estimate.n)} of {count(estimate.n)}"
                    f"<br>{estimate.method}<extra>{label}</extra>",
                    showlegend=False,
                ),
                row=1,
                col=panel,
            )
        if name == "selection_rate":
            best = max(row.selection_rate.value or 0.0 for row in rows)
            figure.add_vline(
                x=100 * FOUR_FIFTHS * best, line={"color": GREY, "dash": "dot"}, row=1, col=panel
            )
        figure.update_xaxes(title="%", rangemode="tozero", row=1, col=panel)
    figure.update_yaxes(categoryorder="array", categoryarray=labels)
    ends = [row.selection_rate.value for row in rows if row.selection_rate.value is not None]
    alt = (
        f"Rates of {len(rows)} groups of {attribute} with intervals; selection rates from "
        f"{percent(min(ends), 0)} to {percent(max(ends), 0)}."
    )
    return finish(figure, height=110 + 30 * len(rows), alt=alt)


def _mark(row: GroupRow) -> tuple[str, str]:
    if row.is_reference:
        return INK, "diamond"
    if row.verdict == INSUFFICIENT:
        return GREY, "circle-open"
    return (CONTRAST, "circle") if row.verdict == EVIDENCE else (ACCENT, "circle")


def scores(result: GroupsResult, attribute: str, *, most: int = 7) -> go.Figure:
    """Draw the distribution of scores of the largest groups, each as a share of its people."""
    rows = _of(result, attribute)[:most]
    edges = result.score_edges
    centres = [(low + high) / 2 for low, high in itertools.pairwise(edges)]
    figure = go.Figure()
    for row, colour in zip(rows, OKABE_ITO, strict=False):
        figure.add_trace(
            go.Scatter(
                x=centres,
                y=[100 * n / row.n for n in row.score_counts],
                mode="lines",
                line={"color": colour, "shape": "hvh", "width": 2},
                name=f"{describe(row.group)} ({count(row.n)})",
            )
        )
    figure.update_xaxes(title="favorable score")
    figure.update_yaxes(title="share of the group (%)", rangemode="tozero")
    alt = f"Distribution of the favorable score in {len(rows)} groups of {attribute}."
    return finish(figure, height=320, alt=alt)


def calibration(result: GroupsResult, attribute: str, *, most: int = 4) -> go.Figure:
    """Draw how often the label was favourable against the predicted score, a line a group."""
    rows = [row for row in _of(result, attribute)[:most] if row.calibration is not None]
    if not rows:
        return empty("Calibration needs a label and scores that are probabilities.")
    figure = go.Figure(
        go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line={"color": GREY, "dash": "dot"}, name="calibrated")
    )
    for row, colour in zip(rows, OKABE_ITO, strict=False):
        bins = row.calibration
        if bins is None:
            continue
        shown = [
            (score, rate)
            for score, rate, n in zip(bins.mean_score, bins.favorable_rate, bins.n, strict=True)
            if n > 0 and score is not None and rate.value is not None
        ]
        figure.add_trace(
            go.Scatter(
                x=[score for score, _ in shown],
                y=[rate.value for _, rate in shown],
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [(rate.high or 0) - (rate.value or 0) for _, rate in shown],
                    "arrayminus": [(rate.value or 0) - (rate.low or 0) for _, rate in shown],
                    "thickness": 1,
                },
                mode="lines+markers",
                line={"color": colour},
                name=f"{describe(row.group)} ({count(row.n)})",
            )
        )
    figure.update_xaxes(title="mean favorable score in the bin", range=[0, 1])
    figure.update_yaxes(title="share with a favorable label", range=[0, 1])
    alt = f"Calibration of {len(rows)} groups of {attribute}; on the dotted line scores mean what they say."
    return finish(figure, height=360, alt=alt)
