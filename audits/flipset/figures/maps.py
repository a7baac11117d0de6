"""Figures of the map behind a flipset audit: whom it moves where, how well it fits, how it was trained."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.drawing.selected import people_id, within_edges
from audits.drawing.style import (
    CONTEXT,
    FOCUS,
    GRAY,
    INK,
    OKABE_ITO,
    describe,
    distinct,
    empty,
    finish,
    wrap_title,
)
from audits.flipset.counterparts.validation import KS_LIMIT
from audits.flipset.figures.intervals import histogram
from audits.flipset.result import FlipsetResult
from audits.flipset.text import way_words
from audits.progress import CurvePoint
from audits.stats.text import count, number, so_many

_COLORS = {"positive": INK, "negative": FOCUS}


def fit(result: FlipsetResult, *, most: int = 20) -> go.Figure:
    """Draw each feature's KS distance between counterparts and target group, the largest on top."""
    ranked = sorted(result.validation.ks.items(), key=lambda item: item[1])[-most:]
    if not ranked:
        return empty("No features were matched on.")
    figure = go.Figure(
        go.Bar(
            x=[value for _, value in ranked],
            y=list(range(len(ranked))),
            orientation="h",
            marker={"color": [FOCUS if value > KS_LIMIT + 1e-9 else CONTEXT for _, value in ranked]},
            customdata=[describe(name, longest=60) for name, _ in ranked],
            hovertemplate="%{customdata}: %{x:.3f}<extra></extra>",
            showlegend=False,
        )
    )
    figure.add_vline(x=KS_LIMIT, line={"color": INK, "dash": "dot", "width": 1})
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(ranked))),
        ticktext=distinct([name for name, _ in ranked]),
    )
    figure.update_xaxes(title="KS distance to the target group", range=[0, None])
    name, value = ranked[-1]
    alt = (
        f"KS distance of each feature; {name} has the largest, {number(value)}; "
        f"{KS_LIMIT} is the most accepted."
    )
    return finish(figure, height=100 + 26 * len(ranked), alt=alt)


def repeats(result: FlipsetResult) -> go.Figure:
    """Draw both flipsets' shares in every repeat, and in how many of their repeats people flip."""
    found = result.again
    if found is None:
        return empty("People were matched once.")
    figure = make_subplots(
        rows=1,
        cols=2,
        subplot_titles=["people (%)<br>in each repeat", "people, by repeats<br>they flip in"],
    )
    for place, name in enumerate(("negative", "positive")):
        figure.add_scatter(
            x=[100 * float(run[name]) for run in found.runs],
            # a little apart, so that repeats that agree can be told
            y=[place + 0.24 * ((k * 7 % 11) / 10 - 0.5) for k in range(found.repeats)],
            mode="markers",
            marker={"color": _COLORS[name], "size": 7, "opacity": 0.7},
            customdata=[run["map"] for run in found.runs],
            hovertemplate="%{x:.1f}%, %{customdata}<extra></extra>",
            showlegend=False,
            row=1,
            col=1,
        )
    edges = found.histogram["edges"]
    figure.add_trace(
        histogram(
            edges,
            found.histogram["people"],
            100.0,
            GRAY,
            meta=[people_id(*within_edges("flips again", edges, k)) for k in range(len(edges) - 1)],
            hovertemplate="%{y:,.0f} people<extra></extra>",
        ),
        row=1,
        col=2,
    )
    figure.update_yaxes(
        tickmode="array",
        tickvals=[0, 1],
        ticktext=[wrap_title(way_words(name), 16) for name in ("negative", "positive")],
        row=1,
        col=1,
    )
    figure.update_xaxes(rangemode="tozero", row=1, col=1)
    figure.update_xaxes(title="repeats of 100", row=1, col=2)
    alt = (
        f"Both flipsets in {found.repeats} repeats; {count(found.nearly_always)} of {count(found.people)} "
        "people flip in at least 9 of 10 of their repeats."
    )
    return finish(figure, height=320, alt=alt).update_layout(margin={"t": 60})


def training(result: FlipsetResult) -> go.Figure:
    """Draw the training curves of the maps there and back."""
    return curve(result.training)


