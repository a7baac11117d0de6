"""Figures with a row or a dot a group: rates, their differences, and what a page sets beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.drawing.marks import add_legend, dashes, dot, legend_name, verdict_look, verdicts_named, whiskers
from audits.drawing.style import (
    ACCENT,
    GRAY,
    INK,
    describe,
    distinct,
    empty,
    finish,
)
from audits.groups.figures.layout import (
    MAX_GROUPS,
    groups_to_draw,
    laid_out,
    named_rows,
    panel_titles,
    people_of,
)
from audits.groups.metrics import METRICS
from audits.groups.result import Difference, GroupRow, GroupsResult
from audits.stats import EVIDENCE, VERDICTS, Estimate
from audits.stats.text import count, people_in, percent, several

__all__ = ["beside", "differences", "pooled_rates", "probable", "rates"]

FOUR_FIFTHS = 0.8
_HOVERED = 60  # and where it is pointed at
_NOT_JUDGED = "without a verdict of its own"
_Dot = tuple[Estimate, int, str, str]
"""A rate, the place of its row, the group's label, and by which terms its people are selected."""


def rates(
    result: GroupsResult,
    attribute: str,
    *,
    metrics: tuple[str, ...] = (),
    most: int = MAX_GROUPS,
    by_gap: bool = False,
    findings: bool = False,
) -> go.Figure:
    """Draw rates with intervals: one row a group, one panel a metric; the reference is marked.

    A rate has the color of its verdict, as in `differences`: gray where people are too few. In
    the panel of selection rates a line stands at four fifths of the highest rate.

    Parameters
    ----------
    by_gap : bool
        The largest differences from the reference first, instead of the largest groups.
    findings : bool
        Only groups that differ beyond chance, and the reference.
    """
    rows = groups_to_draw(result, attribute, most=most, by_gap=by_gap, findings=findings)[::-1]
    names = [
        name
        for name in (metrics or tuple(metric.name for metric in METRICS if metric.judged))
        if any(row.metric(name) is not None for row in rows)
    ]
    if not rows or not names:
        return empty("There is no group to compare.")
    labels = [describe(row.group, longest=_HOVERED) for row in rows]
    figure = make_subplots(
        rows=1,
        cols=len(names),
        shared_yaxes=True,
        horizontal_spacing=0.03,
        subplot_titles=panel_titles([METRICS.words(name) for name in names], [row.group for row in rows]),
    )
    inside = people_of(result, attribute)
    looks: set[str] = set()
    for panel, name in enumerate(names, start=1):
        unit = 1.0 if name in result.further else 100.0
        of_look: dict[tuple[str, str], list[_Dot]] = defaultdict(list)
        for place, (row, label) in enumerate(zip(rows, labels, strict=True)):
            estimate = row.metric(name)
            if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
                continue
            looks.add(_mark_text(row, name))
            of_look[_mark(row, name)].append((estimate, place, label, inside.get(row.group, "")))
        for look, dots in of_look.items():
            figure.add_trace(_rates(dots, look, unit), row=1, col=panel)
        if name == "selection_rate":
            best = max(row.selection_rate.value or 0.0 for row in result.of(attribute))
            figure.add_vline(
                x=100 * FOUR_FIFTHS * best, line={"color": GRAY, "dash": "dot"}, row=1, col=panel
            )
        title = "%" if unit > 1 else ""
        figure.update_xaxes(title=title, rangemode="tozero", nticks=4, row=1, col=panel)
    _name_looks(figure, looks, four_fifths="selection_rate" in names)
    pitch = named_rows(figure, attribute, [(row.group, row.n) for row in rows], _reference(result, attribute))
    ends = [row.selection_rate.value for row in rows if row.selection_rate.value is not None]
    alt = (
        f"Rates of {several(len(rows), 'group')} of {attribute} with intervals; selection rates from "
        f"{percent(min(ends), 0)} to {percent(max(ends), 0)}."
    )
    return laid_out(figure, len(rows), pitch, alt)


