"""Who flips, feature by feature: mirrored bars of those who flip and of everyone, and how pairs differ."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.drawing.marks import add_legend, dot, whiskers
from audits.drawing.selected import of_run, people_id
from audits.drawing.style import (
    CONTEXT,
    FOCUS,
    GRAY,
    INK,
    date_ticks,
    describe,
    distinct,
    empty,
    finish,
    round_ticks,
    rows_named,
    short,
    stacked_where_narrow,
    wrap_title,
)
from audits.flipset.figures.bars import bar_rules, bar_words
from audits.flipset.result import FeatureDifference, FlipsetResult, Marginal, Way, rank_lines
from audits.flipset.text import feature_words, larger_first, way_words
from audits.stats.text import count, number, people_in, so_many

_ON_TOP = {"yref": "container", "y": 1.0, "yanchor": "top"}
_MAX_TITLE, _MAX_VALUE, _LINE = 22, 16, 26  # letters: of a panel's title, of a value, under a panel
_MOST_ROWS = 12


def marginals(
    result: FlipsetResult,
    way: Way,
    within: str | None = None,
    *,
    features: Sequence[str] = (),
    most: int = 6,
) -> go.Figure:
    """Draw features' distributions among those who flip one way, over those of all source people.

    Parameters
    ----------
    within : str, optional
        The stratum drawn; everyone by default.
    features : sequence of str, optional
        Which, in this order; by default the `most` that differ most.
    """
    flipset, n = result.flipset(way, within)
    told = {item.feature: item for item in flipset.marginals}
    shown = [told[name] for name in features if name in told] or list(flipset.marginals[:most])
    if flipset.size <= 0:
        return empty(f"Nobody: {way_words(way)}{_where(within)}.")
    among = [of_run("within", within=[within])] if within is not None else []
    first = max(shown, key=lambda item: item.distance)
    return bar_grid(
        shown,
        {
            f"all {describe(so_many(n, result.source), longest=40)}": [
                of_run("decision", not_missing=True),
                *among,
            ],
            f"{way_words(way)} ({count(flipset.size)})": [of_run(way, above=0), *among],
        },
        hollow=way == "negative",
        alt=f"{len(shown)} features of {people_in(result.source)}{_where(within)}: {way_words(way)}, beside "
        f"all of them; {first.feature} differs most (distance {number(first.distance)}).",
    )


def bar_grid(
    shown: Sequence[Marginal],
    sides: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    hollow: bool,
    alt: str,
) -> go.Figure:
    """Draw a panel a feature: above the line those who flip, below it everyone, each as shares of their own.

    Parameters
    ----------
    sides : mapping
        Both names, with the terms that select the people of a bar beside its own: everyone, and who flips.
    hollow : bool
        Whether those who flip are declined.
    """
    columns = min(3, len(shown))
    deep = any(_upright(item) for item in shown)
    figure = _panels(shown, columns, deep=deep)
    bars = [_mirrored_bars(item, sides, hollow) for item in shown]
    highest = max(abs(y) for traces in bars for trace in traces for y in trace.y)
    for k, (item, traces) in enumerate(zip(shown, bars, strict=True)):
        place = {"row": k // columns + 1, "col": k % columns + 1}
        for trace in traces:
            figure.add_trace(trace.update(showlegend=k == 0), **place)
        figure.update_xaxes(**_category_axis(item), **place)
        if k % columns == 0:
            figure.update_yaxes(title="people (%)", **place)
    figure.update_yaxes(**_mirrored_axis(highest))
    figure.update_layout(barmode="overlay")
    figure = finish(figure, height=_grid_height(-(-len(shown) // columns), deep=deep), alt=alt)
    stacked_where_narrow(figure, _panels(shown, 1, deep=deep), _grid_height(len(shown), deep=deep))
    # fonts are measured before they are loaded: without a width the last letters of a name are cut off
    legend = {**_ON_TOP, "entrywidth": 260, "traceorder": "reversed"}
    return figure.update_layout(legend=legend, margin={"t": 76})


def _panels(shown: Sequence[Marginal], columns: int, *, deep: bool) -> go.Figure:
    """Return empty panels, one a feature, with the feature's name above."""
    rows = -(-len(shown) // columns)
    return make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=distinct([item.feature for item in shown], longest=_MAX_TITLE),
        vertical_spacing=(0.52 if deep else 0.32) / rows if rows > 1 else 0,
        horizontal_spacing=0.06,
    )


def _grid_height(rows: int, *, deep: bool) -> int:
    return 110 + (270 if deep else 200) * rows


