"""Figures of changing one word: people as dots that fill, all pairs, and the most moved people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from audits.attribute_swap.result import AttributeSwapResult, SwapRow
from audits.attribute_swap.text import change
from audits.drawing.differences import differences
from audits.drawing.marks import add_legend, box, dashes, decisive, dot, segments
from audits.drawing.selected import of_run, people_id
from audits.drawing.style import (
    CONTEXT,
    FOCUS,
    INK,
    annotate,
    describe,
    distinct,
    empty,
    finish,
    rows_named,
    shorter_where_narrow,
    smaller_dots_where_narrow,
)
from audits.stats.badges import interval_text
from audits.stats.text import estimate_text, in_words, out_of, people_in, percent
from audits.stats.vocabulary import vocabulary

_MAX_ROWS, _MAX_MOVED = 12, 8
_MAX = 44  # letters above a row, on a phone too
_MAX_NARROW = 26  # letters that half a phone holds
_ACROSS, _MAX_DOTS = 18, 180  # dots of a block in a line, and in all
_STRIP, _LINE, _HEAD = 74, 19, 80  # pixels: of the interval, of a line of dots, and above and below a block
_REACH = 30.0  # points that the axis shows to either side, unless an interval is longer


def blocks(result: AttributeSwapResult) -> go.Figure:
    """Draw the interval that decides, and below it a block of people for each of two groups.

    A dot is a person, or as many as are said. Those whose decision changes with the value are dark: buttons
    show them as they are and with the value changed.
    """
    rows = _in_blocks(result)
    each = _each(rows)
    lines = max(math.ceil(sum(n for *_, n in _dots(row, each)) / _ACROSS) for row in rows)
    body = _HEAD + _LINE * lines
    height = _STRIP + body
    figure = go.Figure(decisive(result.judged, 0, 100.0))
    ends = [abs(100 * (end or 0.0)) for end in (result.judged.interval.low, result.judged.interval.high)]
    reach = max(_REACH, 1.1 * max(ends))
    figure.update_layout(
        xaxis={"range": [-reach, reach], "ticksuffix": "", "anchor": "y"},
        yaxis={"domain": [1 - 34 / height, 1], "range": [-1, 1], "visible": False},
    )
    figure.add_vline(x=0, line={"color": CONTEXT, "width": 1})
    what = "decisions changed" if result.by_changed else "gained minus lost"
    told = f"{what}: {interval_text(result.judged).partition(' · ')[0]}"
    notes = [_note(told, x=1, y=1, xanchor="right", yshift=14)]
    for k, row in enumerate(rows):
        notes += _block(figure, row, (k, len(rows)), each, lines, body / height)
    if rows[0].read:
        states = [state for row in rows for *state, _ in _dots(row, each)]
        figure.update_layout(updatemenus=[_toggle(states)])
    annotate(figure, notes)
    figure = finish(figure, height=height + 70, alt=_alt(rows[0]))
    figure.update_layout(margin={"l": 18, "r": 18, "t": 62, "b": 8}, showlegend=False)
    shorter_where_narrow(figure, {_title(row): _title(row, _MAX_NARROW) for row in rows})
    return smaller_dots_where_narrow(figure, _ACROSS)


def _in_blocks(result: AttributeSwapResult) -> list[SwapRow]:
    """Return the row that decides, and its reverse, or else the one that differs most from it."""
    first = result.deciding
    others = [row for row in result.swaps if row is not first and row.read and row.group != first.group]
    reverse = [row for row in others if (row.source, row.target) == (first.target, first.source)]
    place = {**first.where, first.attribute: first.target}
    same = [row for row in reverse if row.where == place]
    ranked = sorted(others, key=lambda row: -abs(row.net.value or 0.0))
    return [first, *(same or reverse or ranked)[:1]]


def _each(rows: Sequence[SwapRow]) -> int:
    """Return how many people a dot stands for."""
    return max(1, math.ceil(max(row.n for row in rows) / _MAX_DOTS))


def people_a_dot(result: AttributeSwapResult) -> int:
    """Return how many people a dot of `blocks` stands for."""
    return _each(_in_blocks(result))


def _dots(row: SwapRow, each: int) -> list[tuple[bool, bool, int]]:
    """Return whether people are approved before and after, and how many dots: at least one of any."""
    yes, gained, lost = row.people(row.before), row.people(row.gained), row.people(row.lost)
    parts = (
        (True, True, yes - lost),
        (True, False, lost),
        (False, True, gained),
        (False, False, row.n - yes - gained),
    )
    found = [
        (earlier, later, math.ceil(part / each) if 0 < part < each else round(part / each))
        for earlier, later, part in parts
    ]
    return [part for part in found if part[2]]


def _symbol(*, yes: bool) -> str:
    return "circle" if yes else "circle-open"


def _block(
    figure: go.Figure, row: SwapRow, place: tuple[int, int], each: int, lines: int, top: float
) -> list[dict[str, Any]]:
    """Add the dots of a group in its part of the figure; return what is written around them."""
    k, of = place
    axis, left, right = k + 2, k / of + 0.02 * (k > 0), (k + 1) / of - 0.02
    across = {"domain": [left, right], "range": [-0.7, _ACROSS - 0.3], "anchor": f"y{axis}"}
    down = {"domain": [0, top], "range": [lines + 1.9, -2.2], "anchor": f"x{axis}"}
    hidden = {"visible": False}
    figure.update_layout({f"xaxis{axis}": {**across, **hidden}, f"yaxis{axis}": {**down, **hidden}})
    at, focus = 0, FOCUS if k == 0 else CONTEXT
    for earlier, later, n in _dots(row, each):
        color = focus if earlier == later else INK
        dots = range(at, at + n)
        look = {
            "color": color,
            "size": 9,
            "symbol": _symbol(yes=later),
            "line": {"color": color, "width": 1.5},
        }
        at += n
        figure.add_scatter(
            x=[dot % _ACROSS for dot in dots],
            y=[dot // _ACROSS for dot in dots],
            xaxis=f"x{axis}",
            yaxis=f"y{axis}",
            mode="markers",
            marker=look,
            meta=[_people_of(row, earlier, later)] * n,
            hoverinfo="skip",
            showlegend=False,
        )
    refs = {"xref": f"x{axis}", "yref": f"y{axis}", "x": -0.7, "xanchor": "left"}
    words = vocabulary()
    before, after = (
        out_of(row.people(share), row.n) if row.counted else percent(share.value, row.n)
        for share in (row.before, row.after)
    )
    return [
        _note(_title(row), y=-1.3, align="left", **refs),
        _note(f"{before} {words.share_yes}<br>→ {after}", y=lines + 0.9, align="left", **refs),
    ]


def _title(row: SwapRow, longest: int = 60) -> str:
    """Return who stands in a block, and what is changed: on a phone, to what."""
    name, said = people_in(row.group), change(row)
    said = said if len(said) <= longest else f"→ “{row.target}”"
    return f"<b>{describe(name, longest=longest * 5 // 6)}</b><br>{describe(said, longest=longest)}"


def _people_of(row: SwapRow, earlier: bool, later: bool) -> str:
    """Return whom a dot stands for; nobody where the group is not of columns."""
    if not row.where:
        return ""
    group = [of_run(f"group: {name}", within=[value]) for name, value in row.where.items()]
    return people_id(
        *group,
        of_run("decision", within=[str(earlier)]),
        of_run(f"{row.attribute} = {row.target}", within=[str(later)]),
    )


def _note(text: str, **place: Any) -> dict[str, Any]:
    paper = {"xref": "paper", "yref": "paper"}
    return {"text": text, "showarrow": False, "font": {"size": 13, "color": INK}, **paper, **place}


def _alt(row: SwapRow) -> str:
    share = estimate_text(row.net, 100, " points")
    return f"Net share of {people_in(row.group)} with {change(row)}: {share}."


def _toggle(states: Sequence[Sequence[bool]]) -> dict[str, Any]:
    """Return the two buttons: everyone as they are, and with the value changed; `states` a trace of dots."""
    traces = list(range(1, len(states) + 1))
    buttons = [
        {
            "label": label,
            "method": "restyle",
            "args": [{"marker.symbol": [_symbol(yes=state[place]) for state in states]}, traces],
        }
        for place, label in enumerate(("as they are", "one word changed"))
    ]
    return {
        **{"type": "buttons", "direction": "right", "buttons": buttons, "active": 1},
        **{"x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "pad": {"b": 22, "t": 0, "l": 0, "r": 0}},
        **{"bgcolor": "white", "bordercolor": CONTEXT, "font": {"size": 13, "color": INK}},
    }


def net(result: AttributeSwapResult) -> go.Figure:
    """Draw the net share of each group over all changed; the interval that decides first and thickest."""
    first = result.deciding
    others = sorted(
        (row for row in result.swaps if row is not first), key=lambda row: -abs(row.net.value or 0.0)
    )
    rows = sorted(
        [first, *others[: _MAX_ROWS - 1]], key=lambda row: (-abs(row.net.value or 0.0), row is not first)
    )
    decides = first.net if result.by_changed else result.judged.interval
    figure = differences(
        result.judged,
        [
            (f"{people_in(row.group)} → {in_words(row.target)}", decides if row is first else row.net, "")
            for row in rows
        ],
        title="gained minus lost (points)",
        unit=100.0,
        limit=(None, None),  # the first figure of the page shows it
        ordered=False,
    )
    ends = [abs(100 * (end or 0.0)) for row in rows for end in (row.net.low, row.net.high)]
    reach = max(_REACH, 1.05 * max(ends))
    figure.update_xaxes(range=[-reach, reach])
    for sign, share in ((1, "gained"), (-1, "lost")):
        figure.add_bar(
            x=[sign * 100 * (getattr(row, share).value or 0.0) for row in rows],
            y=list(range(len(rows)))[::-1],
            orientation="h",
            marker={"color": "#EEF0F2"},
            hovertemplate=f"{share} %{{x:.1f}} points<extra></extra>",
            showlegend=False,
        )
    figure.update_layout(barmode="relative")
    decisive_line = [] if result.by_changed else [("decides", dashes(FOCUS, "solid", 4))]
    return add_legend(figure, [*decisive_line, ("lost and gained", box("#EEF0F2"))])


def moved_people(result: AttributeSwapResult) -> pd.DataFrame:
    """Return those whose score moves at all, the most moved first."""
    columns = ["attribute", "from", "to", "score", "score_after", "decision", "decision_after"]
    return result.people.loc[result.people["score"] != result.people["score_after"], columns].head(100)


def score_changes(result: AttributeSwapResult) -> go.Figure:
    """Draw scores of the most moved people before and after."""
    table = moved_people(result).head(_MAX_MOVED)[::-1]
    if table.empty:
        return empty("Nobody's score moves.")
    places = list(range(len(table)))
    moves = zip(table["score"], table["score_after"], places, strict=True)
    figure = go.Figure(segments([((before, k), (after, k)) for before, after, k in moves], CONTEXT))
    for score, decision, color in (("score", "decision", CONTEXT), ("score_after", "decision_after", FOCUS)):
        figure.add_scatter(
            x=table[score],
            y=places,
            mode="markers",
            marker={
                "color": color,
                "size": 10,
                "symbol": [_symbol(yes=bool(yes)) for yes in table[decision]],
                "line": {"color": color, "width": 1.5},
            },
            meta=[people_id({"run": "", "row": row}) for row in table.index.tolist()],
            hovertemplate="%{x:.3f}<extra></extra>",
            showlegend=False,
        )
    add_legend(figure, [("as they are", dot(CONTEXT)), ("with the value changed", dot(FOCUS))])
    labels = [
        f"row {row}: {in_words(str(source))} → {in_words(str(target))}"
        for row, source, target in zip(table.index, table["from"], table["to"], strict=True)
    ]
    each = rows_named(figure, distinct(labels, longest=_MAX))
    figure.update_xaxes(title="score")
    first = table.iloc[-1]
    alt = (
        f"Row {table.index[-1]}: score {first['score']:.3f}, {first['score_after']:.3f} with “{first['to']}”."
    )
    return finish(figure, height=120 + each * len(table), alt=alt)
