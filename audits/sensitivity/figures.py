"""Figures of a sensitivity audit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.data import group_name
from audits.drawing.differences import add_thin
from audits.drawing.marks import decisive, named_above, ratio_axis, reaching
from audits.drawing.selected import of_group, of_run, people_id
from audits.drawing.style import (
    CONTEXT,
    FOCUS,
    GRAY,
    INK,
    describe,
    distinct,
    empty,
    finish,
    rows_named,
    shares_axis,
)
from audits.sensitivity import SensitivityResult
from audits.stats import EVIDENCE, Estimate
from audits.stats.text import count, number, people_in, percent

_MAX = 40  # letters of a group with its attribute
_BOXES = "box: middle half; line: median;<br>dashes: mean; ends: 5 and 95%"
_CURVES = {
    "sensitivity": ("sensitivity", FOCUS, "solid"),
    "gradient": ("gradient |∇F| alone", CONTEXT, "dash"),
    "boundary": ("closeness to the threshold alone", INK, "dot"),
}


def histogram(result: SensitivityResult) -> go.Figure:
    """Draw everyone by sensitivity, darker beyond the threshold; in the focus color if it is a finding."""
    edges, people = result.histogram.edges, result.histogram.people
    threshold = result.threshold.value or 0.0
    # the last bin is open: it is drawn as wide as the others
    step = edges[1] - edges[0]
    beyond = FOCUS if result.verdict == EVIDENCE else INK
    figure = go.Figure()
    for name, color, above in (("below the threshold", CONTEXT, False), ("above it", beyond, True)):
        places = [k for k in range(len(people)) if (edges[k] >= threshold) == above]
        figure.add_bar(
            x=[edges[k] + step / 2 for k in places],
            y=[people[k] for k in places],
            width=[step] * len(places),
            marker={"color": color},
            name=name,
            customdata=[_range(edges, k) for k in places],
            meta=[people_id(*_between(edges, k)) for k in places],
            hovertemplate="%{customdata}: %{y:,.0f} people<extra></extra>",
        )
    if result.threshold.low is not None and result.threshold.high is not None:
        low, high = result.threshold.low, result.threshold.high
        figure.add_vrect(low, high, fillcolor=INK, opacity=0.12, line_width=0)
    figure.add_vline(threshold, line={"color": INK, "width": 1.5})
    figure.update_xaxes(title="sensitivity to protected status", rangemode="tozero")
    figure.update_yaxes(title="people", rangemode="tozero")
    share = percent(result.flagged.value, result.flagged.n)
    alt = (
        f"People by sensitivity: {count(result.above)} of {count(result.flagged.n)} ({share}) lie above the "
        f"threshold of {number(threshold)}; the mean is {number(result.baseline.mean.value)}."
    )
    return finish(figure, height=360, alt=alt)


def _range(edges: tuple[float, ...], k: int) -> str:
    if k == len(edges) - 2:
        return f"above {number(edges[k])}"
    return f"{number(edges[k])} to {number(edges[k + 1])}"


def _between(edges: tuple[float, ...], k: int) -> list[dict[str, Any]]:
    """Return what the people of a bin meet; the last one is open."""
    low = [] if k == 0 else [of_run("sensitivity", above=edges[k])]  # a bin holds its upper end
    return low if k == len(edges) - 2 else [*low, of_run("sensitivity", at_most=edges[k + 1])]


def ridges(result: SensitivityResult, attribute: str) -> go.Figure:
    """Draw the distribution of sensitivity in each group of an attribute, one above the other."""
    edges = result.histogram.edges
    step = edges[1] - edges[0]
    shown = [item for item in result.groups if item.attribute == attribute and item.n > 0][::-1]
    figure = go.Figure()
    x = [edges[k] + step / 2 for k in range(len(edges) - 1)]
    groups = distinct([people_in(group_name({attribute: item.group})) for item in shown])
    for place, (item, name) in enumerate(zip(shown, groups, strict=True)):
        counts = result.histogram.groups[f"{attribute}: {item.group}"]
        top = max(counts) or 1.0
        figure.add_scatter(
            x=[*x, *x[::-1]],
            y=[place + 0.85 * value / top for value in counts] + [place] * len(x),
            fill="toself",
            mode="lines",
            line={"color": CONTEXT, "width": 1, "shape": "hvh"},
            opacity=0.7,
            showlegend=False,
            hoverinfo="skip",
        )
        held = [k for k, value in enumerate(counts) if value > 0]
        figure.add_scatter(
            x=[x[k] for k in held],
            y=[place + 0.85 * counts[k] / top for k in held],
            mode="markers",
            marker={"color": CONTEXT, "size": 4},
            meta=[people_id(of_group(attribute, item.group), *_between(edges, k)) for k in held],
            customdata=[[_range(edges, k), count(counts[k]), name] for k in held],
            hovertemplate="%{customdata[2]}, %{customdata[0]}: %{customdata[1]} people<extra></extra>",
            showlegend=False,
        )
    threshold = result.threshold.value or 0.0
    figure.add_vline(threshold, line={"color": INK, "width": 1.5})
    named_above(figure, "threshold", (threshold, threshold), (0.0, edges[-1]))
    names = [f"{group} ({count(item.n)})" for group, item in zip(groups, shown, strict=True)]
    figure.update_yaxes(tickvals=[k + 0.3 for k in range(len(shown))], ticktext=names, showgrid=False)
    figure.update_xaxes(title="sensitivity to protected status", rangemode="tozero")
    means = "; ".join(f"{item.group} {number(item.mean.value)}" for item in shown[::-1])
    alt = f"Sensitivity by {attribute}, each group scaled to its own peak; means: {means}."
    return finish(figure, height=120 + 60 * len(shown), alt=alt)


def groups(result: SensitivityResult) -> go.Figure:
    """Draw each group's mean sensitivity as times everyone else's; first the interval that decides."""
    shown = [item for item in result.groups if item.ratio.value is not None][::-1]  # the largest on top
    if not shown:
        return empty("No two groups could be compared.")
    names = distinct([people_in(group_name({each.attribute: each.group})) for each in shown], longest=_MAX)
    labels = [f"{name} ({count(item.n)})" for name, item in zip(names, shown, strict=True)]
    row = next((k for k, item in enumerate(shown) if item.ratio == result.judged.interval), None)
    limit = float(result.options["material"])
    ends = [end for item in shown for end in (item.ratio.value, item.ratio.low, item.ratio.high)]
    axis = ratio_axis([*ends, 1 / limit, limit], "mean sensitivity, times that of everyone else (log scale)")
    least = 10.0 ** axis["range"][0]  # an interval that begins at 0 begins where the axis does
    figure = go.Figure()
    if row is not None:
        figure.add_trace(decisive(result.judged, row))
        figure.data[0].x = [max(end, least) for end in figure.data[0].x]
    far = result.judged.badge != "no verdict"
    colors = [
        CONTEXT if item.ratio.low is None else FOCUS if far and _beyond(item.ratio, limit) else INK
        for item in shown
    ]
    ratios = [
        item.ratio if item.ratio.low is None else replace(item.ratio, low=max(item.ratio.low, least))
        for item in shown
    ]
    whom = [
        people_id(of_group(item.attribute, item.group), of_run("sensitivity", not_missing=True))
        for item in shown  # those who were measured: others taught the model of protected status
    ]
    hover = "%{customdata}: %{x:.3g} times everyone else's<extra></extra>"
    add_thin(figure, list(zip(labels, ratios, whom, strict=True)), hover, row, colors=colors, size=8)
    figure.add_vrect(1 / limit, limit, fillcolor=CONTEXT, opacity=0.15, line_width=0, layer="below")
    figure.add_vline(1.0, line={"color": INK, "width": 1})
    band = math.log10(1 / limit), math.log10(limit)  # a label's place is a logarithm, a band's is not
    named_above(figure, f"gray: within {number(limit)} times", band, axis["range"])
    figure.update_xaxes(**axis)
    listed = "; ".join(f"{item.group} {number(item.ratio.value)}" for item in shown[::-1])
    alt = f"Mean sensitivity as a multiple of everyone else's: {listed}."
    row_height = rows_named(figure, labels)
    return finish(figure, height=150 + (4 + row_height) * len(shown), alt=alt)


def _beyond(ratio: Estimate, limit: float) -> bool:
    """Whether the interval of a group's ratio lies beyond what is immaterial."""
    return (ratio.low or 0.0) > limit or (ratio.high is not None and ratio.high < 1 / limit)