def _rates(dots: Sequence[_Dot], look: tuple[str, str], unit: float) -> go.Scatter:
    """Dots of one look with their intervals, times `unit`; a click on one selects its people."""
    color, symbol = look
    estimates, places, labels, people = zip(*dots, strict=True)
    frame = pd.DataFrame([(each.value, each.low, each.high) for each in estimates], columns=[*"vlh"])
    return go.Scatter(
        x=(unit * frame["v"]).tolist(),
        y=list(places),
        mode="markers",
        marker={"color": color, "size": 9, "symbol": symbol, "line": {"color": color, "width": 1.5}},
        error_x=_reach(frame["v"], frame["l"], frame["h"], 1.8, unit),
        meta=list(people),
        customdata=[
            [
                percent(each.value, each.n) if unit > 1 else f"{each.value:.3g}",
                count(each.n),
                each.method,
                label,
            ]
            for each, label in zip(estimates, labels, strict=True)
        ],
        hovertemplate="%{customdata[0]} of %{customdata[1]}<br>%{customdata[2]}"
        "<extra>%{customdata[3]}</extra>",
        showlegend=False,
    )


def _name_looks(figure: go.Figure, looks: set[str], *, four_fifths: bool) -> None:
    """Name the marks of rates that occur, and the line at four fifths."""
    shown = [("reference", dot(INK, "diamond"))]
    shown += [(each, dot(*verdict_look(each))) for each in VERDICTS]
    shown += [(_NOT_JUDGED, dot(INK, "square"))]
    add_legend(figure, [(legend_name(words), look) for words, look in shown if words in looks])
    if four_fifths:
        add_legend(figure, [("four fifths of the highest", dashes(GRAY))])


def differences(
    result: GroupsResult,
    attribute: str,
    *,
    most: int = MAX_GROUPS,
    by_gap: bool = False,
    findings: bool = False,
    further: Sequence[str] = (),
) -> go.Figure:
    """Draw each group's rates minus the reference's, in points: one row a group, one panel a rate.

    Instead of rates the `further` metrics named, in their own units. The intervals are those of the verdicts:
    all of them hold together. `by_gap` and `findings` as of `rates`.
    """
    chosen = groups_to_draw(result, attribute, most=most, by_gap=by_gap, findings=findings)
    rows = [row for row in chosen if row.differences][::-1]
    judged = [metric.name for metric in METRICS if metric.judged]
    names = [name for name in further or judged if any(name in row.differences for row in rows)]
    if not names:
        return empty("There is no group to compare.")
    figure = make_subplots(
        rows=1,
        cols=len(names),
        shared_yaxes=True,
        horizontal_spacing=0.03,
        subplot_titles=panel_titles([METRICS.words(name) for name in names], [row.group for row in rows]),
    )
    inside = people_of(result, attribute)
    labels = [describe(row.group, longest=_HOVERED) for row in rows]
    for panel, name in enumerate(names, start=1):
        known = [(place, row.differences[name]) for place, row in enumerate(rows)]
        for verdict in VERDICTS:
            part = [(place, gap) for place, gap in known if gap.verdict == verdict]
            part = [(place, gap) for place, gap in part if gap.estimate.low is not None]
            if part:
                trace = _gaps(part, labels, further=bool(further)).update(
                    meta=[inside.get(rows[place].group, "") for place, _ in part]
                )
                figure.add_trace(trace, row=1, col=panel)
        figure.add_vline(x=0, line={"color": INK, "width": 1}, row=1, col=panel)
        figure.update_xaxes(title="difference" if further else "points", nticks=4, row=1, col=panel)
    gaps = [row.differences[name] for row in rows for name in names if name in row.differences]
    verdicts_named(figure, [gap.verdict for gap in gaps if gap.estimate.low is not None])
    reference = _reference(result, attribute)
    pitch = named_rows(figure, attribute, [(row.group, row.n) for row in rows], reference)
    seen = len(
        {row.group for row in rows for name in names if name in row.differences
         and row.differences[name].verdict == EVIDENCE}
    )  # fmt: skip
    alt = (
        f"Differences of {several(len(rows), 'group')} of {attribute} from {people_in(reference)}, with "
        f"intervals that hold together; {several(seen, 'group')} differ{'s' * (seen == 1)} by more than "
        "chance."
    )
    return laid_out(figure, len(rows), pitch, alt)


