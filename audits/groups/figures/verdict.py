"""The figure of the interval that decides, and of what was compared beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from audits.data import group_name, named_with
from audits.drawing.marks import decisive, named_above, segments
from audits.drawing.style import CONTEXT, FOCUS, INK, annotate, describe, finish, rows_named, where_narrow
from audits.groups.amounts.inference import ordered, worse_first
from audits.groups.amounts.text import amount_title, own_amount
from audits.groups.figures.layout import beside_values, value_column
from audits.groups.inference import MIN_COVERED, RATIO, by_importance, lower_first, most_telling
from audits.groups.metrics import METRICS
from audits.groups.names import people_of, title_pair
from audits.groups.result import GroupsResult
from audits.groups.text import among_words, is_probable, rate_words
from audits.stats import Estimate
from audits.stats.text import estimate_text, named_group, people_in, percent, several
from audits.stats.vocabulary import vocabulary
from audits.text import begun

MAX_ROWS = 8
"""Groups that the figure shows, those that weigh most."""


def deciding(result: GroupsResult, *, most: int = MAX_ROWS) -> go.Figure:
    """Draw the interval that the verdict follows from, and thin beneath it the same of the other groups.

    Each row ends with the group's own rate. Groups of fewer than 50 people are gray and dashed.
    """
    judged = result.judged
    by_ratio = judged.decided_by == RATIO
    if result.amounts is not None:
        in_unit = result.amounts.unit
        rows = _compared(ordered(result.amounts.table), lambda row, name: own_amount(row, name, in_unit))
    elif is_probable(result):
        rows = _probable(result)
    else:
        parts = by_importance(result.table, result.options.get("measure"))
        rows = _compared(parts, rate_words, by_ratio=by_ratio)
    first = len(rows[:most]) - 1
    rows = [rows[0], *sorted(rows[1:most], key=lambda row: row.gap.value or 0.0)]
    unit, axis = (1.0, "ratio of the two rates") if by_ratio else (100.0, "points from the reference")
    if result.amounts is not None:
        unit, axis = (
            1.0,
            f"{result.amounts.unit or result.amounts.of_which(judged.decided_by)} from the reference",
        )
    thick = decisive(judged, first, unit)
    if rows[0].small:
        thick.update(line_dash="dash")
    focus = FOCUS if _of_first_named(result) else INK  # the reference may be who the sentence is about
    if thick.line.color == FOCUS != focus:
        thick.update(line_color=focus, marker_color=focus)
    figure = go.Figure(thick)
    for small in (False, True):
        known = [
            (first - place, row)
            for place, row in enumerate(rows)
            if place and row.small is small and None not in (row.gap.value, row.gap.low, row.gap.high)
        ]
        if known:
            figure.add_traces(_others(known, unit, small=small))
    none = 1.0 if by_ratio else 0.0
    figure.add_vline(x=none, line={"color": INK, "width": 1})
    limits = [end for end in (judged.immaterial_low, judged.immaterial_high) if end is not None]
    for end in limits:
        figure.add_vline(x=unit * end, line={"color": CONTEXT, "dash": "dot"})
    ends = [
        abs(unit * (end - none)) for row in rows for end in (row.gap.low, row.gap.high) if end is not None
    ]
    least = 30.0 if unit == 100 else 0.5 if by_ratio else 0.0
    reach = max([least, *(abs(unit * (end - none)) for end in limits), *ends]) * 1.03 or 1.0
    figure.update_xaxes(
        title=axis, nticks=7, range=[unit * none - reach, unit * none + reach], zeroline=False, tickangle=0
    )
    where_narrow(figure, "xaxis", {"nticks": 4})  # beside values in a column of their own
    if limits:
        at = unit * max(limits)
        named_above(figure, "your limit", (at, at), (unit * none - reach, unit * none + reach))
    told = [row.rate for row in rows[::-1]]
    pitch = rows_named(figure, [row.name for row in rows[::-1]], beside=beside_values(told))
    annotate(figure, value_column(told, [focus if place == first else INK for place in range(len(rows))]))
    alt = f"{rows[0].name}: {estimate_text(judged.interval, unit)}, and {several(first, 'other group')}."
    finish(figure, height=84 + pitch * len(rows), alt=alt)
    left = 14 + 7 * max(len(row.name) for row in rows) if pitch == 30 else 12
    figure.layout.margin = {"l": left, "r": 16 + 7 * max(map(len, told)), "t": 36, "b": 40}
    return figure


def _of_first_named(result: GroupsResult) -> bool:
    """Tell whether the deciding row is of the group that the sentence names first."""
    if result.amounts is not None:
        return not worse_first(result.amounts)[0].is_reference
    if is_probable(result):
        return True
    return not lower_first(result)[0].is_reference


@dataclass(frozen=True)
class _Row:
    """One row: a group in words, its difference or ratio, its own rate in words."""

    name: str
    gap: Estimate
    rate: str = ""
    small: bool = False


def _others(known: Sequence[tuple[int, _Row]], unit: float, *, small: bool) -> list[go.Scatter]:
    """Return dots and lines of rows that do not decide; those of small groups are gray and dashed."""
    color = CONTEXT if small else INK
    common = {"showlegend": False, "cliponaxis": False}
    reach = [
        ((unit * (row.gap.low or 0.0), place), (unit * (row.gap.high or 0.0), place)) for place, row in known
    ]
    lines = segments(reach, color, 1.4, dash="dash" if small else "solid").update(cliponaxis=False)
    dots = go.Scatter(
        x=[unit * (row.gap.value or 0.0) for _, row in known],
        y=[place for place, _ in known],
        mode="markers",
        marker={"color": color, "size": 8},
        customdata=[estimate_text(row.gap, unit) for _, row in known],
        hovertemplate="%{customdata}<extra></extra>",
        **common,
    )
    return [lines, dots]


def _compared(
    parts: Iterable[tuple[Any, str]], own: Callable[[Any, str], str], *, by_ratio: bool = False
) -> list[_Row]:
    """Groups of the deciding attribute with their differences in what decides, in the order of `parts`."""
    (first, rate), *others = parts
    found = []
    for row in (first, *(row for row, name in others if (row.attribute, name) == (first.attribute, rate))):
        gap = row.differences[rate]
        name = describe(named_group(named_with(row.attribute, row.group)), longest=60)
        shown = gap.ratio if by_ratio and gap.ratio else gap.estimate
        found.append(_Row(name, shown, own(row, rate), row.n < MIN_COVERED))
    return found


def _probable(result: GroupsResult) -> list[_Row]:
    """Groups known by probability with the bounds of their differences, the deciding one first."""
    found = [
        _Row(describe(group_name({each.attribute: each.group})), each.difference_bounds)
        for each in result.probable
        if each.difference_bounds is not None
    ]
    found.sort(key=lambda each: each.gap != result.judged.interval)
    return found


def title(result: GroupsResult) -> str:
    """State the finding as the sentence does: the rates of the two groups, the lower one first."""
    if result.amounts is not None:
        return amount_title(result.amounts)
    if is_probable(result):
        return "The difference that decides"
    _, reference, rate = most_telling(result.table, result.options.get("measure"))
    row, compared = lower_first(result)
    own, other = row.metric(rate), compared.metric(rate)
    if own is None or other is None or None in (own.value, other.value):
        return f"{begun(METRICS[rate].words)} compared with {people_in(reference.group)}"
    words = [percent(each.value, each.n) for each in (own, other)]
    who, others = title_pair(row.attribute, row.group, compared.group)
    return f"{begun(who)}: {words[0]}, against {words[1]} of {others}"


def caption(result: GroupsResult) -> str:
    """Say the measure, its unit, and what the marks are."""
    if result.amounts is not None:
        what = result.judged.decided_by
        return (
            f"{begun(what)} of {result.amounts.of_which(what)}, minus that of the reference group. "
            "Dot: difference. Line: interval; the thick one decides. Dotted: your limit."
        )
    if is_probable(result):
        return "Thick line: the interval that decides the verdict. Dotted: your limit."
    row, reference, rate = most_telling(result.table, result.options.get("measure"))
    drawn = result.of(row.attribute)
    some = f" The {MAX_ROWS} largest of {len(drawn) - 1}." if len(drawn) - 1 > MAX_ROWS else ""
    small = (
        f" Dashed: fewer than 50 {vocabulary().people}."
        if any(each.n < MIN_COVERED for each in drawn)
        else ""
    )
    measure = f"{begun(METRICS[rate].words)}{among_words(rate)}"
    return (
        f"{measure}, minus that of {people_of(reference)}. Dot: difference. Line: interval; the thick one "
        f"decides. Dotted: your limit.{some}{small}"
    )
