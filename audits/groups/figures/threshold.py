"""The threshold as a slider: the scores of two groups, and whom each threshold approves, right and wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.data import group_name
from audits.drawing.slider import with_slider
from audits.drawing.style import FOCUS, INK, annotate, describe
from audits.groups.labels import KNOWN, LABEL
from audits.groups.result import GroupRow, GroupsResult
from audits.groups.text import people_of
from audits.stats.text import count, percent
from audits.stats.vocabulary import vocabulary

__all__ = ["can_move", "confusion", "threshold_slider"]

_BINS = 40


def can_move(result: GroupsResult, row: GroupRow) -> bool:
    """Tell whether the people of a group were kept with their scores and groups."""
    return len(result.people) > 0 and all(
        f"group: {name}" in result.people for name in row.attribute.split(" × ")
    )


def confusion(result: GroupsResult, row: GroupRow, cut: float) -> dict[str, float]:
    """Count the people of a group by decision at a threshold, and by outcome where it is known.

    Parameters
    ----------
    cut : float
        On the scale of ``people["score"]``: from it on people get the favorable decision.

    Returns
    -------
    dict
        ``yes`` and ``no``, people; with labels ``true_yes``, ``false_yes``, ``true_no``, ``false_no``.
    """
    people = result.people[members(result, row)]
    n, favored = people["people"].to_numpy(dtype=float), people["score"].to_numpy(dtype=float) >= cut
    found = {"yes": n[favored].sum(), "no": n[~favored].sum()}
    if LABEL in people:
        known = people[KNOWN].to_numpy(dtype=bool) if KNOWN in people else np.ones(len(people), dtype=bool)
        good = people[LABEL].to_numpy(dtype=float) > 0
        for name, side in (("yes", favored), ("no", ~favored)):
            found[f"true_{name}"] = n[side & known & (good == (name == "yes"))].sum()
            found[f"false_{name}"] = n[side & known & (good != (name == "yes"))].sum()
    return {name: float(value) for name, value in found.items()}


def members(result: GroupsResult, row: GroupRow) -> np.ndarray:
    """Return who belongs to a group."""
    names = row.attribute.split(" × ")
    if len(names) == 1:
        return (result.people[f"group: {row.attribute}"] == row.group).to_numpy(dtype=bool)
    columns = result.people[[f"group: {name}" for name in names]].set_axis(names, axis="columns")
    kinds = columns.drop_duplicates().itertuples(index=False, name=None)
    told = [dict(zip(names, values, strict=True)) for values in kinds]
    own = [values for values in told if group_name(values) == row.group]
    found = np.zeros(len(columns), dtype=bool)
    for values in own:
        found |= (columns == list(values.values())).all(axis="columns").to_numpy()
    return found


def threshold_slider(result: GroupsResult, pair: Sequence[GroupRow], at: float) -> go.Figure:
    """Draw the scores of two groups, filled where they are approved, with a slider that moves the threshold.

    Parameters
    ----------
    pair : sequence of GroupRow
        The group of the sentence, and the one that it is compared with.
    at : float
        Threshold that the decisions were made at, on the scale of the user's scores.
    """
    scores = result.people["score"].to_numpy(dtype=float)
    sign = -1.0 if scores.max() <= 0 and scores.min() < 0 else 1.0
    low, high = (
        (0.0, 1.0) if abs(scores).max() <= 1 else (float((sign * scores).min()), float(abs(scores).max()))
    )
    edges = np.linspace(low, high, _BINS + 1)
    cuts = sorted({*edges[1:-1].round(6).tolist(), at})
    middles = (edges[1:] + edges[:-1]) / 2
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.34)
    for place, (row, color) in enumerate(zip(pair, (FOCUS, INK), strict=True), start=1):
        inside = members(result, row)
        share, _ = np.histogram(sign * scores[inside], edges, weights=result.people["people"][inside])
        bars = go.Bar(
            x=middles,
            y=100 * share / max(share.sum(), 1e-9),
            width=(edges[1] - edges[0]) * 0.86,
            marker=_marker_style(middles, at, sign, color),
            hovertemplate="%{y:.1f}% of the group<extra></extra>",
            showlegend=False,
        )
        figure.add_trace(bars, row=place, col=1)
        figure.update_yaxes(title="", rangemode="tozero", ticksuffix="%", nticks=4, row=place, col=1)
    figure.update_xaxes(range=[low, high])
    figure.update_xaxes(title="score", row=2, col=1)
    figure.frames = [
        go.Frame(
            name=f"{cut:.6g}",
            data=[{"marker": _marker_style(middles, cut, sign, color)} for color in (FOCUS, INK)],
            traces=[0, 1],
            layout=_threshold_update(result, pair, cut, sign),
        )
        for cut in cuts
    ]
    active = cuts.index(at)
    labels = [f"approved from {cut:.4g}" if sign > 0 else f"approved below {cut:.4g}" for cut in cuts]
    told = [f"{people_of(row)}: {_counts(result, row, at, sign)}" for row in pair]
    moved = _threshold_update(result, pair, at, sign)
    figure.layout.shapes = moved["shapes"]
    annotate(figure, moved["annotations"])
    alt = f"Scores of two groups with the threshold at {at:g}. {'. '.join(told)}."
    return with_slider(figure, labels, active, height=490, alt=alt)


def _marker_style(middles: np.ndarray, cut: float, sign: float, color: str) -> dict[str, Any]:
    yes = middles >= cut if sign > 0 else middles < cut
    return {"color": np.where(yes, color, "white").tolist(), "line": {"color": color, "width": 1.2}}


def _threshold_update(
    result: GroupsResult, pair: Sequence[GroupRow], cut: float, sign: float
) -> dict[str, Any]:
    """Return the line of the threshold and the counts at it."""
    line = {"type": "line", "x0": cut, "x1": cut, "line": {"color": INK, "width": 2}}
    shapes = [{**line, "xref": f"x{k}", "yref": f"y{k} domain", "y0": 0, "y1": 1} for k in ("", "2")]
    text = {"xref": "paper", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "showarrow": False}
    notes = [
        {
            **text,
            "yref": f"y{k} domain",
            "align": "left",
            "font": {"size": 13, "color": color},
            "text": f"<b>{describe(people_of(row), longest=60)}</b><br>{_counts(result, row, cut, sign)}",
        }
        for k, row, color in zip(("", "2"), pair, (FOCUS, INK), strict=True)
    ]
    return {"shapes": shapes, "annotations": notes}


def _counts(result: GroupsResult, row: GroupRow, cut: float, sign: float) -> str:
    found = confusion(result, row, sign * cut)
    words = vocabulary()
    whole = found["yes"] + found["no"]
    told = f"{percent(found['yes'] / max(whole, 1e-9), whole)} {words.yes or 'favorable'}"
    if "true_yes" not in found:
        return f"{told}: {count(found['yes'])} of {count(whole)}"
    good, bad = words.truth_yes or "favorable outcome", words.truth_no or "not"
    return (
        f"{told}: {count(found['true_yes'])} {good}, {count(found['false_yes'])} {bad}<br>"
        f"{words.no or 'not'}: {count(found['false_no'])} {good}, {count(found['true_no'])} {bad}"
    )