def pooled_rates(result: GroupsResult, attribute: str, *, most: int = MAX_GROUPS) -> go.Figure:
    """Draw raw rates and partially pooled ones: one row a group, one panel a rate, both with intervals."""
    table = result.pooled_frame(attribute)
    if table.empty:
        return empty("With two groups, there is no pooling.")
    groups = list(dict.fromkeys(table["group"]))[:most][::-1]
    inside = people_of(result, attribute)
    kept = table[table["group"].isin(groups)]
    panels = list(dict.fromkeys(kept["rate"]))
    figure = make_subplots(
        rows=1,
        cols=len(panels),
        shared_yaxes=True,
        horizontal_spacing=0.03,
        subplot_titles=panel_titles(panels, groups),
    )
    for panel, name in enumerate(panels, start=1):
        part = kept[kept["rate"] == name].set_index("group").reindex(groups).reset_index()
        for side, color, symbol, shift in (
            ("raw", INK, "diamond", 0.0),
            ("pooled", ACCENT, "circle", -0.26),
        ):
            known = part[part[side].notna()]
            points = go.Scatter(
                x=(100 * known[side]).tolist(),
                y=[place + shift for place in known.index],
                mode="markers",
                marker={"color": color, "symbol": symbol, "size": 8},
                error_x=_reach(known[side], known[f"{side} low"], known[f"{side} high"], 1.6),
                name=side,
                legendgroup=side,
                showlegend=panel == 1,
                meta=[inside.get(group, "") for group in known["group"]],
                hovertemplate="%{x:.1f}%<extra></extra>",
            )
            figure.add_trace(points, row=1, col=panel)
        figure.update_xaxes(title="%", rangemode="tozero", nticks=4, row=1, col=panel)
    people = {row.group: row.n for row in result.of(attribute)}
    pitch = named_rows(
        figure, attribute, [(group, people[group]) for group in groups], _reference(result, attribute)
    )
    apart = (kept["pooled"] - kept["raw"]).abs().max()
    alt = (
        f"Raw and partially pooled rates of {len(groups)} groups of {attribute}; the largest shift "
        f"is {100 * apart:.1f} points."
    )
    return laid_out(figure, len(groups), pitch + 6, alt)


def probable(result: GroupsResult, attribute: str, *, most: int = MAX_GROUPS) -> go.Figure:
    """Draw where the rates of groups known by probability can lie, and the estimates on their assumption."""
    items = [item for item in result.probable if item.attribute == attribute][:most][::-1]
    if not items:
        return empty("No group is known by probability.")
    labels = distinct([item.group for item in items])
    figure = go.Figure()
    for what, ends, color, width in (
        ("possible", [item.bounds for item in items], GRAY, 1.5),
        ("if the assumption holds", [item.selection_rate for item in items], ACCENT, 4.0),
    ):
        frame = pd.DataFrame(
            [(end.value, end.low, end.high) for end in ends], columns=["value", "low", "high"]
        )
        figure.add_trace(
            go.Scatter(
                x=(100 * frame["value"]).tolist(),
                y=labels,
                mode="markers",
                marker={"color": color, "size": 1 if what == "possible" else 9},
                error_x=_reach(frame["value"], frame["low"], frame["high"], width),
                name=what,
                customdata=[end.method for end in ends],
                hovertemplate="%{x:.1f}%<br>%{customdata}<extra>%{y}</extra>",
            )
        )
    figure.update_xaxes(title="decided favorably (%)", range=[0, 100])
    alt = "; ".join(
        f"{item.group} between {percent(item.bounds.low, 0)} and {percent(item.bounds.high, 0)}"
        for item in items
    )
    return finish(
        figure, height=130 + 36 * len(items), alt=f"Possible selection rates: {alt}."
    ).update_layout(margin={"l": 14 + 7 * max(map(len, labels)), "r": 12, "t": 60, "b": 8})


def _reach(
    value: pd.Series, low: pd.Series, high: pd.Series, thickness: float, unit: float = 100.0
) -> dict[str, object]:
    """Lines to both ends of intervals, times `unit`: of shares in per cent."""
    return {
        "type": "data",
        "symmetric": False,
        "array": (unit * (high - value)).tolist(),
        "arrayminus": (unit * (value - low)).tolist(),
        "thickness": thickness,
        "width": 0,
    }


