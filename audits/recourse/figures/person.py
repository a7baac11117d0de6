"""Figures of one person's way: score and columns under a slider of the way."""

from __future__ import annotations

from numbers import Real
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from audits.drawing.slider import with_slider
from audits.drawing.style import FOCUS, INK, describe, distinct, empty
from audits.recourse.result import RecourseResult
from audits.recourse.text import way_to, yes_word
from audits.stats.text import number
from audits.stats.vocabulary import vocabulary
from audits.text import value_words

_TODAY, _THERE = 0.0, 0.5  # where the two columns of values start
_MAX = 20  # letters of a value: two of them stand beside a column's name, on a phone too


def person_path(result: RecourseResult, row: int | str) -> go.Figure:
    """Draw one person's score and columns under a slider of the way, which moves in the browser.

    Parameters
    ----------
    row : int or str
        The user's row number of a rejected person.
    """
    if row not in result.scores.index:
        return empty(f"Choose a {vocabulary().person}.")
    flips = float(result.people["alpha"].loc[row])
    own = result.paths.loc[[row]]
    steps = [dict(zip(own.columns, values, strict=True)) for values in own.itertuples(index=False)]
    reached = [k for k, step in enumerate(steps) if step["alpha"] >= flips - 1e-9]
    active = reached[0] if reached else len(steps) - 1
    below = {"xaxis": "x2", "yaxis": "y2", "y": distinct(list(result.columns)), "mode": "text"}
    figure = go.Figure(
        [
            go.Scatter(
                x=[100 * step for step in result.grid],
                y=result.scores.loc[[row]].to_numpy()[0].tolist(),
                mode="lines",
                line={"color": FOCUS, "width": 2},
                hovertemplate="%{x:.3g}% of the way: score %{y:.3g}<extra></extra>",
            ),
            go.Scatter(_mark(steps[active]), mode="markers", marker={"size": 12, "color": INK}),
            go.Scatter(below, x=[_TODAY] * len(result.columns), text=_values(result, steps[0])),
            go.Scatter(below | _there(result, steps[0], steps[active]), x=[_THERE] * len(result.columns)),
        ]
    )
    figure.update_traces(showlegend=False, textposition="middle right", cliponaxis=False)
    figure.update_traces(hoverinfo="skip", selector=lambda trace: trace.mode != "lines")
    figure.frames = [
        {
            "name": f"{step['alpha']:g}",
            "data": [_mark(step), {"type": "scatter", **_there(result, steps[0], step)}],
            "traces": [1, 3],
        }
        for step in steps
    ]
    if reached:
        figure.add_vline(x=100 * flips, line={"color": INK, "dash": "dot"}, annotation_text=yes_word())
    heads = {"y": 1.0, "xref": "x2", "yref": "y2 domain", "xanchor": "left", "yanchor": "bottom"}
    for text, x in (("today", _TODAY), ("on the way", _THERE)):
        figure.add_annotation(text=f"<b>{text}</b>", x=x, showarrow=False, **heads)
    lower = 26 * len(result.columns) + 20
    height = 400 + lower
    edge = lower / (height - 160)
    figure.update_layout(
        xaxis={"title": "how far towards the match (%)", "range": [-2, 102]},
        yaxis={"title": "score", "domain": [min(edge + 0.24, 0.8), 1.0]},
        xaxis2={"anchor": "y2", "visible": False, "range": [-0.02, 1.0], "fixedrange": True},
        yaxis2={
            "domain": [0.0, min(edge, 0.6)],
            "range": [len(result.columns) - 0.5, -0.9],
            "showgrid": False,
            "fixedrange": True,
        },
    )
    told = f"{yes_word()} from {100 * flips:.3g}% on" if reached else f"never {yes_word()}"
    alt = f"Score and columns of the person in row {row} on the way: {told}."
    return with_slider(figure, [_step_text(step) for step in steps], active, height=height, alt=alt)


def _mark(step: dict[str, Any]) -> dict[str, Any]:
    return {"type": "scatter", "x": [100 * step["alpha"]], "y": [step["score"]]}


def _there(result: RecourseResult, today: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    """Values at a step; what differs from today in color, and with an arrow for those who see none."""
    now = _values(result, step)
    same = [today[_key(name)] == step[_key(name)] for name in result.columns]
    return {
        "text": [text if kept else f"→ {text}" for text, kept in zip(now, same, strict=True)],
        "textfont": {"color": [INK if kept else FOCUS for kept in same]},
    }


def _key(name: str) -> str:
    return f"value of {name}"


def _values(result: RecourseResult, step: dict[str, Any]) -> list[str]:
    return [_short_value(step[_key(name)]) for name in result.columns]


def _short_value(value: Any) -> str:
    """A value as the data have it, to six digits, short enough to stand beside another."""
    if pd.isna(value):
        return "missing"
    if isinstance(value, Real) and not isinstance(value, bool):
        return value_words(float(value))
    return describe(str(value), longest=_MAX)


def _step_text(step: dict[str, Any]) -> str:
    decision = yes_word() if step["decision"] else vocabulary().no or "rejected"
    return f"{way_to(step['alpha'])}: score {number(float(step['score']))}, {decision}"
