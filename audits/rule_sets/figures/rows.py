"""Figures of a rule-set audit that have one labeled row a group, a column or a method."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import plotly.graph_objects as go

from audits.drawing.marks import whiskers
from audits.drawing.selected import people_id
from audits.drawing.style import CLEAR, CONTEXT, FOCUS, INK, annotate, describe, empty, finish, without_shared
from audits.stats.text import count, number, people

__all__ = ["label_rows", "neighbours", "profile"]

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


def neighbours(table: pd.DataFrame, names: Callable[[str], str] = str) -> go.Figure:
    """Draw a group beside those one step away: what drives the difference."""
    shown = table.iloc[::-1]
    figure = go.Figure(
        go.Scatter(
            x=100 * shown["difference"],
            y=list(range(len(shown))),
            mode="markers",
            marker={"color": [FOCUS if step == "this group" else INK for step in shown["step"]], "size": 9},
            error_x=whiskers(
                (100 * shown["difference"]).tolist(),
                zip(100 * shown["low"], 100 * shown["high"], strict=True),
            ),
            customdata=[
                f"{describe(names(words), longest=120)}<br>{people(n)}"
                for words, n in zip(shown["rule_set"], shown["n_in"], strict=True)
            ],
            meta=[people_id({"run": "", "rules": words}) for words in shown["rule_set"]],
            hovertemplate="%{customdata}<br>%{x:.1f} points<extra></extra>",
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
    figure = go.Figure(
        go.Bar(
            x=shown["distance"],
            y=list(range(len(shown))),
            orientation="h",
            marker={"color": CONTEXT},
            customdata=[
                f"{number(a)} inside, {number(b)} outside"
                for a, b in zip(shown["inside"], shown["outside"], strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    height = label_rows(
        figure, [f"{name}: {what}" for name, what in zip(shown["column"], shown["figure"], strict=True)]
    )
    figure.update_xaxes(title="inside minus outside<br>(standard deviations, or difference of shares)")
    first = table.iloc[0]
    values = f"{number(first['inside'])} against {number(first['outside'])}"
    alt = f"Columns by how far people inside lie from those outside; first {first['column']} ({values})."
    return finish(figure, height=height, alt=alt)