def _where(within: str | None) -> str:
    return "" if within is None else f", within “{within}”"


def _mirrored_bars(
    item: Marginal, sides: Mapping[str, Sequence[Mapping[str, Any]]], hollow: bool
) -> list[go.Bar]:
    """Return the bars of those who flip, upwards, and of everyone, downwards."""
    x, width = _bars(item)
    hover = [describe(words, longest=60) for words in bar_words(item)]
    bars = []
    for name, (sign, color) in zip(sides, ((-1, GRAY), (1, FOCUS)), strict=True):
        sizes = [inside if sign > 0 else everyone for _, everyone, inside in item.bars]
        total = sum(sizes)
        fill = "white" if hollow and sign > 0 else color
        bars.append(
            go.Bar(
                x=x,
                y=[sign * 100 * value / total for value in sizes],
                width=width,
                offset=None if width is None else [-w / 2 for w in width],
                customdata=[
                    [count(value), label, 100 * value / total]
                    for value, label in zip(sizes, hover, strict=True)
                ],
                meta=[people_id(*bar_rules(item, bar), *sides[name]) for bar, *_ in item.bars],
                marker={"color": fill, "line": {"color": color, "width": 1.4 if fill == "white" else 0}},
                name=name,
                legendgroup=name,
                hovertemplate="%{customdata[1]}<br>%{customdata[2]:.1f}% (%{customdata[0]} people)"
                "<extra></extra>",
            )
        )
    return bars


def _mirrored_axis(highest: float) -> dict[str, Any]:
    """Return an axis of shares to both sides of nobody."""
    ticks = [tick for tick in round_ticks(0.0, highest, 2) if tick]
    every = [*(-tick for tick in reversed(ticks)), 0.0, *ticks]
    return {
        "range": [-1.1 * highest, 1.1 * highest],
        "tickvals": every,
        "ticktext": [short(abs(tick)) for tick in every],
    }


