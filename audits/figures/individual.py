"""Figures of a loss-ratio audit."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from audits.figures.style import ACCENT, CONTRAST, GREY, INK, describe, empty, finish
from audits.individual import LossRatioResult, Tested
from audits.stats.words import count, number

__all__ = ["against_tolerance", "along_flow", "by_group", "heat_map", "moved_person", "ratios", "subspace"]

_MOST_FEATURES = 15


def against_tolerance(result: LossRatioResult, tolerance: float | None = None) -> go.Figure:
    """Draw both ratios with interval and one-sided bound against the tolerance, at once for any tolerance."""
    standing = result.at(result.tolerance if tolerance is None else tolerance)
    figure = go.Figure()
    told = []
    tests: list[tuple[str, Tested]] = [("misclassifications", standing.errors), ("loss", standing.loss)]
    for name, test in tests:
        value, (low, high) = test.statistic.value, test.interval
        told.append(f"{name} {number(value)} ({number(low)} to {number(high)})")
        if value is None:
            continue
        colour = CONTRAST if test.reject else ACCENT
        # an end that does not exist is drawn as a line to the edge
        right = high if high is not None else 3 * max(value, test.tolerance)
        figure.add_trace(
            go.Scatter(
                x=[low if low is not None else 1.0, right],
                y=[name, name],
                mode="lines",
                line={"color": colour, "width": 3},
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
                    "color": colour,
                    "size": [12, 14],
                    "symbol": ["circle", "line-ns-open"],
                    "line": {"width": 2},
                },
                customdata=["mean ratio", "lower bound T"],
                hovertemplate="%{customdata}: %{x:.3g}<extra></extra>",
                showlegend=False,
            )
        )
    figure.add_vline(x=1.0, line={"color": GREY, "width": 1})
    figure.add_vline(
        x=standing.loss.tolerance,
        line={"color": INK, "width": 2, "dash": "dash"},
        annotation={"text": f"tolerance {number(standing.loss.tolerance)}", "yanchor": "bottom"},
        annotation_position="top",
    )
    figure.update_xaxes(type="log", title="times as large after the move (log scale)")
    figure.update_yaxes(range=[-0.6, 1.6])
    alt = (
        f"Ratios after and before the move with intervals: {'; '.join(told)}. The tolerance is "
        f"{number(standing.loss.tolerance)}; the loss ratio's lower bound "
        f"{number(standing.loss.lower_bound)} lies "
        f"{'above' if standing.loss.reject else 'not above'} it."
    )
    return finish(figure, height=240, alt=alt)


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
    figure.add_hline(
        y=tolerance, line={"color": INK, "dash": "dash"}, annotation_text=f"tolerance {number(tolerance)}"
    )
    figure.update_xaxes(type="log", title="steps of the flow", tickvals=steps)
    figure.update_yaxes(type="log", title="times as large")
    last = result.curve[-1]
    alt = (
        f"Loss ratio along the flow, log-log: its lower bound is {number(result.curve[0].lower_bound)} after "
        f"{steps[0]} steps and {number(last.lower_bound)} after {last.steps}."
    )
    return finish(figure, height=320, alt=alt)


def ratios(result: LossRatioResult, tolerance: float | None = None) -> go.Figure:
    """Draw how many people have which ratio, with the tolerance and the mean marked."""
    tolerance = result.tolerance if tolerance is None else tolerance
    bars = result.histogram
    figure = go.Figure(
        go.Bar(
            x=[(bar.low * bar.high) ** 0.5 for bar in bars],
            y=[bar.people for bar in bars],
            width=[bar.high - bar.low for bar in bars],
            marker={"color": [CONTRAST if bar.low >= tolerance else ACCENT for bar in bars]},
            customdata=[[number(bar.low), number(bar.high)] for bar in bars],
            hovertemplate="%{customdata[0]} to %{customdata[1]} times: %{y:,.0f} people<extra></extra>",
        )
    )
    figure.add_vline(
        x=tolerance, line={"color": INK, "dash": "dash"}, annotation_text=f"tolerance {number(tolerance)}"
    )
    figure.update_xaxes(type="log", title="a person's loss after over before the move (log scale)")
    figure.update_yaxes(title="people", rangemode="tozero")
    above = sum(bar.people for bar in bars if bar.low >= tolerance)
    alt = (
        f"Distribution of the ratios of {count(result.statistic.n)} people, from {number(bars[0].low)} to "
        f"{number(bars[-1].high)}; about {count(above)} lie above the tolerance of {number(tolerance)}."
    )
    return finish(figure, height=300, alt=alt).update_layout(bargap=0)


def by_group(result: LossRatioResult) -> go.Figure:
    """Draw the mean ratio of each group; the intervals hold together."""
    if not result.groups:
        return empty("No protected attribute to break down by.")
    shown = result.groups[::-1]
    labels = [describe(f"{item.attribute}: {item.group}") for item in shown]
    values = [item.statistic.value for item in shown]

    def reach(item: Any, end: float | None) -> float:
        return 0.0 if end is None else abs(end - item.statistic.value)

    figure = go.Figure(
        go.Scatter(
            x=values,
            y=labels,
            mode="markers",
            marker={"color": ACCENT, "size": 9},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [reach(item, item.statistic.high) for item in shown],
                "arrayminus": [reach(item, item.statistic.low) for item in shown],
                "color": INK,
            },
            customdata=[count(item.statistic.n) for item in shown],
            hovertemplate="%{y}: %{x:.3g} (%{customdata} people)<extra></extra>",
        )
    )
    figure.add_vline(x=result.tolerance, line={"color": INK, "dash": "dash"})
    figure.update_xaxes(title="mean loss ratio")
    alt = "Mean loss ratio by group: " + ", ".join(
        f"{item.group} {number(item.statistic.value)}" for item in result.groups[:8]
    )
    return finish(figure, height=90 + 28 * len(shown), alt=f"{alt}.")


def subspace(result: LossRatioResult) -> go.Figure:
    """Draw the features on which the sensitive subspace loads most, and how far people moved along them."""
    shown = [item for item in result.features if item.loading > 1e-6][:_MOST_FEATURES][::-1]
    if not shown:
        return empty("The metric leaves no direction free of charge.")
    figure = go.Figure(
        go.Bar(
            x=[item.loading for item in shown],
            y=[describe(item.feature) for item in shown],
            orientation="h",
            marker={"color": ACCENT},
            customdata=[number(item.mean_absolute_move) for item in shown],
            hovertemplate="%{y}: %{x:.3f}; moved by %{customdata} on average<extra></extra>",
        )
    )
    figure.update_xaxes(title="share of the feature that lies in the sensitive subspace", range=[0, 1])
    alt = "Features on which the sensitive subspace loads most: " + ", ".join(
        f"{item.feature} {number(item.loading)}" for item in shown[::-1][:5]
    )
    return finish(figure, height=90 + 24 * len(shown), alt=f"{alt}.")


def heat_map(result: LossRatioResult, angle: float = 0.0) -> go.Figure:
    """Draw T_n over the weights of a logistic model of two numbers (Figure 1), metric turned by `angle`."""
    table = result.heat_map
    if table.empty:
        return empty(
            "The heat map needs a logistic model of exactly two numbers and one sensitive direction."
        )
    grid = table[table["metric angle (degrees)"] == angle].pivot(
        index="theta2", columns="theta1", values="lower bound"
    )
    names = [item.feature for item in sorted(result.features, key=lambda item: item.feature)]
    figure = go.Figure(
        go.Heatmap(
            x=grid.columns.tolist(),
            y=grid.index.tolist(),
            z=grid.to_numpy().tolist(),
            zmid=result.tolerance,
            zmin=1.0,
            zmax=max(2 * result.tolerance - 1.0, 1.5),
            colorscale=[[0, ACCENT], [0.5, "#F7F7F7"], [1, CONTRAST]],
            colorbar={"title": "T"},
            hovertemplate="θ1 %{x:.2f}, θ2 %{y:.2f}: T = %{z:.3g}<extra></extra>",
        )
    )
    figure.update_xaxes(title="weight of the first feature")
    figure.update_yaxes(title="weight of the second feature")
    share = float((grid.to_numpy() > result.tolerance).mean())
    alt = (
        f"Lower bound T over the weights of {' and '.join(names)}, metric turned by {angle:g} degrees: "
        f"{100 * share:.0f} % of the models lie above the tolerance."
    )
    return finish(figure, height=420, alt=alt)


def moved_person(result: LossRatioResult, row: Any, *, most: int = 12) -> go.Figure:
    """Draw how far one of the worst people was moved, feature by feature."""
    table = result.moves[result.moves["row"] == row]
    if table.empty:
        return empty("The moves of this person were not kept: raise the option worst.")
    shown = table.reindex(table["move"].abs().sort_values(ascending=False).index)[:most][::-1]
    figure = go.Figure(
        go.Bar(
            x=shown["move"].tolist(),
            y=[describe(str(name)) for name in shown["feature"]],
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
