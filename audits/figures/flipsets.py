"""Figures of a flipset audit."""

from __future__ import annotations

from typing import Literal

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.figures.style import ACCENT, CONTRAST, GREY, INK, describe, empty, finish
from audits.flipsets import FeatureDifference, FlipsetPart, FlipsetResult, Marginal
from audits.stats.words import count, number, percent

__all__ = ["marginals", "sizes", "transparency"]

Part = Literal["positive", "negative"]
_COLOUR = {"positive": ACCENT, "negative": CONTRAST}


def _words(result: FlipsetResult, part: Part) -> str:
    if part == "positive":
        return f"favorable here, not for the {result.target} counterpart"
    return f"unfavorable here, favorable for the {result.target} counterpart"


def sizes(result: FlipsetResult) -> go.Figure:
    """Draw both flipsets' shares with interval, and the range that chance alone gives."""
    figure = go.Figure()
    rows = []
    for name in ("negative", "positive"):
        part: FlipsetPart = getattr(result, name)
        label = f"{name.capitalize()} flipset"
        rows.append(f"{label.lower()} {percent(part.share.value, result.n_source)}")
        chance = part.expected_by_chance
        if chance is not None and chance.low is not None and chance.high is not None:
            figure.add_trace(
                go.Scatter(
                    x=[100 * chance.low / result.n_source, 100 * chance.high / result.n_source],
                    y=[label, label],
                    mode="lines",
                    line={"color": GREY, "width": 14},
                    name="by chance",
                    showlegend=name == "negative",
                    hovertemplate="by chance: %{x:.1f} %<extra></extra>",
                )
            )
        if part.share.value is not None and part.share.low is not None and part.share.high is not None:
            share = 100 * part.share.value
            figure.add_trace(
                go.Scatter(
                    x=[share],
                    y=[label],
                    error_x={
                        "type": "data",
                        "array": [100 * part.share.high - share],
                        "arrayminus": [share - 100 * part.share.low],
                        "thickness": 2,
                    },
                    mode="markers+text",
                    marker={"color": _COLOUR[name], "size": 11},
                    text=[f"{count(part.size)} people"],
                    textposition="top center",
                    name=_words(result, name),  # type: ignore[arg-type]
                    hovertemplate=f"%{{x:.1f}} %<br>{part.share.method}<extra></extra>",
                )
            )
    figure.update_xaxes(title=f"share of {describe(result.source)} people (%)", rangemode="tozero")
    figure.update_yaxes(range=[-0.6, 1.8])
    alt = f"Share of {result.source} people in each flipset with interval: {', '.join(rows)}."
    return finish(figure, height=230, alt=alt)


