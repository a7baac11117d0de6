"""Figures of a flipset audit: sizes, who is in the flipsets, and how they differ from their counterparts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.brief import value_words
from audits.data.values import MISSING
from audits.drawing.marks import band, decisive, named, reaching, whiskers
from audits.drawing.selected import of_run, people_id
from audits.drawing.style import (
    ACCENT,
    CONTRAST,
    GREY,
    INK,
    describe,
    distinct,
    empty,
    finish,
    round_ticks,
    short,
    wrapped,
)
from audits.flipset import FeatureDifference, FlipsetPart, FlipsetResult, Marginal
from audits.flipset.figures.bars import bar_rules
from audits.flipset.parts import ranked
from audits.flipset.words import interval_words
from audits.stats.words import count, number, people, people_in, percent, so_many

__all__ = ["COLOUR", "Part", "above_chance", "marginals", "sizes", "transparency"]

Part = Literal["positive", "negative"]
COLOUR = {"positive": ACCENT, "negative": CONTRAST}

_LONGEST_TITLE, _LONGEST_VALUE, _LINE = 22, 16, 22  # letters: of a panel's title, of a value, under a panel
_WAY = {"positive": "favorable here,<br>not there", "negative": "favorable there,<br>not here"}


def sizes(result: FlipsetResult) -> go.Figure:
    """Draw both flipsets' shares with interval, and the range that chance alone gives.

    "Here" is the person, "there" the counterpart.
    """
    figure = go.Figure()
    rows = []
    for name in ("negative", "positive"):
        part: FlipsetPart = getattr(result, name)
        label = f"{name.capitalize()} flipset<br>({_WAY[name]})"
        rows.append(f"{name} flipset {percent(part.share.value, result.n_source)}")
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
                    error_x=reaching([part.share], 100.0, color=None, thickness=2),
                    mode="markers+text",
                    marker={"color": COLOUR[name], "size": 11},
                    text=[people(part.size)],
                    cliponaxis=False,  # a number at the right edge, on a narrow screen
                    textposition="top center" if share > 8 else "top right",  # not over the labels
                    showlegend=False,
                    meta=[people_id(of_run(name, above=0))],
                    hovertemplate=f"%{{x:.1f}} %<br>{part.share.method}<extra></extra>",
                )
            )
    figure.update_xaxes(
        title=f"share of {describe(people_in(result.source), longest=60)} (%)", rangemode="tozero"
    )
    figure.update_yaxes(range=[-0.6, 1.6])
    alt = f"Share of {people_in(result.source)} in each flipset with interval: {', '.join(rows)}."
    return finish(figure, height=250, alt=alt)


_MOST_LEVELS = 5


def above_chance(result: FlipsetResult) -> go.Figure:
    """Draw what the verdict looks at: what decides first, and of the others those nearest to mattering.

    The gray band is what is no material difference on average; a level may differ by twice as much.
    """
    shown = result.above_chance_frame()
    if shown.empty:
        return empty("Chance was not measured.")
    whole = shown[~shown["what"].str.startswith("level: ") | shown["verdict rests on it"]]
    levels = shown.drop(whole.index).head(_MOST_LEVELS)
    shown = pd.concat([whole, levels]).iloc[::-1].reset_index(drop=True)
    judged, first = result.judged, int(shown["verdict rests on it"].to_numpy().argmax())
    figure = go.Figure(decisive(judged, first, 100.0))
    others = shown[~shown["verdict rests on it"]].dropna(subset=["value"])
    ends = [
        (None, None) if pd.isna(low) else (100 * low, 100 * high)
        for low, high in zip(others["low"], others["high"], strict=True)
    ]
    values = (100 * others["value"]).tolist()
    figure.add_trace(
        go.Scatter(
            x=values,
            y=others.index.tolist(),
            mode="markers",
            marker={"color": INK, "size": 7},
            error_x=whiskers(values, ends, width=3, thickness=1),
            customdata=list(others["what"]),
            hovertemplate="%{customdata}: %{x:.1f} percentage points<extra></extra>",
            showlegend=False,
        )
    )
    reach = 100 * result.options["material"]
    figure.add_vrect(x0=-reach, x1=reach, fillcolor=GREY, opacity=0.25, line_width=0)
    named(figure, [("too little to matter on average", band())])
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    figure.update_yaxes(
        zeroline=False,
        tickvals=list(range(len(shown))),
        ticktext=[wrapped(each.removeprefix("level: "), 20) for each in shown["what"]],
        range=[-0.6, len(shown) - 0.4],
    )
    figure.update_xaxes(title="percentage points of people")
    alt = f"{interval_words(judged)}; the gray band is what does not matter on average."
    return finish(figure, height=130 + 50 * len(shown), alt=alt)


def marginals(
    result: FlipsetResult,
    part: Part,
    within: str | None = None,
    *,
    features: Sequence[str] = (),
    most: int = 6,
    columns: int = 3,
) -> go.Figure:
    """Draw features' distributions in the flipset over those of all source people.

    Parameters
    ----------
    within : str, optional
        The stratum drawn; everyone by default.
    features : sequence of str, optional
        Which, in this order; by default the `most` that differ most.
    """
    flipset, n = result.flipset(part, within)
    told = {item.feature: item for item in flipset.marginals}
    shown = [told[name] for name in features if name in told] or list(flipset.marginals[:most])
    if flipset.size <= 0:
        return empty(f"Nobody is in the {part} flipset{_where(within)}.")
    columns = min(columns, len(shown))
    rows = -(-len(shown) // columns)
    deep = any(_upright(item) for item in shown)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=distinct([item.feature for item in shown], longest=_LONGEST_TITLE),
        vertical_spacing=(0.52 if deep else 0.32) / rows if rows > 1 else 0,
        horizontal_spacing=0.06,
    )
    source, _ = distinct([result.source, result.target])
    for k, item in enumerate(shown):
        place = {"row": k // columns + 1, "col": k % columns + 1}
        for trace in _overlay(source, part, flipset, n, item, within):
            figure.add_trace(trace.update(showlegend=k == 0), **place)
        figure.update_xaxes(**_category_axis(item), **place)
        if k % columns == 0:
            figure.update_yaxes(title="share of people (%)", **place)
    figure.update_layout(barmode="overlay")
    figure.update_yaxes(rangemode="tozero")
    first = max(shown, key=lambda item: item.distance)
    alt = (
        f"Distribution of {len(shown)} features in the {part} flipset beside all {people_in(result.source)}"
        f"{_where(within)}; {first.feature} differs most (distance {number(first.distance)})."
    )
    height = 110 + (310 if deep else 230) * rows
    figure = finish(figure, height=height, alt=alt)
    # fonts are measured before they are loaded: without a width the last letters of a name are cut off
    return figure.update_layout(legend={"y": 1.0 + 44 / height, "entrywidth": 220}, margin={"t": 76})


def _where(within: str | None) -> str:
    return "" if within is None else f" within “{within}”"


def _overlay(
    source: str, part: Part, flipset: FlipsetPart, n: float, item: Marginal, within: str | None
) -> list[go.Bar]:
    """Bars of everyone in grey, and of the flipset over them, each as shares of their own people."""
    stratum = [of_run("within", within=[within])] if within is not None else []
    flipped = [of_run(part, above=0)]
    x, width, hover = _bars(item)
    missing = ((), ()) if item.missing is None else ((item.missing[0],), (item.missing[1],))
    bars = []
    everyone = f"all {so_many(n, source)}"
    inside = f"{part} flipset ({count(flipset.size)})"
    for name, sizes, colour, opacity, who in (
        (everyone, (*item.population, *missing[0]), GREY, 0.75, [of_run("decision", not_missing=True)]),
        (inside, (*item.flipset, *missing[1]), COLOUR[part], 0.65, flipped),
    ):
        total = sum(sizes)
        bars.append(
            go.Bar(
                x=x,
                y=[100 * value / total for value in sizes],
                width=width,
                offset=None if width is None else [-w / 2 for w in width],
                customdata=[[count(value), label] for value, label in zip(sizes, hover, strict=True)],
                meta=[people_id(*bar_rules(item, bar), *who, *stratum) for bar, *_ in item.bars],
                marker={"color": colour, "opacity": opacity, "line": {"width": 0}},
                name=name,
                legendgroup=name,
                hovertemplate="%{customdata[1]}<br>%{y:.1f} % (%{customdata[0]} people)<extra></extra>",
            )
        )
    return bars


def _category_axis(item: Marginal) -> dict[str, object]:
    """Write the values of a categorical feature under their bars, at most as many as can be read.

    Of a numeric one only where a bar apart stands for missing values.
    """
    if item.categories is None:
        if item.missing is None or item.edges is None:
            return {}
        x, _, _ = _bars(item)
        low, high = item.edges[0], item.edges[-1]
        ticks = [tick for tick in round_ticks(low, high) if tick <= high - 0.3 * (high - low)]
        return {
            "tickmode": "array",
            "tickvals": [*ticks, x[-1]],
            "ticktext": [*map(short, ticks), "missing"],
            "tickangle": 0,
        }
    step = -(-len(item.categories) // 12)
    drawn = range(0, len(item.categories), step)
    texts = distinct([item.categories[k] for k in drawn], longest=_LONGEST_VALUE)
    return {
        "tickmode": "array",
        "tickvals": list(drawn),
        "ticktext": texts,
        "tickangle": -90 if _upright(item) else 0,
    }


def _upright(item: Marginal) -> bool:
    """Whether the values of a categorical feature are too long to stand beside each other."""
    texts = [value[:_LONGEST_VALUE] for value in item.categories or ()]
    return len(texts) * max(map(len, texts), default=0) > _LINE


def _bars(item: Marginal) -> tuple[list[float], list[float] | None, list[str]]:
    """Bar centres, widths and hover labels of one feature."""
    if item.edges is None:
        labels = list(item.categories or ())
        return (
            [float(k) for k in range(len(labels))],
            None,
            [describe(label, longest=60) for label in labels],
        )
    ends = list(zip(item.edges[:-1], item.edges[1:], strict=True))
    centres = [(low + high) / 2 for low, high in ends]
    hover = [
        value_words(centre)
        if high - low == 1 and centre == round(centre)
        else f"{value_words(low)} to {value_words(high)}"
        for centre, (low, high) in zip(centres, ends, strict=True)
    ]
    widths = [high - low for low, high in ends]
    if item.missing is not None:  # a bar apart, to the right of the numbers
        wide = max(widths[-1], 0.04 * (item.edges[-1] - item.edges[0]))
        centres, widths, hover = [*centres, item.edges[-1] + 2 * wide], [*widths, wide], [*hover, MISSING]
    return centres, widths, hover


def transparency(
    result: FlipsetResult,
    part: Part,
    within: str | None = None,
    *,
    by_sign: bool = False,
    most: int = 12,
) -> go.Figure:
    """Draw the transparency report: mean difference in standard deviations, and mean sign, with intervals.

    Parameters
    ----------
    within : str, optional
        The stratum drawn; everyone by default.
    by_sign : bool
        Rank by the mean sign, Definition 2's second ranking, instead of the mean difference.
    """
    report = result.flipset(part, within)[0].transparency
    shown = _reported(ranked(report, by_sign=by_sign), most)
    if not shown:
        return empty(f"Nobody is in the {part} flipset{_where(within)}.")
    figure = make_subplots(
        rows=1,
        cols=2,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        column_widths=[0.6, 0.4],
        subplot_titles=["mean difference<br>(standard deviations)", "mean sign"],
    )
    figure.add_trace(_difference_bars(shown, part), row=1, col=1)
    figure.add_trace(_sign_dots(shown), row=1, col=2)
    figure.update_xaxes(range=[-1.08, 1.08], row=1, col=2)
    _name_lines(figure, shown)
    first = shown[-1]
    alt = (
        f"Features by how far people in the {part} flipset{_where(within)} lie from their counterparts; "
        f"first {first.feature}, by {number(first.mean_difference.value)} on average, "
        f"mean sign {number(first.mean_sign.value)}."
    )
    return finish(figure, height=106 + 30 * len(shown), alt=alt).update_layout(margin={"t": 52})


def _name_lines(figure: go.Figure, shown: list[FeatureDifference]) -> None:
    """Write the features beside their lines."""
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(shown))),
        ticktext=distinct([item.feature for item in shown]),
    )


def _reported(report: Sequence[FeatureDifference], most: int) -> list[FeatureDifference]:
    """Lines of the report with a value, the first last: bars are drawn from the bottom."""
    return [item for item in report if item.mean_difference.value is not None][:most][::-1]


def _difference_bars(shown: list[FeatureDifference], part: Part) -> go.Bar:
    lengths = [item.standardized_difference for item in shown]
    return go.Bar(
        x=lengths,
        y=list(range(len(shown))),
        orientation="h",
        marker={"color": COLOUR[part]},
        error_x=whiskers(lengths, [_standardized_ends(item) for item in shown], width=3),
        customdata=[
            [describe(item.feature, longest=60), *(number(end) for end in (gap.value, gap.low, gap.high))]
            for item, gap in ((item, item.mean_difference) for item in shown)
        ],
        hovertemplate="%{customdata[0]}: %{customdata[1]} in its own unit "
        "(%{customdata[2]} to %{customdata[3]})<extra></extra>",
        showlegend=False,
    )


def _sign_dots(shown: list[FeatureDifference]) -> go.Scatter:
    values = [item.mean_sign.value or 0.0 for item in shown]
    return go.Scatter(
        x=values,
        y=list(range(len(shown))),
        customdata=[describe(item.feature, longest=60) for item in shown],
        mode="markers",
        marker={"color": INK, "size": 8},
        error_x=reaching([item.mean_sign for item in shown], width=3),
        hovertemplate="%{customdata}: %{x:.2f}<extra></extra>",
        showlegend=False,
    )


def _standardized_ends(item: FeatureDifference) -> tuple[float | None, float | None]:
    low, high = item.mean_difference.low, item.mean_difference.high
    if low is None or high is None or item.deviation == 0:
        return None, None
    return low / item.deviation, high / item.deviation
