"""Figures with a row or a dot a group: rates, their differences, and what a page sets beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.data import named_with
from audits.drawing.marks import (
    add_legend,
    dashes,
    dot,
    legend_name,
    reaching,
    verdict_look,
    verdicts_named,
    whiskers,
)
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
from audits.groups.result import GroupRow, GroupsResult
from audits.stats import EVIDENCE, VERDICTS, Estimate
from audits.stats.ratios import references_among
from audits.stats.text import count, people_in, percent, several
from audits.stats.verdicts import FOUR_FIFTHS

_HOVERED = 60  # letters of a name that is pointed at
_NOT_JUDGED = "without a verdict of its own"
_REFERENCE = "reference"


@dataclass(frozen=True)
class _Dot:
    """An estimate in the row of its group: what it is marked as, what is said of it, and how many people."""

    row: GroupRow
    place: int
    estimate: Estimate
    mark: str
    told: str


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
    shares = not any(name in result.further for name in names)
    figure = _panels([METRICS.words(name) for name in names], [row.group for row in rows], one_unit=shares)
    marks: set[str] = set()
    for panel, name in enumerate(names, start=1):
        unit = 1.0 if name in result.further else 100.0
        dots = []
        for place, row in enumerate(rows):
            rate = row.metric(name)
            if rate is not None and rate.value is not None:
                share = percent(rate.value, rate.n) if unit > 1 else f"{rate.value:.3g}"
                told = f"{share} of {count(rate.n)}<br>{rate.method}"
                dots.append(_Dot(row, place, rate, _mark(row, name), told))
        marks |= _draw_dots(figure, panel, result, dots, unit)
        if name == "selection_rate":
            line = {"color": GRAY, "dash": "dot"}
            figure.add_vline(x=100 * FOUR_FIFTHS * _highest(result, attribute), line=line, row=1, col=panel)
        _axis_of_rates(figure, panel, "%" if unit > 1 else "")
    shown = [each for each in (_REFERENCE, *VERDICTS, _NOT_JUDGED) if each in marks]
    add_legend(figure, [(legend_name(each), dot(*_look(each))) for each in shown])
    if "selection_rate" in names:
        add_legend(figure, [("four fifths of the highest", dashes(GRAY))])
    ends = [row.selection_rate.value for row in rows if row.selection_rate.value is not None]
    alt = (
        f"Rates of {several(len(rows), 'group')} of {attribute} with intervals; selection rates from "
        f"{percent(min(ends), 0)} to {percent(max(ends), 0)}."
    )
    return _rows_named(figure, result, attribute, rows, alt)


def _highest(result: GroupsResult, attribute: str) -> float:
    """Return the selection rate by which impact ratios divide."""
    rates = [row.selection_rate for row in result.of(attribute)]
    large = references_among(np.array([rate.n for rate in rates]))
    return max((rates[place].value or 0.0 for place in large), default=0.0)


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
    titles = [METRICS.words(name) for name in names]
    figure = _panels(titles, [row.group for row in rows], one_unit=not further)
    unit, axis = (1.0, "difference") if further else (100.0, "points")
    marks: set[str] = set()
    for panel, name in enumerate(names, start=1):
        dots = []
        for place, row in enumerate(rows):
            gap = row.differences.get(name)
            if gap is not None and gap.estimate.value is not None:
                size = f"{gap.estimate.value:.3g}" if further else f"{100 * gap.estimate.value:.1f} points"
                told = f"{size.replace('-', '−')}<br>{gap.verdict}<br>{gap.estimate.method}"
                dots.append(_Dot(row, place, gap.estimate, gap.verdict, told))
        marks |= _draw_dots(figure, panel, result, dots, unit)
        figure.add_vline(x=0, line={"color": INK, "width": 1}, row=1, col=panel)
        figure.update_xaxes(title=axis, nticks=4, row=1, col=panel)
    verdicts_named(figure, marks)
    drawn = [(row, row.differences[name]) for row in rows for name in names if name in row.differences]
    seen = len({row.group for row, gap in drawn if gap.verdict == EVIDENCE})
    others = people_in(named_with(attribute, _reference(result, attribute)))
    alt = (
        f"Differences of {several(len(rows), 'group')} of {attribute} from {others}, with intervals that "
        f"hold together; {several(seen, 'group')} differ{'s' * (seen == 1)} by more than chance."
    )
    return _rows_named(figure, result, attribute, rows, alt)


def pooled_rates(result: GroupsResult, attribute: str, *, most: int = MAX_GROUPS) -> go.Figure:
    """Draw raw rates and partially pooled ones: one row a group, one panel a rate, both with intervals."""
    table = result.pooled_frame(attribute)
    if table.empty:
        return empty("With two groups, there is no pooling.")
    groups = list(dict.fromkeys(table["group"]))[:most][::-1]
    kept = table[table["group"].isin(groups)]
    figure = _two_rates(kept, groups, {"raw": "raw", "pooled": "pooled"}, people_of(result, attribute))
    apart = (kept["pooled"] - kept["raw"]).abs().max()
    alt = (
        f"Raw and partially pooled rates of {len(groups)} groups of {attribute}; the largest shift "
        f"is {100 * apart:.1f} points."
    )
    people = {row.group: row for row in result.of(attribute)}
    return _rows_named(figure, result, attribute, [people[group] for group in groups], alt, lower=6)


def probable(result: GroupsResult, attribute: str, *, most: int = MAX_GROUPS) -> go.Figure:
    """Draw where the rates of groups known by probability can lie, and the estimates on their assumption."""
    items = [item for item in result.probable if item.attribute == attribute][:most][::-1]
    if not items:
        return empty("No group is known by probability.")
    labels = distinct([item.group for item in items])
    figure = go.Figure()
    for what, ends, color, size, width in (
        ("possible", [item.bounds for item in items], GRAY, 1, 1.5),
        ("if the assumption holds", [item.selection_rate for item in items], ACCENT, 9, 4.0),
    ):
        figure.add_scatter(
            x=[None if end.value is None else 100 * end.value for end in ends],
            y=labels,
            mode="markers",
            marker={"color": color, "size": size},
            error_x=reaching(ends, 100.0, color=None, thickness=width, width=0),
            name=what,
            customdata=[end.method for end in ends],
            hovertemplate="%{x:.1f}%<br>%{customdata}<extra>%{y}</extra>",
        )
    figure.update_xaxes(title="decided favorably (%)", range=[0, 100])
    told = "; ".join(
        f"{item.group} between {percent(item.bounds.low, 0)} and {percent(item.bounds.high, 0)}"
        for item in items
    )
    finish(figure, height=130 + 36 * len(items), alt=f"Possible selection rates: {told}.")
    return figure.update_layout(margin={"l": 14 + 7 * max(map(len, labels)), "r": 12, "t": 60, "b": 8})


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
    mine = table[table["attribute"] == attribute]
    groups = list(dict.fromkeys(mine["group"]))[:most][::-1]
    known = mine[mine.groupby("rate")["first"].transform("count") > 0]
    if known.empty:
        return empty("There is no group to compare.")
    models = dict(zip(("first", "second"), distinct(names, longest=60), strict=True))
    figure = _two_rates(known, groups, models, people or {})
    pitch = named_rows(figure, attribute, [(group, None) for group in groups], "")
    sure = mine[(mine["change low"] > 0) | (mine["change high"] < 0)]
    alt = (
        f"Rates of two models for {len(groups)} groups of {attribute}; in {len(sure)} of {len(mine)} rates "
        "the paired interval of the change excludes 0."
    )
    return laid_out(figure, len(groups), pitch + 6, alt)


def _panels(titles: Sequence[str], groups: Sequence[str], *, one_unit: bool = True) -> go.Figure:
    """Return a row of panels of the same groups; those of one unit have one axis."""
    titles = panel_titles(titles, groups)
    figure = make_subplots(
        rows=1, cols=len(titles), shared_yaxes=True, horizontal_spacing=0.03, subplot_titles=titles
    )
    return figure.update_xaxes(matches="x" if one_unit else None)


def _axis_of_rates(figure: go.Figure, panel: int, title: str) -> None:
    figure.update_xaxes(title=title, rangemode="tozero", nticks=4, row=1, col=panel)


def _rows_named(
    figure: go.Figure,
    result: GroupsResult,
    attribute: str,
    rows: Sequence[GroupRow],
    alt: str,
    *,
    lower: int = 0,
) -> go.Figure:
    """Finish a figure whose rows are groups with their people; marks reach so many pixels `lower`."""
    named = [(row.group, row.n) for row in rows]
    pitch = named_rows(figure, attribute, named, _reference(result, attribute))
    return laid_out(figure, len(rows), pitch + lower, alt)


def _draw_dots(
    figure: go.Figure, panel: int, result: GroupsResult, dots: Iterable[_Dot], unit: float
) -> set[str]:
    """Draw dots with their intervals, times `unit`; a click on one selects its people. Return their marks."""
    known = [each for each in dots if None not in (each.estimate.low, each.estimate.high)]
    inside = people_of(result, known[0].row.attribute) if known else {}
    for look in dict.fromkeys(_look(each.mark) for each in known):
        own = [each for each in known if _look(each.mark) == look]
        color, symbol = look
        points = go.Scatter(
            x=[unit * float(each.estimate.value or 0.0) for each in own],
            y=[each.place for each in own],
            mode="markers",
            marker={"color": color, "size": 9, "symbol": symbol, "line": {"color": color, "width": 1.5}},
            error_x=reaching([each.estimate for each in own], unit, color=None, thickness=1.8, width=0),
            meta=[inside.get(each.row.group, "") for each in own],
            customdata=[[each.told, describe(each.row.group, longest=_HOVERED)] for each in own],
            hovertemplate="%{customdata[0]}<extra>%{customdata[1]}</extra>",
            showlegend=False,
        )
        figure.add_trace(points, row=1, col=panel)
    return {each.mark for each in known}


def _two_rates(
    table: pd.DataFrame, groups: Sequence[str], sides: Mapping[str, str], people: Mapping[str, str]
) -> go.Figure:
    """Draw two columns of a table of rates by group, the second below the first: a panel a rate."""
    panels = list(dict.fromkeys(table["rate"]))
    figure = _panels(panels, groups)
    looks = ((INK, "diamond", 0.0), (ACCENT, "circle", -0.26))
    for panel, name in enumerate(panels, start=1):
        part = table[table["rate"] == name].set_index("group").reindex(groups).reset_index()
        for (side, label), (color, symbol, shift) in zip(sides.items(), looks, strict=True):
            known = part[part[side].notna()]
            value, low, high = (100 * known[end] for end in (side, f"{side} low", f"{side} high"))
            reach = whiskers(value, zip(low, high, strict=True), color=None, thickness=1.6, width=0)
            points = go.Scatter(
                x=value.tolist(),
                y=[place + shift for place in known.index],
                mode="markers",
                marker={"color": color, "symbol": symbol, "size": 8},
                error_x=reach,
                name=label,
                legendgroup=side,
                showlegend=panel == 1,
                meta=[people.get(group, "") for group in known["group"]],
                hovertemplate="%{x:.1f}%<extra></extra>",
            )
            figure.add_trace(points, row=1, col=panel)
        _axis_of_rates(figure, panel, "%")
    return figure


def _reference(result: GroupsResult, attribute: str) -> str:
    return next((row.group for row in result.of(attribute) if row.is_reference), "")


def _mark(row: GroupRow, rate: str) -> str:
    """Say what the mark of a group's rate means."""
    if row.is_reference:
        return _REFERENCE
    return row.differences[rate].verdict if rate in row.differences else _NOT_JUDGED


def _look(mark: str) -> tuple[str, str]:
    """Return the color and the symbol of a mark."""
    return {_REFERENCE: (INK, "diamond"), _NOT_JUDGED: (INK, "square")}.get(mark) or verdict_look(mark)