def beside(
    table: pd.DataFrame,
    attribute: str,
    names: tuple[str, str],
    *,
    most: int = MAX_GROUPS,
    people: Mapping[str, str] | None = None,
) -> go.Figure:
    """Draw two models' rates on the same people: one row a group, one panel a rate, both with intervals.

    Parameters
    ----------
    table : DataFrame
        As `audits.groups.beside` gives it.
    names : (str, str)
        Of the first and the second model.
    people : mapping, optional
        By which terms each group's people are selected, as of `people_of`.
    """
    inside = people or {}
    mine = table[table["attribute"] == attribute]
    groups = list(dict.fromkeys(mine["group"]))[:most][::-1]
    panels = [
        name for name in dict.fromkeys(mine["rate"]) if mine.loc[mine["rate"] == name, "first"].notna().any()
    ]
    if not groups or not panels:
        return empty("There is no group to compare.")
    figure = make_subplots(
        rows=1,
        cols=len(panels),
        shared_yaxes=True,
        horizontal_spacing=0.03,
        subplot_titles=panel_titles(panels, groups),
    )
    models = distinct(names, longest=60)
    for panel, name in enumerate(panels, start=1):
        part = mine[mine["rate"] == name].set_index("group").loc[groups].reset_index()
        for side, label, color, symbol, shift in zip(
            ("first", "second"), models, (INK, ACCENT), ("diamond", "circle"), (0.0, -0.26), strict=True
        ):
            known = part[part[side].notna()]
            figure.add_trace(
                go.Scatter(
                    x=(100 * known[side]).tolist(),
                    y=[place + shift for place in known.index],
                    mode="markers",
                    marker={"color": color, "symbol": symbol, "size": 8},
                    error_x=_reach(known[side], known[f"{side} low"], known[f"{side} high"], 1.6),
                    name=label,
                    legendgroup=side,
                    showlegend=panel == 1,
                    meta=[inside.get(group, "") for group in known["group"]],
                    hovertemplate="%{x:.1f}%<extra></extra>",
                ),
                row=1,
                col=panel,
            )
        figure.update_xaxes(title="%", rangemode="tozero", nticks=4, row=1, col=panel)
    pitch = named_rows(figure, attribute, [(group, None) for group in groups], "")
    sure = mine[(mine["change low"] > 0) | (mine["change high"] < 0)]
    alt = (
        f"Rates of two models for {len(groups)} groups of {attribute}; in {len(sure)} of {len(mine)} rates "
        "the paired interval of the change excludes 0."
    )
    return laid_out(figure, len(groups), pitch + 6, alt)


def _gaps(part: list[tuple[int, Difference]], labels: list[str], *, further: bool = False) -> go.Scatter:
    """Dots with intervals of differences that share a verdict, in points, or in a further metric's unit."""
    unit = 1 if further else 100
    ends = [
        [unit * (end or 0) for end in (gap.estimate.low, gap.estimate.value, gap.estimate.high)]
        for _, gap in part
    ]
    color, symbol = verdict_look(part[0][1].verdict)
    return go.Scatter(
        x=[value for _, value, _ in ends],
        y=[place for place, _ in part],
        mode="markers",
        marker={"color": color, "symbol": symbol, "size": 9, "line": {"color": color, "width": 1.5}},
        error_x=whiskers(
            [value for _, value, _ in ends],
            [(low, high) for low, _, high in ends],
            color=None,
            thickness=1.8,
            width=0,
        ),
        customdata=[[f"{gap.verdict}<br>{gap.estimate.method}", labels[place]] for place, gap in part],
        hovertemplate=f"{'%{x:.3g}' if further else '%{x:.1f} points'}"
        "<br>%{customdata[0]}<extra>%{customdata[1]}</extra>",
        showlegend=False,
    )


def _reference(result: GroupsResult, attribute: str) -> str:
    return next((row.group for row in result.of(attribute) if row.is_reference), "")


def _mark_text(row: GroupRow, rate: str) -> str:
    """Say what the mark of a group's rate means."""
    if row.is_reference:
        return "reference"
    return row.differences[rate].verdict if rate in row.differences else _NOT_JUDGED


def _mark(row: GroupRow, rate: str) -> tuple[str, str]:
    if row.is_reference:
        return INK, "diamond"
    return verdict_look(row.differences[rate].verdict) if rate in row.differences else (INK, "square")