def marginals(result: FlipsetResult, part: Part, *, most: int = 6, columns: int = 3) -> go.Figure:
    """Draw the features whose distribution in the flipset differs most from that of all source people."""
    flipset: FlipsetPart = getattr(result, part)
    if flipset.size <= 0:
        return empty(f"Nobody is in the {part} flipset.")
    shown = flipset.marginals[:most]
    columns = min(columns, len(shown))
    rows = -(-len(shown) // columns)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[describe(item.feature) for item in shown],
        vertical_spacing=0.32 / rows if rows > 1 else 0,
        horizontal_spacing=0.06,
    )
    for k, item in enumerate(shown):
        place = {"row": k // columns + 1, "col": k % columns + 1}
        x, width, hover = _bars(item)
        for name, people, colour, opacity in (
            (f"all {count(result.n_source)} {describe(result.source)}", item.population, GREY, 0.75),
            (f"{part} flipset ({count(flipset.size)})", item.flipset, _COLOUR[part], 0.65),
        ):
            total = sum(people)
            figure.add_trace(
                go.Bar(
                    x=x,
                    y=[100 * value / total for value in people],
                    width=width,
                    offset=None if width is None else [-w / 2 for w in width],
                    customdata=[[count(value), label] for value, label in zip(people, hover, strict=True)],
                    marker={"color": colour, "opacity": opacity, "line": {"width": 0}},
                    name=name,
                    legendgroup=name,
                    showlegend=k == 0,
                    hovertemplate="%{customdata[1]}<br>%{y:.1f} % (%{customdata[0]} people)<extra></extra>",
                ),
                **place,
            )
        if k % columns == 0:
            figure.update_yaxes(title="share of people (%)", **place)
    figure.update_layout(barmode="overlay")
    figure.update_yaxes(rangemode="tozero")
    first = shown[0]
    alt = (
        f"Distribution of {len(shown)} features in the {part} flipset beside all {result.source} people; "
        f"{first.feature} differs most (distance {number(first.distance)})."
    )
    figure = finish(figure, height=110 + 230 * rows, alt=alt)
    return figure.update_layout(legend={"y": 1.0 + 44 / (110 + 230 * rows)}, margin={"t": 76})


def _bars(item: Marginal) -> tuple[list[float] | list[str], list[float] | None, list[str]]:
    """Bar centres, widths and hover labels of one feature."""
    if item.edges is None:
        labels = list(item.categories or ())
        return (
            [describe(label, longest=18) for label in labels],
            None,
            [describe(x, longest=60) for x in labels],
        )
    ends = list(zip(item.edges[:-1], item.edges[1:], strict=True))
    centres = [(low + high) / 2 for low, high in ends]
    hover = [
        number(centre) if high - low == 1 and centre == round(centre) else f"{number(low)} to {number(high)}"
        for centre, (low, high) in zip(centres, ends, strict=True)
    ]
    return centres, [high - low for low, high in ends], hover


def transparency(result: FlipsetResult, part: Part, *, most: int = 12) -> go.Figure:
    """Draw the transparency report: mean difference in standard deviations, and mean sign, with intervals."""
    flipset: FlipsetPart = getattr(result, part)
    shown = [item for item in flipset.transparency if item.mean_difference.value is not None][:most][::-1]
    if not shown:
        return empty(f"Nobody is in the {part} flipset.")
    labels = [describe(item.feature) for item in shown]
    figure = make_subplots(
        rows=1,
        cols=2,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        column_widths=[0.6, 0.4],
        subplot_titles=["mean difference (standard deviations)", "mean sign"],
    )
    lengths = [item.standardized_difference for item in shown]
    ends = [_standardized_ends(item) for item in shown]
    figure.add_trace(
        go.Bar(
            x=lengths,
            y=labels,
            orientation="h",
            marker={"color": _COLOUR[part]},
            error_x=_whiskers(lengths, ends),
            customdata=[
                [
                    number(item.mean_difference.value),
                    number(item.mean_difference.low),
                    number(item.mean_difference.high),
                ]
                for item in shown
            ],
            hovertemplate="%{y}: %{customdata[0]} in its own unit "
            "(%{customdata[1]} to %{customdata[2]})<extra></extra>",
            showlegend=False,
        ),
        row=1,
        col=1,
    )
    signs = [item.mean_sign.value or 0.0 for item in shown]
    figure.add_trace(
        go.Scatter(
            x=signs,
            y=labels,
            mode="markers",
            marker={"color": INK, "size": 8},
            error_x=_whiskers(signs, [(item.mean_sign.low, item.mean_sign.high) for item in shown]),
            hovertemplate="%{y}: %{x:.2f}<extra></extra>",
            showlegend=False,
        ),
        row=1,
        col=2,
    )
    figure.update_xaxes(range=[-1.08, 1.08], row=1, col=2)
    first = shown[-1]
    alt = (
        f"Features by how far people in the {part} flipset lie from their counterparts; "
        f"first {first.feature}, by {number(first.mean_difference.value)} on average."
    )
    return finish(figure, height=90 + 30 * len(shown), alt=alt)


def _standardized_ends(item: FeatureDifference) -> tuple[float | None, float | None]:
    low, high = item.mean_difference.low, item.mean_difference.high
    if low is None or high is None or item.deviation == 0:
        return None, None
    return low / item.deviation, high / item.deviation


def _whiskers(values: list[float], ends: list[tuple[float | None, float | None]]) -> dict[str, object]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if high is None else high - value for value, (_, high) in zip(values, ends, strict=True)],
        "arrayminus": [
            0 if low is None else value - low for value, (low, _) in zip(values, ends, strict=True)
        ],
        "color": INK,
        "thickness": 1.4,
        "width": 3,
    }
