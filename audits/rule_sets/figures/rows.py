"""Figures of a rule-set audit that have one labelled row a group, a column or a method."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

import pandas as pd
import plotly.graph_objects as go

from audits.drawing.marks import reaching, whiskers
from audits.drawing.selected import people_id
from audits.drawing.style import CLEAR, CONTEXT, FOCUS, INK, annotate, describe, empty, finish
from audits.rule_sets import RuleSetsResult
from audits.rule_sets.judging.comparisons import Comparison
from audits.rule_sets.text import group_of
from audits.stats.words import count, number, people

__all__ = ["comparisons", "label_rows", "neighbours", "profile"]

_LINE = 56  # letters of a label that fit a narrow page
BAR = 18  # pixels


def label_rows(figure: go.Figure, labels: Sequence[str], sizes: Sequence[str] = (), most: int = 2) -> int:
    """Write each row's label, in `most` lines, and size above its mark, where a narrow page has room.

    Returns the height.
    """
    lines = [textwrap.wrap(label, _LINE, max_lines=most, placeholder=" …") or [""] for label in labels]
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


def _compared(item: Comparison) -> str:
    """Name what another method found; the formula of a linear threshold is told where it is pointed at."""
    linear = item.against == "everyone else"
    return item.method if linear else f"{item.method}: {item.group}, against {item.against}"


def comparisons(result: RuleSetsResult) -> go.Figure:
    """Draw the first finding beside what other methods find in the same decisions, on one axis."""
    rows = [
        (
            f"rule sets: {group_of(row.rules)}",
            f"{count(row.n_in)} against {count(row.n_out)}",
            abs(row.score.value or 0.0),
            row.score,
        )
        for row in result.leaderboard[:1]
    ] + [
        (
            _compared(item),
            f"{count(item.n_group)} against {count(item.n_against)}",
            item.score.value or 0.0,
            item.score,
        )
        for item in result.comparisons
    ]
    if not rows:
        return empty("There is nothing to compare.")
    shown = rows[::-1]
    scores = [100 * value for _, _, value, _ in shown]
    figure = go.Figure(
        go.Scatter(
            x=scores,
            y=list(range(len(shown))),
            mode="markers",
            marker={"color": INK, "size": 9},
            error_x=reaching([each for *_, each in shown], 100.0),
            customdata=[describe(each.method, longest=120) for *_, each in shown],
            meta=[""] * len(result.comparisons)  # other methods' groups need not be rule sets
            + [people_id({"run": "", "rule": row.number}) for row in result.leaderboard[:1]],
            hovertemplate="%{x:.1f} points<br>%{customdata}<extra></extra>",
        )
    )
    height = label_rows(figure, [words for words, *_ in shown], [sizes for _, sizes, *_ in shown], most=4)
    figure.update_xaxes(title="difference of favorable shares (percentage points)", zeroline=True)
    said = "; ".join(f"{words}, {number(100 * value)} points" for words, _, value, _ in rows)
    return finish(figure, height=height, alt=f"What each method finds: {said}.")
