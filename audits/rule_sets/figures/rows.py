"""Figures of a rule-set audit that have one labeled row a group, a column or a method."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from audits.drawing.marks import whiskers
from audits.drawing.selected import people_id
from audits.drawing.style import CLEAR, CONTEXT, FOCUS, INK, annotate, describe, empty, finish, without_shared
from audits.stats.text import count, number, people

_LINE = 56  # letters of a label that fit a narrow page
BAR = 18  # pixels


def label_rows(
    figure: go.Figure,
    labels: Sequence[str],
    sizes: Sequence[str] = (),
    most: int = 2,
    marks: Sequence[str] | None = None,
) -> int:
    """Write each row's label, in `most` lines, and size above its mark, where a narrow page has room.

    `marks` stand before the labels.

    Returns the height.
    """
    cut = partial(textwrap.wrap, width=_LINE, max_lines=most, placeholder=" …")
    told = without_shared(labels, [" ".join(cut(each)) for each in labels])
    lines = [cut(f"{mark}{each}") or [""] for mark, each in zip(marks or [""] * len(told), told, strict=True)]
    for part, size in zip(lines, sizes, strict=False):
        if len(part[-1]) + len(size) + 3 <= _LINE:
            part[-1] += f" · {size}"
        else:
            part.append(size)
    pitch = BAR + 12 + 18 * max(map(len, lines))
    row = {"x": 0, "xref": "paper", "xanchor": "left", "yanchor": "bottom", "align": "left"}
    row |= {"xshift": CLEAR, "bgcolor": "white", "borderpad": 0}  # lines stop at it
    texts = ["<br>".join(describe(line, longest=_LINE) for line in part) for part in lines]
    annotate(
        figure,
        [
            {**row, "showarrow": False, "y": place + 0.5 * BAR / pitch, "text": text}
            for place, text in enumerate(texts)
        ],
    )
    figure.update_traces(width=BAR / pitch, selector={"type": "bar"})
    figure.update_yaxes(
        showticklabels=False, showgrid=False, zeroline=False, range=[-BAR / pitch, len(lines) - 0.2]
    )
    return 130 + pitch * len(lines)


def dots(
    x: Iterable[float], colors: Sequence[str] | str, told: Sequence[Any], people: Sequence[str], **more: Any
) -> go.Scatter:
    """Return a dot a row, the first lowest: what is said where it is pointed at, and whom a click selects."""
    hover = "%{customdata}<extra></extra>"
    x = list(x)
    common = {"y": list(range(len(x))), "mode": "markers", "hovertemplate": hover}
    look = {"color": colors, "size": 10}
    return go.Scatter(x=x, marker=look, customdata=told, meta=people, **{**common, **more})


def bars(x: Iterable[float], **more: Any) -> go.Bar:
    """Return a lying bar a row, the first lowest."""
    x = list(x)
    return go.Bar(
        x=x, y=list(range(len(x))), orientation="h", hovertemplate="%{customdata}<extra></extra>", **more
    )


def of_rule(words: str) -> str:
    """Return by which terms the people of a rule set are selected, from its words."""
    return people_id({"run": "", "rules": words})


def of_number(number: int) -> str:
    """Return by which terms the people of a rule set are selected, from its row in the table."""
    return people_id({"run": "", "rule": number})


def neighbours(table: pd.DataFrame, names: Callable[[str], str] = str) -> go.Figure:
    """Draw a group beside those one step away: what drives the difference."""
    shown = table.iloc[::-1]
    x = 100 * shown["difference"]
    told = [
        f"{describe(names(words), longest=120)}<br>{people(n)}<br>{number(gap)} points"
        for words, n, gap in zip(shown["rule_set"], shown["n_in"], x, strict=True)
    ]
    figure = go.Figure(
        dots(
            x,
            [FOCUS if step == "this group" else INK for step in shown["step"]],
            told,
            list(map(of_rule, shown["rule_set"])),
            error_x=whiskers(x.tolist(), zip(100 * shown["low"], 100 * shown["high"], strict=True)),
        )
    )
    height = label_rows(figure, list(map(names, shown["rule_set"])), [count(n) for n in shown["n_in"]])
    figure.update_xaxes(title="difference from the others (points)", zeroline=True)
    alt = f"Difference of this group and of {len(table) - 1} groups one rule away from it."
    return finish(figure, height=height, alt=alt)


def profile(table: pd.DataFrame) -> go.Figure:
    """Draw how people inside a group differ from those outside, most different column first."""
    if table.empty:
        return empty("People inside and outside are alike in every other column.")
    shown = table.iloc[::-1]
    told = [
        f"{number(a)} inside, {number(b)} outside"
        for a, b in zip(shown["inside"], shown["outside"], strict=True)
    ]
    figure = go.Figure(bars(shown["distance"], marker={"color": CONTEXT}, customdata=told))
    height = label_rows(
        figure, [f"{name}: {what}" for name, what in zip(shown["column"], shown["figure"], strict=True)]
    )
    figure.update_xaxes(title="inside minus outside<br>(standard deviations, or difference of shares)")
    first = table.iloc[0]
    values = f"{number(first['inside'])} against {number(first['outside'])}"
    alt = f"Columns by how far people inside lie from those outside; first {first['column']} ({values})."
    return finish(figure, height=height, alt=alt)
