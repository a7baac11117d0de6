"""Figures of a loss-ratio audit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

import plotly.graph_objects as go

from audits.data import group_name
from audits.drawing.differences import add_thin
from audits.drawing.marks import add_legend, box, decisive, ratio_axis, thin_ticks
from audits.drawing.selected import of_group, of_run, people_id, within_edges
from audits.drawing.style import CONTEXT, FOCUS, GRAY, INK, distinct, empty, finish, rows_named
from audits.loss_ratio import LossRatioResult
from audits.stats import EVIDENCE
from audits.stats.text import count, estimate_text, number, people, people_in, several

MAX_FEATURES, MAX_GROUPS, _MAX_STEPS = 15, 10, 6
NOT_MOVED = 1e-6  # of a direction: what is not in the sensitive subspace
_MAX_BOTH = 46  # letters of attribute and group above their row


def against_tolerance(result: LossRatioResult) -> go.Figure:
    """Draw everyone's ratio, that of misclassifications, and each group's against the tolerance.

    First the interval that decides; a short stroke is the one-sided bound. Groups' intervals hold together.
    """
    groups = sorted(result.groups, key=lambda item: -(item.statistic.value or 0.0))[:MAX_GROUPS]
    rows = [
        ("everyone", result.statistic, ""),
        ("everyone, share of errors", result.error_ratio.statistic, ""),
    ]
    for item in groups:  # those who were moved: the others taught what should not matter
        name = people_in(group_name({item.attribute: item.group}))
        who = people_id(of_group(item.attribute, item.group), of_run("ratio", not_missing=True))
        rows.append((f"{name} ({count(item.statistic.n)})", item.statistic, who))
    rows = [row for row in rows if row[1].value is not None][::-1]
    last = len(rows) - 1
    figure = go.Figure(decisive(result.judged, last))
    others = rows[:last]
    trusted = result.judged.badge != "no verdict" or bool(result.judged.see)
    colors = [
        CONTEXT if found.low is None else FOCUS if trusted and found.low > result.tolerance else INK
        for _, found, _ in others
    ]
    add_thin(figure, others, "%{customdata}: %{x:.3g} times<extra></extra>", None, colors=colors, size=8)
    bounds = [(last, result.lower_bound), (last - 1, result.error_ratio.lower_bound)]
    figure.add_scatter(
        x=[bound for _, bound in bounds],
        y=[place for place, _ in bounds],
        mode="markers",
        marker={"color": INK, "symbol": "line-ns-open", "size": 14, "line": {"width": 1.5}},
        name="one-sided bound",
        hovertemplate="lower bound T: %{x:.3g}<extra></extra>",
    )
    figure.add_vline(x=1.0, line={"color": GRAY, "width": 1})
    ends = [end for _, found, _ in rows for end in (found.value, found.low, found.high)]
    _mark(figure, "x", result.tolerance, ends)
    figure.update_xaxes(**ratio_axis([*ends, result.tolerance], "error, times as large (log scale)"))
    told = "; ".join(f"{name} {estimate_text(found)}" for name, found, _ in rows[::-1])
    alt = f"Error after the move as times that before it, limit {number(result.tolerance)}: {told}."
    each = rows_named(figure, distinct([name for name, *_ in rows], longest=_MAX_BOTH))
    return _legend_above(finish(figure, height=130 + each * len(rows), alt=alt))


def along_flow(result: LossRatioResult) -> go.Figure:
    """Draw T_n and the mean ratio against the steps of the flow (Figure 2, log-log)."""
    tolerance = result.tolerance
    steps = [point.steps for point in result.curve]
    figure = go.Figure()
    for name, values, color in (
        ("mean ratio", [point.statistic for point in result.curve], GRAY),
        ("lower bound T", [point.lower_bound for point in result.curve], INK),
    ):
        figure.add_scatter(
            x=steps,
            y=values,
            mode="lines+markers",
            name=name,
            line={"color": color},
            hovertemplate="%{x} steps: %{y:.3g}<extra></extra>",
        )
    _mark(figure, "y", tolerance)
    ticks = thin_ticks(steps, _MAX_STEPS)
    figure.update_xaxes(type="log", title="steps of the flow (log scale)", tickvals=ticks, ticktext=ticks)
    drawn = [y for trace in figure.data for y in trace.y]
    figure.update_yaxes(**ratio_axis([*drawn, tolerance], "times as large (log scale)"))
    last = result.curve[-1]
    alt = (
        f"Loss ratio along the flow, log-log: its lower bound is {number(result.curve[0].lower_bound)} after "
        f"{several(steps[0], 'step')} and {number(last.lower_bound)} after {count(last.steps)}."
    )
    return finish(figure, height=320, alt=alt)


def ratios(result: LossRatioResult) -> go.Figure:
    """Draw how many people have which ratio, with the tolerance and the mean marked."""
    tolerance = result.tolerance
    bars = result.histogram
    edges = [bars[0].low, *(bar.high for bar in bars)]
    beyond = FOCUS if result.verdict == EVIDENCE else INK
    figure = go.Figure(
        go.Bar(
            x=[(bar.low * bar.high) ** 0.5 for bar in bars],
            y=[bar.people for bar in bars],
            width=[bar.high - bar.low for bar in bars],
            marker={"color": [beyond if bar.low >= tolerance else CONTEXT for bar in bars]},
            customdata=[[number(bar.low), number(bar.high)] for bar in bars],
            meta=[people_id(*within_edges("ratio", edges, k)) for k in range(len(bars))],
            hovertemplate="%{customdata[0]} to %{customdata[1]} times: %{y:,.0f} people<extra></extra>",
            showlegend=False,
        )
    )
    add_legend(figure, [("within your limit", box(CONTEXT)), ("beyond it", box(beyond))])
    ends = [bars[0].low, bars[-1].high, tolerance]
    _mark(figure, "x", tolerance, ends)
    figure.update_xaxes(**ratio_axis(ends, "a person's error after the move, times as large (log scale)"))
    figure.update_yaxes(title="people", rangemode="tozero")
    above = sum(bar.people for bar in bars if bar.low >= tolerance)
    alt = (
        f"Distribution of the ratios of {people(result.statistic.n)}, from {number(bars[0].low)} to "
        f"{number(bars[-1].high)}; above the tolerance of {number(tolerance)}: about {people(above)}."
    )
    return _legend_above(finish(figure, height=330, alt=alt)).update_layout(bargap=0)


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
    text = f"your limit {number(tolerance)}"
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


def subspace(result: LossRatioResult) -> go.Figure:
    """Draw the features on which the sensitive subspace loads most, and how far people moved along them."""
    shown = [item for item in result.features if item.loading > NOT_MOVED][:MAX_FEATURES][::-1]
    if not shown:
        return empty("The metric leaves no direction free.")
    figure = _bars(
        [item.feature for item in shown],
        [item.loading for item in shown],
        [number(item.mean_absolute_move) for item in shown],
        "%{y}: %{x:.3f}; moved by %{customdata} on average<extra></extra>",
    )
    figure.update_xaxes(title="share in the sensitive subspace", range=[0, 1])
    alt = "Features on which the sensitive subspace loads most: " + ", ".join(
        f"{item.feature} {number(item.loading)}" for item in shown[::-1][:5]
    )
    return finish(figure, height=90 + 24 * len(shown), alt=f"{alt}.")


def _bars(names: list[str], values: list[float], told: list[Any], hover: str) -> go.Figure:
    """Draw a lying bar for each feature, the first lowest."""
    bars = go.Bar(x=values, y=distinct(names), orientation="h", marker={"color": CONTEXT}, customdata=told)
    return go.Figure(bars.update(hovertemplate=hover))


def misspecified_metric(result: LossRatioResult) -> go.Figure:
    """Draw the mean ratio, its interval and T_n where the metric is turned by some degrees (Figure 1)."""
    tolerance = result.tolerance
    rows = result.misspecified
    if not rows:
        return empty("The metric was not turned.")
    at = [row.degrees for row in rows]
    ends = [(row.statistic.low, row.statistic.high) for row in rows]
    known = [(x, low, high) for x, (low, high) in zip(at, ends, strict=True) if low is not None]
    figure = go.Figure()
    for x, low, high in known:
        right = high if high is not None else 3 * tolerance
        figure.add_scatter(
            x=[x, x],
            y=[low, right],
            mode="lines",
            line={"color": INK, "width": 2},
            showlegend=False,
            hovertemplate=f"{number(low)} to {number(high)}<extra></extra>",
        )
    for name, values, symbol in (
        ("mean ratio", [row.statistic.value for row in rows], "circle"),
        ("lower bound T", [row.lower_bound for row in rows], "line-ew-open"),
    ):
        figure.add_scatter(
            x=at,
            y=values,
            mode="markers",
            marker={"color": INK, "size": 12, "symbol": symbol, "line": {"width": 2}},
            name=name,
            hovertemplate=f"{name}: %{{y:.3g}} at %{{x:g}} degrees<extra></extra>",
        )
    figure.add_hline(
        tolerance,
        line={"color": INK, "dash": "dash"},
        annotation_text=f"limit {number(tolerance)}",
        annotation_position="top left",
    )
    figure.update_xaxes(title="metric turned by (degrees)", tickvals=at)
    figure.update_yaxes(title="loss ratio")
    told = "; ".join(f"{row.degrees:g} degrees {number(row.lower_bound)}" for row in rows)
    return finish(figure, height=360, alt=f"Lower bound T where the metric is turned: {told}.")


def moved_person(result: LossRatioResult, row: Any, *, most: int = 12) -> go.Figure:
    """Draw how far one of the worst people was moved, feature by feature."""
    table = result.moves[result.moves["row"] == row]
    if table.empty:
        return empty("This person's moves were not kept: raise the option `worst`.")
    shown = table.reindex(table["move"].abs().sort_values(ascending=False).index)[:most][::-1]
    figure = _bars(
        shown["feature"].astype(str).tolist(),
        shown["move"].tolist(),
        [[number(a), number(b)] for a, b in zip(shown["before"], shown["after"], strict=True)],
        "%{y}: from %{customdata[0]} to %{customdata[1]}<extra></extra>",
    )
    figure.update_xaxes(title="move (standard deviations; 1 is a whole category)")
    top = shown.iloc[-1]
    alt = f"Moves of the person in row {row}; most in {top['feature']}, by {number(float(top['move']))}."
    return finish(figure, height=90 + 24 * len(shown), alt=alt)