def _category_axis(item: Marginal) -> dict[str, object]:
    """Write the values of a categorical feature under their bars, at most as many as can be read.

    Of a numeric one only where a bar apart stands for missing values, and of dates.
    """
    if item.categories is None:
        if item.edges is None or not (item.dates or item.missing is not None):
            return {}
        low, high = item.edges[0], item.edges[-1]
        marks = (
            date_ticks(low, high) if item.dates else {tick: short(tick) for tick in round_ticks(low, high)}
        )
        if item.missing is not None:
            marks = {tick: text for tick, text in marks.items() if tick <= high - 0.3 * (high - low)}
            marks[_bars(item)[0][-1]] = "missing"
        return {
            "tickmode": "array",
            "tickvals": list(marks),
            "ticktext": list(marks.values()),
            "tickangle": 0,
        }
    step = -(-len(item.categories) // 12)
    drawn = range(0, len(item.categories), step)
    texts = distinct([item.categories[k] for k in drawn], longest=_MAX_VALUE)
    upright = _upright(item)
    return {
        "tickmode": "array",
        "tickvals": list(drawn),
        "ticktext": texts if upright else [wrap_title(text, _LINE // len(texts)) for text in texts],
        "tickangle": -90 if upright else 0,
    }


def _upright(item: Marginal) -> bool:
    """Whether the values of a categorical feature have words too long to stand beside each other."""
    texts = [value[:_MAX_VALUE] for value in item.categories or ()]
    return len(texts) * max((len(word) for text in texts for word in text.split()), default=0) > _LINE


def _bars(item: Marginal) -> tuple[list[float], list[float] | None]:
    """Bar centers and widths of one feature."""
    if item.edges is None:
        return [float(k) for k in range(len(item.categories or ()))], None
    ends = list(itertools.pairwise(item.edges))
    centers, widths = [(low + high) / 2 for low, high in ends], [high - low for low, high in ends]
    if item.missing is not None:  # a bar apart, to the right of the numbers
        wide = max(widths[-1], 0.04 * (item.edges[-1] - item.edges[0]))
        centers, widths = [*centers, item.edges[-1] + 2 * wide], [*widths, wide]
    return centers, widths


def transparency(result: FlipsetResult, within: str | None = None, *, by_sign: bool = False) -> go.Figure:
    """Draw the transparency report of both directions, the one that more people flip first.

    Parameters
    ----------
    within : str, optional
        The stratum drawn; everyone by default.
    by_sign : bool
        Rank by the mean sign, Definition 2's second ranking, instead of the mean difference.
    """
    reports = {
        way_words(way): rank_lines(result.flipset(way, within)[0].transparency, by_sign=by_sign)
        for way in larger_first(result)
    }
    return report_rows(reports, nobody=f"Nobody flips{_where(within)}.")


def report_rows(reports: Mapping[str, Sequence[FeatureDifference]], *, nobody: str) -> go.Figure:
    """Draw how far those who flip lie from their matches, a row a feature: mean difference, and mean sign.

    Parameters
    ----------
    reports : mapping
        Ranked lines by the name of the direction: the first in the focus color, whose order counts.
    """
    told = {
        name: {line.feature: line for line in lines if line.mean_difference.value is not None}
        for name, lines in reports.items()
    }
    told = {name: lines for name, lines in told.items() if lines}
    if not told:
        return empty(nobody)
    features = list(dict.fromkeys(name for lines in told.values() for name in lines))[:_MOST_ROWS][::-1]
    figure = make_subplots(
        rows=1,
        cols=2,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        column_widths=[0.52, 0.48],  # the narrower holds its ticks on a phone
        subplot_titles=["mean difference<br>(standard deviations)", "mean sign"],
    )
    reach = 0.5
    for k, lines in enumerate(told.values()):
        shift = 0.0 if len(told) == 1 else 0.17 - 0.34 * k
        here = [(place + shift, lines[each]) for place, each in enumerate(features) if each in lines]
        for col, trace in enumerate(_rows_of(here, INK if k else FOCUS), start=1):
            figure.add_trace(trace, row=1, col=col)
        ends = [end for _, line in here for end in (line.standardized_difference, *_deviations(line))]
        reach = max([reach, *(1.15 * abs(end) for end in ends if end is not None)])
    add_legend(figure, [(name, dot(INK if k else FOCUS)) for k, name in enumerate(told)])
    figure.update_xaxes(range=[-reach, reach], row=1, col=1)
    figure.update_xaxes(range=[-1.08, 1.08], row=1, col=2)
    row = rows_named(figure, distinct(list(map(feature_words, features)), longest=46), wide=True, lift=8)
    for col in (1, 2):
        figure.add_vline(x=0, line={"color": INK, "width": 1}, row=1, col=col)
    name, lines = next(iter(told.items()))
    first = next(iter(lines.values()))
    alt = (
        f"Person minus match, by feature. {name}: first {first.feature}, by "
        f"{number(first.mean_difference.value)} on average, mean sign {number(first.mean_sign.value)}."
    )
    figure = finish(figure, height=140 + (row + 4) * len(features), alt=alt)
    stacked_where_narrow(figure, None)  # both panels fit
    return figure.update_layout(margin={"t": 84}, legend=_ON_TOP)


def _rows_of(here: Sequence[tuple[float, FeatureDifference]], color: str) -> tuple[go.Scatter, go.Scatter]:
    """Return the dots of one direction: mean differences, and mean signs; gray where it may be chance."""
    lines = [line for _, line in here]

    def dots(
        values: list[float], ends: list[tuple[float | None, float | None]], told: list[str]
    ) -> go.Scatter:
        sure = [low is None or high is None or not low <= 0 <= high for low, high in ends]
        return go.Scatter(
            x=values,
            y=[place for place, _ in here],
            mode="markers",
            marker={"color": [color if each else CONTEXT for each in sure], "size": 9},
            error_x=whiskers(values, ends, width=3, thickness=1.2, color=CONTEXT),
            customdata=[
                [describe(line.feature, longest=60), words] for line, words in zip(lines, told, strict=True)
            ],
            hovertemplate="%{customdata[0]}: %{customdata[1]}<extra></extra>",
            showlegend=False,
        )

    signs = [line.mean_sign for line in lines]
    return (
        dots(
            [line.standardized_difference for line in lines],
            [_deviations(line) for line in lines],
            [f"{number(line.mean_difference.value)} in its own unit{_ends(line)}" for line in lines],
        ),
        dots(
            [sign.value or 0.0 for sign in signs],
            [(sign.low, sign.high) for sign in signs],
            [number(sign.value) for sign in signs],
        ),
    )


def _ends(line: FeatureDifference) -> str:
    low, high = line.mean_difference.low, line.mean_difference.high
    return "" if low is None or high is None else f" ({number(low)} to {number(high)})"


def _deviations(line: FeatureDifference) -> tuple[float | None, float | None]:
    """Return the ends of the mean difference in standard deviations."""
    low, high = line.mean_difference.low, line.mean_difference.high
    if low is None or high is None or line.deviation == 0:
        return None, None
    return low / line.deviation, high / line.deviation