def curve(points: Sequence[CurvePoint]) -> go.Figure:
    """Draw training curves, finished or not: KS distance above, losses below, over iterations.

    Parameters
    ----------
    points : sequence of dict
        As `FlipsetResult.training`; the last map is drawn in full, those before it dotted.
    """
    if not points:
        return empty("This map is not trained step by step.")
    maps = list(dict.fromkeys(str(point.get("map", "")) for point in points))
    title = f"solid: {describe(maps[-1])}, dotted: {', '.join(map(describe, maps[:-1]))}"
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.14,
        subplot_titles=[title if 1 < len(maps) <= _MAX_NAMED else ""],
    )
    for name in maps:
        mine = [point for point in points if str(point.get("map", "")) == name]
        last = name == maps[-1]
        for key, label, row, color in _LINES:
            shown = [point for point in mine if point[key] is not None]
            if not shown:
                continue
            figure.add_scatter(
                x=[point["iteration"] for point in shown],
                y=[point[key] for point in shown],
                mode="lines" if len(shown) > 1 else "markers",
                line={"color": color, "width": 2, "dash": "solid" if last else "dot"},
                name=label,
                meta=name,
                legendgroup=label,
                showlegend=last,
                hovertemplate=f"{label}, iteration %{{x:,}}: %{{y:.4g}}<extra>{describe(name)}</extra>",
                row=row,
                col=1,
            )
    figure.update_yaxes(title="KS distance", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title="loss", row=2, col=1)
    figure.update_xaxes(title="iteration", row=2, col=1)
    end = points[-1]
    at = "not yet measured" if end["ks"] is None else number(float(end["ks"]))
    alt = f"Training curve over {end['iteration']:,} iterations; KS distance at the end {at}."
    figure = finish(figure, height=400, alt=alt)
    # above the line that says which curve is whose
    return figure.update_layout(legend={"y": 1.1, "entrywidth": 110}, margin={"t": 64})


_MAX_NAMED = 3  # maps; with more strata their names would not fit
_LINES = (
    ("ks", "KS distance", 1, INK),
    ("critic_loss", "critic", 2, FOCUS),
    ("generator_loss", "generator", 2, OKABE_ITO[2]),
)


def arrows(result: FlipsetResult) -> go.Figure:
    """Draw people, arrows to their counterparts colored by flip, and the decision boundary (Figure 1)."""
    table = result.arrows
    if table.empty:
        return empty("People are matched on more or fewer than two numeric features.")
    figure = go.Figure()
    if not result.boundary.empty:
        grid = result.boundary.pivot_table(index="y", columns="x", values="favorable", aggfunc="first")
        figure.add_contour(
            x=grid.columns,
            y=grid.index,
            z=grid.to_numpy(dtype=float),
            contours={"start": 0.5, "end": 0.5, "size": 1, "coloring": "none"},
            line={"color": INK, "width": 2, "dash": "dash"},
            showscale=False,
            showlegend=True,
            name="decision boundary",
            hoverinfo="skip",
        )
    for flip, name, color in (
        ("none", "same decision", GRAY),
        ("positive", way_words("positive"), _COLORS["positive"]),
        ("negative", way_words("negative"), _COLORS["negative"]),
    ):
        rows = table[table["flip"] == flip]
        if rows.empty:
            continue
        x, y = _segments(rows, "x"), _segments(rows, "y")
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines+markers",
            line={"color": color, "width": 1},
            marker={
                "color": color,
                "size": 7,
                "symbol": ["circle", "arrow", "circle"] * len(rows),
                "angleref": "previous",
            },
            name=name,
            # both ends of an arrow are about the person it begins at
            meta=[each for row in rows.index for each in (*[people_id({"run": "", "row": row})] * 2, "")],
            hovertemplate="%{x:.4g}, %{y:.4g}<extra>" + name + "</extra>",
        )
    figure.update_xaxes(title=describe(result.features[0]))
    figure.update_yaxes(title=describe(result.features[1]))
    flips = int((table["flip"] != "none").sum())
    alt = (
        f"{so_many(len(table), result.source)} with arrows to their counterparts, over "
        f"{result.features[0]} and {result.features[1]}; for {flips} of them the decision changes."
    )
    return finish(figure, height=460, alt=alt)


def _segments(rows: pd.DataFrame, axis: str) -> list[float | None]:
    """Start, end and a gap for each arrow."""
    pairs = zip(rows[axis], rows[f"to {axis}"], strict=True)
    return [place for start, end in pairs for place in (start, end, None)]