def features(result: SensitivityResult, *, most: int = 12) -> go.Figure:
    """Draw the features' parts of all sensitivity, with intervals."""
    shown = [item for item in result.by_feature if item.share.value is not None][:most][::-1]
    if not shown:
        return empty("Nobody has any sensitivity.")
    shares = [100 * (item.share.value or 0.0) for item in shown]
    figure = go.Figure(
        go.Bar(
            x=shares,
            y=distinct([item.feature for item in shown]),
            orientation="h",
            marker={"color": CONTEXT},
            error_x=reaching([item.share for item in shown], 100.0),
            hovertemplate="%{y}: %{x:.1f} percent of all sensitivity<extra></extra>",
        )
    )
    ends = [*shares, *(100 * item.share.high for item in shown if item.share.high is not None)]
    figure.update_xaxes(title="share of all sensitivity (%)", **shares_axis(ends))
    first = shown[-1]
    part = percent(first.share.value, 1000)
    alt = f"Features by their share of all sensitivity; largest: {first.feature} with {part}."
    return finish(figure, height=100 + 30 * len(shown), alt=alt)


def match_curves(result: SensitivityResult) -> go.Figure:
    """Draw the ROC curves of sensitivity and its two rivals, with the band of sensitivity."""
    found = result.match_set
    if found is None:
        return empty(result.match_set_note)
    if not found.curves:
        return empty(found.sentence)
    figure = go.Figure()
    for curve in found.curves:
        name, color, dash = _CURVES[curve.name]
        if curve.name == "sensitivity":
            figure.add_scatter(
                x=[*curve.false_positive, *curve.false_positive[::-1]],
                y=[*curve.high, *curve.low[::-1]],
                fill="toself",
                fillcolor=color,
                opacity=0.18,
                line={"width": 0},
                showlegend=False,
                hoverinfo="skip",
            )
        figure.add_scatter(
            x=curve.false_positive,
            y=curve.true_positive,
            mode="lines",
            line={"color": color, "dash": dash, "width": 2},
            name=f"{name}, AUC {number(curve.auc.value)}",
        )
    figure.add_trace(
        go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line={"color": GRAY, "width": 1}, name="by chance")
    )
    figure.update_xaxes(title="decision stays the same: share above", range=[0, 1])
    figure.update_yaxes(title="decision changes: share above", range=[0, 1.01])
    figure = finish(figure, height=490, alt=found.sentence)
    # above the plot, one below the other: inside, a long name covers curves or squeezes a narrow plot
    legend = {"orientation": "v", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"}
    return figure.update_layout(legend=legend)


def match_sides(result: SensitivityResult) -> go.Figure:
    """Draw sensitivity of those decided alike and of those decided otherwise (Figures 4a and 6)."""
    sides = [] if result.match_set is None else [side for side in result.match_set.sides if side.quantiles]
    if not sides:
        return empty("There is no match set.")
    low, q1, median, q3, high = (list(each) for each in zip(*(side.quantiles for side in sides), strict=True))
    figure = go.Figure(
        go.Box(
            y=[f"{side.name} ({count(side.mean.n)})" for side in sides],
            orientation="h",
            lowerfence=low,
            q1=q1,
            median=median,
            q3=q3,
            upperfence=high,
            mean=[side.mean.value for side in sides],
            marker={"color": CONTEXT},
            name=_BOXES,
            showlegend=True,
            meta=_of_sides(result, [side.name for side in sides]),
        )
    )
    if min(side.quantiles[0] for side in sides) > 0:
        figure.update_xaxes(type="log")  # as in the paper; nobody's 0 can be drawn there
    figure.update_xaxes(title="sensitivity to protected status")
    told = "; ".join(f"{side.name}: median {number(side.quantiles[2])}" for side in sides)
    alt = f"Sensitivity in and out of the match set, boxes for the middle half, whiskers 5 to 95%: {told}."
    return finish(figure, height=130 + 50 * len(sides), alt=alt)


def _of_sides(result: SensitivityResult, names: list[str]) -> list[str] | None:
    """Return who is on each side of the match set, where the people's table says so."""
    if not {"twin_decision", "counterfactual_decision"} & set(result.people):
        return None
    return [people_id(of_run("match set", within=[name])) for name in names]


_MODELS = {"audited": FOCUS, "augmented": INK, "trained anew": CONTEXT}


def twin_metrics(result: SensitivityResult) -> go.Figure:
    """Draw the group metrics of the audited model, of its twin and of one trained anew (Figure 5)."""
    rows = () if result.match_set is None else result.match_set.metrics
    if not rows:
        return empty("There is no twin to compare with.")
    figure = go.Figure()
    attributes = list(dict.fromkeys(row.attribute for row in rows))
    names = dict(zip(attributes, distinct(attributes), strict=True))
    for model, color in _MODELS.items():
        mine = [row for row in rows if row.model == model and row.difference.value is not None][::-1]
        figure.add_scatter(
            x=[100 * (row.difference.value or 0.0) for row in mine],
            y=[f"{names[row.attribute]}: {row.metric}" for row in mine],
            orientation="h",  # models of one rate stand one below the other
            mode="markers",
            marker={"color": color, "size": 9},
            error_x=reaching([row.difference for row in mine], 100.0, color=color, thickness=1.5),
            name=model,
            hovertemplate=f"%{{y}}, {model}: %{{x:.1f}} points<extra></extra>",
        )
    figure.update_layout(scattermode="group")
    figure.update_xaxes(title="largest difference between groups (points)", rangemode="tozero")
    told = "; ".join(
        f"{row.attribute}, {row.metric}, {row.model}: {number(100 * row.difference.value)}"
        for row in rows
        if row.difference.value is not None
    )
    alt = f"Largest differences between groups in points, by model: {told}."
    return finish(figure, height=150 + 44 * len({(row.attribute, row.metric) for row in rows}), alt=alt)


def calibration(result: SensitivityResult) -> go.Figure:
    """Draw what each protected-status model states against what is so, on people it has not seen."""
    figure = make_subplots(
        rows=1,
        cols=len(result.status),
        subplot_titles=[
            f"{describe(each.attribute)}: AUC {number(each.auc.value)}" for each in result.status
        ],
    )
    for place, each in enumerate(result.status):
        bins = [item for item in each.calibration if item.observed.value is not None]
        figure.add_scatter(
            x=[item.stated for item in bins],
            y=[item.observed.value for item in bins],
            mode="markers",
            marker={"color": INK, "size": 8},
            error_y=reaching([item.observed for item in bins], 1.0),
            showlegend=False,
            hovertemplate="stated %{x:.2f}, observed %{y:.2f}<extra></extra>",
            row=1,
            col=place + 1,
        )
        figure.add_scatter(
            x=[0, 1],
            y=[0, 1],
            mode="lines",
            line={"color": GRAY},
            name="stated as it is",
            showlegend=place == 0,
            row=1,
            col=place + 1,
        )
    figure.update_xaxes(title="stated probability", range=[-0.02, 1.02])
    figure.update_yaxes(title="observed share", range=[-0.02, 1.02], col=1)
    listed = "; ".join(f"{each.attribute} AUC {number(each.auc.value)}" for each in result.status)
    alt = f"Calibration of the protected-status models on people not seen: {listed}."
    figure = finish(figure, height=340, alt=alt)
    return figure.update_layout(margin={"t": 60}, legend={"y": 1.0 + 24 / 240})  # above the panels' titles
