"""Figures of a loss-ratio audit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import plotly.graph_objects as go

from audits.drawing.marks import box, decisive, dot, named, reaching
from audits.drawing.selected import of_group, of_run, people_id
from audits.drawing.style import (
    ACCENT,
    CONTEXT,
    CONTRAST,
    FOCUS,
    GREY,
    INK,
    describe,
    distinct,
    empty,
    finish,
    rows_named,
)
from audits.loss_ratio import LossRatioResult, Tested
from audits.stats import EVIDENCE
from audits.stats.words import count, number, people, several

__all__ = [
    "against_tolerance",
    "along_flow",
    "by_group",
    "heat_map",
    "misspecified",
    "moved_person",
    "ratios",
    "subspace",
]

_MOST_FEATURES = 15
_MOST_TICKS = 6
_LONGEST_BOTH = 46  # letters of attribute and group above their row
_ROUND_FAR = (1.0, 2.0, 5.0)
_ROUND = (1.0, 1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 2.0, 3.0, 5.0, 7.0)


def against_tolerance(result: LossRatioResult, tolerance: float | None = None) -> go.Figure:
    """Draw both ratios with interval and one-sided bound against the tolerance, at once for any tolerance."""
    standing = result.at(result.tolerance if tolerance is None else tolerance)
    figure = go.Figure(decisive(standing.judged, "loss"))
    told = []
    tests: list[tuple[str, Tested]] = [("misclassifications", standing.errors), ("loss", standing.loss)]
    for name, test in tests:
        value, (low, high) = test.statistic.value, test.interval
        told.append(f"{name} {number(value)} ({number(low)} to {number(high)})")
        if value is None:
            continue
        # an end that does not exist is drawn as a line to the edge
        right = high if high is not None else 3 * max(value, test.tolerance)
        figure.add_trace(
            go.Scatter(
                x=[low if low is not None else 1.0, right],
                y=[name, name],
                mode="lines",
                line={"color": INK, "width": 1},
                hovertemplate=f"{test.statistic.method}: {number(low)} to {number(high)}<extra></extra>",
                showlegend=False,
            )
        )
        figure.add_trace(
            go.Scatter(
                x=[value, test.lower_bound],
                y=[name, name],
                mode="markers",
                marker={
                    "color": INK,
                    "size": [8, 14],
                    "symbol": ["circle", "line-ns-open"],
                    "line": {"width": 1.5},
                },
                customdata=["mean ratio", "lower bound T"],
                hovertemplate="%{customdata}: %{x:.3g}<extra></extra>",
                showlegend=False,
            )
        )
    figure.add_vline(x=1.0, line={"color": GREY, "width": 1})
    drawn = [x for trace in figure.data for x in trace.x]
    lower = {"mode": "markers", "marker": {"color": INK, "symbol": "line-ns-open", "size": 14}}
    named(figure, [("lower bound", lower)])
    _mark(figure, "x", standing.loss.tolerance, drawn)
    figure.update_xaxes(
        **_ratio_axis([*drawn, standing.loss.tolerance], "times as large after the move (log scale)")
    )
    figure.update_yaxes(
        range=[-0.6, 1.6], categoryorder="array", categoryarray=["misclassifications", "loss"]
    )
    alt = (
        f"Ratios after and before the move with intervals: {'; '.join(told)}. The tolerance is "
        f"{number(standing.loss.tolerance)}; the loss ratio's lower bound, "
        f"{number(standing.loss.lower_bound)}, {'lies' if standing.loss.reject else 'does not lie'} above it."
    )
    return _legend_above(finish(figure, height=270, alt=alt))


def along_flow(result: LossRatioResult, tolerance: float | None = None) -> go.Figure:
    """Draw T_n and the mean ratio against the steps of the flow (Figure 2, log-log)."""
    tolerance = result.tolerance if tolerance is None else tolerance
    steps = [point.steps for point in result.curve]
    figure = go.Figure()
    for name, values, colour in (
        ("mean ratio", [point.statistic for point in result.curve], GREY),
        ("lower bound T", [point.lower_bound for point in result.curve], ACCENT),
    ):
        figure.add_trace(
            go.Scatter(
                x=steps,
                y=values,
                mode="lines+markers",
                name=name,
                line={"color": colour},
                hovertemplate="%{x} steps: %{y:.3g}<extra></extra>",
            )
        )
    _mark(figure, "y", tolerance)
    ticks = thinned(steps, _MOST_TICKS)
    figure.update_xaxes(type="log", title="steps of the flow (log scale)", tickvals=ticks, ticktext=ticks)
    drawn = [y for trace in figure.data for y in trace.y]
    figure.update_yaxes(**_ratio_axis([*drawn, tolerance], "times as large (log scale)"))
    last = result.curve[-1]
    alt = (
        f"Loss ratio along the flow, log-log: its lower bound is {number(result.curve[0].lower_bound)} after "
        f"{several(steps[0], 'step')} and {number(last.lower_bound)} after {count(last.steps)}."
    )
    return finish(figure, height=320, alt=alt)


def ratios(result: LossRatioResult, tolerance: float | None = None) -> go.Figure:
    """Draw how many people have which ratio, with the tolerance and the mean marked."""
    tolerance = result.tolerance if tolerance is None else tolerance
    bars = result.histogram
    beyond = FOCUS if result.at(tolerance).verdict == EVIDENCE else INK
    figure = go.Figure(
        go.Bar(
            x=[(bar.low * bar.high) ** 0.5 for bar in bars],
            y=[bar.people for bar in bars],
            width=[bar.high - bar.low for bar in bars],
            marker={"color": [beyond if bar.low >= tolerance else CONTEXT for bar in bars]},
            customdata=[[number(bar.low), number(bar.high)] for bar in bars],
            meta=[
                people_id(of_run("ratio", at_least=bar.low), of_run("ratio", at_most=bar.high))
                if bar is bars[-1]
                else people_id(of_run("ratio", at_least=bar.low), of_run("ratio", below=bar.high))
                for bar in bars
            ],
            hovertemplate="%{customdata[0]} to %{customdata[1]} times: %{y:,.0f} people<extra></extra>",
            showlegend=False,
        )
    )
    named(figure, [("within the tolerance", box(CONTEXT)), ("above it", box(beyond))])
    ends = [bars[0].low, bars[-1].high, tolerance]
    _mark(figure, "x", tolerance, ends)
    figure.update_xaxes(**_ratio_axis(ends, "a person's loss after over before the move (log scale)"))
    figure.update_yaxes(title="people", rangemode="tozero")
    above = sum(bar.people for bar in bars if bar.low >= tolerance)
    alt = (
        f"Distribution of the ratios of {people(result.statistic.n)}, from {number(bars[0].low)} to "
        f"{number(bars[-1].high)}; above the tolerance of {number(tolerance)}: about {people(above)}."
    )
    return _legend_above(finish(figure, height=330, alt=alt)).update_layout(bargap=0)


def by_group(result: LossRatioResult, tolerance: float | None = None) -> go.Figure:
    """Draw the mean ratio of each group; the intervals hold together."""
    tolerance = result.tolerance if tolerance is None else tolerance
    if not result.groups:
        return empty("No protected attribute to break down by.")
    shown = sorted(result.groups, key=lambda item: (item.statistic.value, item.statistic.low or 0.0))
    attributes = list(dict.fromkeys(item.attribute for item in result.groups))
    labels = [item.group if len(attributes) == 1 else f"{item.attribute}: {item.group}" for item in shown]
    labels = distinct(labels, longest=_LONGEST_BOTH)
    values = [item.statistic.value for item in shown]

    # hollow: too few people for an interval, which must not look like one of no width
    symbols = ["circle-open" if item.statistic.low is None else "circle" for item in shown]

    trusted = result.judged.badge != "no verdict"
    colors = [FOCUS if trusted and (item.statistic.low or 0.0) > tolerance else INK for item in shown]
    figure = go.Figure(
        go.Scatter(
            x=values,
            y=list(range(len(shown))),
            mode="markers",
            marker={"color": colors, "size": 9, "symbol": symbols},
            error_x=reaching([item.statistic for item in shown], thickness=None),
            customdata=[[label, count(item.statistic.n)] for label, item in zip(labels, shown, strict=True)],
            meta=[  # those who were moved: the others taught what should not matter
                people_id(of_group(item.attribute, item.group), of_run("ratio", not_missing=True))
                for item in shown
            ],
            hovertemplate="%{customdata[0]}: %{x:.3g} (%{customdata[1]} people)<extra></extra>",
            showlegend=False,
        )
    )
    if "circle-open" in symbols:
        named(figure, [("too few people for an interval", dot(INK, "circle-open"))])
    of = f", {describe(attributes[0], longest=14)}" if len(attributes) == 1 else ""
    ends = [end for item in shown for end in (item.statistic.value, item.statistic.low, item.statistic.high)]
    _mark(figure, "x", tolerance, ends)
    figure.update_xaxes(**_ratio_axis([*ends, tolerance], f"mean loss ratio{of} (log scale)"))
    alt = "Mean loss ratio by group: " + ", ".join(
        f"{item.group} {number(item.statistic.value)}" for item in result.groups[:8]
    )
    row = rows_named(figure, labels)
    return _legend_above(finish(figure, height=120 + row * len(shown), alt=f"{alt}."))


def _legend_above(figure: go.Figure) -> go.Figure:
    """Place the legend above the label of the tolerance."""
    height = figure.layout.height
    return figure.update_layout(margin={"t": 60}, legend={"y": 1.0 + 24 / (height - 120)})


def _mark(
    figure: go.Figure, axis: Literal["x", "y"], tolerance: float, drawn: Iterable[float | None] = ()
) -> None:
    """Draw the tolerance across a log axis; a label's place is a logarithm there, a line's is not.

    Its label stands on the side on which more is `drawn`, so that it stays inside the figure.
    """
    line = {"color": INK, "width": 2, "dash": "dash"}
    text = f"tolerance {number(tolerance)}"
    place: dict[str, Any] = {"showarrow": False, "text": text, axis: math.log10(tolerance)}
    if axis == "x":
        figure.add_vline(x=tolerance, line=line)
        known = [1.0, *(value for value in drawn if value is not None and value > 0)]
        middle = math.sqrt(min(known) * max(*known, tolerance))
        side = "right" if tolerance > middle else "left"
        figure.add_annotation(yref="paper", y=1, yanchor="bottom", xanchor=side, **place)
    else:
        figure.add_hline(y=tolerance, line=line)
        figure.add_annotation(xref="paper", x=1, xanchor="right", yanchor="bottom", **place)


def _ratio_axis(values: Iterable[float | None], title: str) -> dict[str, Any]:
    """A log axis that holds 1 and all `values`, with ticks at round numbers."""
    known = [1.0, *(value for value in values if value is not None and value > 0)]
    least, most = min(known), max(known)
    pad = max((most / least) ** 0.06, 1.01)
    low, high = least / pad, most * pad
    steps = _ROUND if most / least < 20 else _ROUND_FAR
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ladder = [round(10.0**decade * step, 12) for decade in decades for step in steps]
    inside = [value for value in ladder if least * 0.999 <= value <= high]  # 1 itself, if nothing is below
    ticks = thinned(inside, _MOST_TICKS)
    return {
        "type": "log",
        "title": title,
        "range": [math.log10(low), math.log10(high)],
        "tickvals": ticks,
        "ticktext": [f"{value:g}" if value < 1e5 else f"{value:.0e}" for value in ticks],
    }


def thinned(values: Sequence[float], most: int) -> list[float]:
    """Return about `most` of the rising positive `values`, the first and well apart on a log scale.

    Examples
    --------
    >>> thinned([10, 20, 40, 50, 80, 85, 160], 4)
    [10, 20, 40, 80, 160]
    """
    kept: list[float] = []
    for value in values:
        if not kept or value >= kept[-1] * (values[-1] / values[0]) ** (1 / most) * 0.999:
            kept.append(value)
    return kept


def subspace(result: LossRatioResult) -> go.Figure:
    """Draw the features on which the sensitive subspace loads most, and how far people moved along them."""
    shown = [item for item in result.features if item.loading > 1e-6][:_MOST_FEATURES][::-1]
    if not shown:
        return empty("The metric leaves no direction free of charge.")
    figure = go.Figure(
        go.Bar(
            x=[item.loading for item in shown],
            y=distinct([item.feature for item in shown]),
            orientation="h",
            marker={"color": ACCENT},
            customdata=[number(item.mean_absolute_move) for item in shown],
            hovertemplate="%{y}: %{x:.3f}; moved by %{customdata} on average<extra></extra>",
        )
    )
    figure.update_xaxes(title="share in the sensitive subspace", range=[0, 1])
    alt = "Features on which the sensitive subspace loads most: " + ", ".join(
        f"{item.feature} {number(item.loading)}" for item in shown[::-1][:5]
    )
    return finish(figure, height=90 + 24 * len(shown), alt=f"{alt}.")


def heat_map(result: LossRatioResult, angle: float = 0.0, tolerance: float | None = None) -> go.Figure:
    """Draw T_n over the weights of a logistic model of two numbers (Figure 1), metric turned by `angle`.

    The model audited is marked.
    """
    tolerance = result.tolerance if tolerance is None else tolerance
    table = result.heat_map
    if table.empty:
        return empty(
            "The heat map needs a logistic model of exactly two numbers and one sensitive direction."
        )
    grid = table[table["metric angle (degrees)"] == angle].pivot(
        index="theta2", columns="theta1", values="lower bound"
    )
    names, own = list(result.metric.weights), list(result.metric.weights.values())
    figure = go.Figure(
        go.Heatmap(
            x=grid.columns.tolist(),
            y=grid.index.tolist(),
            z=grid.to_numpy().tolist(),
            zmid=tolerance,
            zmin=1.0,
            zmax=2 * tolerance - 1.0,
            colorscale=[[0, ACCENT], [0.5, "#F7F7F7"], [1, CONTRAST]],
            colorbar={"title": "T"},
            hovertemplate="θ1 %{x:.2f}, θ2 %{y:.2f}: T = %{z:.3g}<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=own[:1],
            y=own[1:],
            mode="markers+text",
            marker={"symbol": "x-thin", "size": 12, "line": {"width": 3, "color": INK}},
            text=["this model"],
            textposition="top center" if own[1] <= 0 else "bottom center",
            hovertemplate="this model: θ1 %{x:.2f}, θ2 %{y:.2f}<extra></extra>",
            showlegend=False,
        )
    )
    figure.update_xaxes(title=f"weight of {describe(names[0])} (per standard deviation)")
    figure.update_yaxes(title=f"weight of {describe(names[1])} (per standard deviation)")
    share = float((grid.to_numpy() > tolerance).mean())
    alt = (
        f"Lower bound T over the weights of {' and '.join(names)}, metric turned by {angle:g} degrees: "
        f"{100 * share:.0f} % of the models lie above the tolerance."
    )
    return finish(figure, height=420, alt=alt)


def misspecified(result: LossRatioResult, tolerance: float | None = None) -> go.Figure:
    """Draw the mean ratio, its interval and T_n where the metric is turned by some degrees (Figure 1)."""
    tolerance = result.tolerance if tolerance is None else tolerance
    rows = result.misspecified
    if not rows:
        return empty("The metric was not turned.")
    at = [row.degrees for row in rows]
    ends = [(row.statistic.low, row.statistic.high) for row in rows]
    known = [(x, low, high) for x, (low, high) in zip(at, ends, strict=True) if low is not None]
    figure = go.Figure()
    for x, low, high in known:
        right = high if high is not None else 3 * tolerance
        figure.add_trace(
            go.Scatter(
                x=[x, x],
                y=[low, right],
                mode="lines",
                line={"color": ACCENT, "width": 3},
                showlegend=False,
                hovertemplate=f"{number(low)} to {number(high)}<extra></extra>",
            )
        )
    for name, values, symbol in (
        ("mean ratio", [row.statistic.value for row in rows], "circle"),
        ("lower bound T", [row.lower_bound for row in rows], "line-ew-open"),
    ):
        figure.add_trace(
            go.Scatter(
                x=at,
                y=values,
                mode="markers",
                marker={"color": ACCENT, "size": 12, "symbol": symbol, "line": {"width": 2}},
                name=name,
                hovertemplate=f"{name}: %{{y:.3g}} at %{{x:g}} degrees<extra></extra>",
            )
        )
    figure.add_hline(
        tolerance, line={"color": INK, "dash": "dot"}, annotation_text=f"δ = {number(tolerance)}"
    )
    figure.update_xaxes(title="metric turned by (degrees)", tickvals=at)
    figure.update_yaxes(title="loss ratio")
    told = "; ".join(f"{row.degrees:g} degrees {number(row.lower_bound)}" for row in rows)
    return finish(figure, height=360, alt=f"Lower bound T where the metric is turned: {told}.")


def moved_person(result: LossRatioResult, row: Any, *, most: int = 12) -> go.Figure:
    """Draw how far one of the worst people was moved, feature by feature."""
    table = result.moves[result.moves["row"] == row]
    if table.empty:
        return empty("The moves of this person were not kept: raise the option worst.")
    shown = table.reindex(table["move"].abs().sort_values(ascending=False).index)[:most][::-1]
    figure = go.Figure(
        go.Bar(
            x=shown["move"].tolist(),
            y=distinct([str(name) for name in shown["feature"]]),
            orientation="h",
            marker={"color": [ACCENT if move >= 0 else CONTRAST for move in shown["move"]]},
            customdata=[[number(a), number(b)] for a, b in zip(shown["before"], shown["after"], strict=True)],
            hovertemplate="%{y}: from %{customdata[0]} to %{customdata[1]}<extra></extra>",
        )
    )
    figure.update_xaxes(title="move (standard deviations; 1 is a whole category)")
    top = shown.iloc[-1]
    alt = f"Moves of the person in row {row}; most in {top['feature']}, by {number(float(top['move']))}."
    return finish(figure, height=90 + 24 * len(shown), alt=alt)
