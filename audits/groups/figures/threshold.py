"""The threshold as a slider: the scores of two groups, and whom each threshold approves, right and wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.drawing.slider import with_slider
from audits.drawing.style import FOCUS, INK, annotate, describe
from audits.groups.labels import labels_of
from audits.groups.names import people_of
from audits.groups.people import people_by
from audits.groups.result import GroupRow, GroupsResult
from audits.stats.text import count, percent
from audits.stats.vocabulary import vocabulary

_BINS = 40


def can_move(result: GroupsResult, row: GroupRow) -> bool:
    """Tell whether the people of a group were kept with their scores and groups."""
    return len(result.people) > 0 and all(
        f"group: {name}" in result.people for name in row.attribute.split(" × ")
    )


def _favored(people: pd.DataFrame, cut: float, sign: float) -> np.ndarray:
    """Return who gets the favorable decision (n,): where higher is worse, who lies at the cut does not."""
    scores = people["score"].to_numpy(dtype=float)
    return scores >= cut if sign > 0 else scores > -cut


def confusion(people: pd.DataFrame, cut: float, sign: float = 1.0) -> dict[str, float]:
    """Count people by decision at a threshold, and by outcome where it is known.

    Parameters
    ----------
    people : DataFrame
        Of a result, as far as they are looked at.
    cut : float
        On the scale of the user's scores.
    sign : {1.0, -1.0}
        Whether from the cut on people get the favorable decision, or below it; ``people["score"]`` is turned
        round then.

    Returns
    -------
    dict
        ``yes`` and ``no``, people; with labels ``true_yes``, ``false_yes``, ``true_no``, ``false_no``.
    """
    n, favored = people["people"].to_numpy(dtype=float), _favored(people, cut, sign)
    found = {"yes": n[favored].sum(), "no": n[~favored].sum()}
    labels = labels_of(people)
    if labels is not None:
        for name, side in (("yes", favored & labels.known), ("no", ~favored & labels.known)):
            right = labels.favorable == (name == "yes")
            found |= {f"true_{name}": n[side & right].sum(), f"false_{name}": n[side & ~right].sum()}
    return {name: float(value) for name, value in found.items()}


def members(result: GroupsResult, row: GroupRow) -> pd.DataFrame:
    """Return the people of a group."""
    item = people_by(result.people, row.attribute)
    return result.people[item.group == item.names.index(row.group)]


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
    sides = [(people_of(row), members(result, row)) for row in pair]
    for place, ((_, people), color) in enumerate(zip(sides, (FOCUS, INK), strict=True), start=1):
        share, _ = np.histogram(sign * people["score"], edges, weights=people["people"])
        bars = go.Bar(
            x=middles,
            y=100 * share / max(share.sum(), 1e-9),
            width=(edges[1] - edges[0]) * 0.86,
            marker=_marker_style(people, edges, at, sign, color),
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
            data=[
                {"marker": _marker_style(people, edges, cut, sign, color)}
                for (_, people), color in zip(sides, (FOCUS, INK), strict=True)
            ],
            traces=[0, 1],
            layout=_threshold_update(sides, cut, sign),
        )
        for cut in cuts
    ]
    active = cuts.index(at)
    yes, where = vocabulary().yes or "favorable", "from" if sign > 0 else "below"
    labels = [f"{yes} {where} {cut:.4g}" for cut in cuts]
    told = [f"{who}: {_counts(people, at, sign)}" for who, people in sides]
    moved = _threshold_update(sides, at, sign)
    figure.layout.shapes = moved["shapes"]
    annotate(figure, moved["annotations"])
    alt = f"Scores of two groups with the threshold at {at:g}. {'. '.join(told)}."
    return with_slider(figure, labels, active, height=490, alt=alt)


def _marker_style(
    people: pd.DataFrame, edges: np.ndarray, cut: float, sign: float, color: str
) -> dict[str, Any]:
    """Fill the bars most of whose people get the favorable decision."""
    scores, n = sign * people["score"].to_numpy(dtype=float), people["people"].to_numpy(dtype=float)
    whole, favored = (
        np.histogram(scores, edges, weights=n * part)[0] for part in (1.0, _favored(people, cut, sign))
    )
    fill = np.where(2 * favored >= whole, color, "white").tolist()
    return {"color": fill, "line": {"color": color, "width": 1.2}}


def _threshold_update(sides: Sequence[tuple[str, pd.DataFrame]], cut: float, sign: float) -> dict[str, Any]:
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
            "text": f"<b>{describe(who, longest=60)}</b><br>{_counts(people, cut, sign)}",
        }
        for k, (who, people), color in zip(("", "2"), sides, (FOCUS, INK), strict=True)
    ]
    return {"shapes": shapes, "annotations": notes}


def _counts(people: pd.DataFrame, cut: float, sign: float) -> str:
    found = confusion(people, cut, sign)
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
