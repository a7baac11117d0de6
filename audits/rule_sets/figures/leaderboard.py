"""Figures of a rule-set audit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import wrap

import pandas as pd
import plotly.graph_objects as go

from audits.drawing.marks import add_legend, box, dashes, decisive, dot, reaching
from audits.drawing.selected import people_id
from audits.drawing.style import CONTEXT, FOCUS, GRAY, INK, describe, distinct, empty, finish
from audits.rule_sets.figures.rows import bars, dots, label_rows, of_number, of_rule
from audits.rule_sets.result import LeaderRow, RuleSetsResult
from audits.stats import EVIDENCE
from audits.stats.text import count, estimate_text, in_words, number, p_words, people, percent, several
from audits.stats.vocabulary import vocabulary
from audits.subgroups.phrases import group_of

_WORDS = {"harmed": "favorable less often", "advantaged": "favorable more often"}
_PALE = "#E4E7EA"
_MAX_POINTS = 2000
_ROOM = 100  # letters of two lines above a row
_REACH = 30.0  # points to either side, unless an interval is longer
_CLEAR = 0.16  # of an axis: what a number written along it takes on a narrow screen


def leaderboard(
    result: RuleSetsResult, rows: Sequence[LeaderRow] | None = None, *, most: int = 12
) -> go.Figure:
    """Draw findings as signed bars, those that may be chance pale, and first the interval that decides.

    Parameters
    ----------
    most : int
        Rows; the one that decides is always among them.
    """
    every = list(result.leaderboard if rows is None else rows)
    if not every:
        return empty("No rule set fits these choices.")
    about = [row for row in every if row.rule_set == result.about]
    shown = every[:most] if not about or about[0] in every[:most] else [*every[: most - 1], *about]
    shown = shown[::-1]
    figure = go.Figure()
    if about:
        figure.add_trace(decisive(result.judged, shown.index(about[0]), 100.0))
    sure = [row.verdict == EVIDENCE for row in shown]
    figure.add_trace(
        bars(
            [100 * (row.difference.value or 0.0) for row in shown],
            showlegend=False,
            marker={"color": [CONTEXT if each else _PALE for each in sure]},
            error_x=reaching([row.difference for row in shown], 100.0, width=0, thickness=1),
            customdata=[_hover(row) for row in shown],
            meta=[of_number(row.number) for row in shown],
        )
    )
    looks = [("more than chance", CONTEXT, True), ("may be chance", _PALE, False)]
    decides = [("decides", dashes(FOCUS, "solid", 4))] if about else []
    add_legend(figure, [*decides, *((words, box(color)) for words, color, each in looks if each in sure)])
    height = label_rows(
        figure,
        [_label(row) for row in shown],
        [_rates(row) for row in shown],
        marks=["✓ " if row.confirmed else "" for row in shown],
    )
    reach = max(_REACH, *(1.05 * abs(100 * (end or 0)) for row in shown for end in _ends(row)))
    figure.update_xaxes(
        title=f"← {vocabulary().share_yes} less often · points · more often →",
        range=[-reach, reach],
        zeroline=True,
    )
    first = shown[-1]
    alt = (
        f"Leaderboard of {several(len(shown), 'group')}; first {group_of(first.rules)}, "
        f"{_WORDS[first.direction]} by {estimate_text(first.score, 100, ' points')}, {people(first.n_in)}, "
        f"{first.verdict}, {'confirmed' if first.confirmed else 'not confirmed'}."
    )
    return finish(figure, height=height, alt=alt)


def _ends(row: LeaderRow) -> tuple[float | None, float | None]:
    return row.difference.low, row.difference.high


def _label(row: LeaderRow) -> str:
    """Name a group so that each of its conditions is seen: where two lines are short of room, each is cut."""
    whole = group_of(row.rules)
    return whole if len(whole) <= _ROOM else group_of(row.rules, longest=_ROOM // len(row.rules) - 10)


def _rates(row: LeaderRow) -> str:
    gap = f"{100 * (row.difference.value or 0.0):+.0f} points".replace("-", "−")
    inside, outside = row.favorable_in.value or 0.0, row.favorable_out.value or 0.0
    rates = percent(inside, row.n_in, row.n_out), percent(outside, row.n_out, row.n_in)
    return f"{rates[0]} of {count(row.n_in)} against {rates[1]}: {gap}"


def _hover(row: LeaderRow) -> str:
    lines = [
        describe(group_of(row.rules), longest=160),
        f"inside {percent(row.favorable_in.value, row.n_in)} of {count(row.n_in)}, "
        f"outside {percent(row.favorable_out.value, row.n_out)} of {count(row.n_out)}",
        f"{_WORDS[row.direction]} by {estimate_text(row.score, 100, ' points')}"
        f"{'' if row.verdict == EVIDENCE else f', {row.verdict}'}",
        f"p {p_words(row.adjusted_p)} corrected; margin {number(100 * row.margin)} points",
    ]
    if row.sampled is not None:
        lines.append(f"on perturbed people {number(100 * (row.sampled.score.value or 0.0))} points")
    return "<br>".join(lines)


def exchanged_terms(result: RuleSetsResult, *, most: int = 20) -> go.Figure:
    """Draw rule sets of texts on texts with their terms exchanged in, with intervals corrected for all."""
    found = result.exchanged
    if found is None or not found.rows:
        return empty("No terms were exchanged.")
    shown = found.rows[:most][::-1]
    values = [100 * (row.difference.value or 0.0) for row in shown]
    figure = go.Figure(
        dots(
            values,
            [INK if row.verdict == EVIDENCE else CONTEXT for row in shown],
            [[row.texts, count(row.held), p_words(row.adjusted_p)] for row in shown],
            [of_rule(row.rule_set) for row in shown],
            y=distinct([row.rule_set for row in shown]),
            error_x=reaching([row.difference for row in shown], 100.0),
            hovertemplate="%{y}: %{x:.1f} points<br>%{customdata[0]:,} texts, %{customdata[1]} hold them"
            "<br>p %{customdata[2]}<extra></extra>",
            showlegend=False,
        )
    )
    figure.add_vline(0.0, line={"color": INK, "width": 1})
    evident = {row.verdict == EVIDENCE for row in shown}
    add_legend(figure, [("evidence of a difference", dot(INK))] if True in evident else [])
    add_legend(figure, [("not", dot(CONTEXT))] if False in evident else [])
    figure.update_xaxes(title="favorable with these terms minus with others<br>in the same texts (points)")
    alt = (
        f"Rule sets on texts with their terms exchanged in: {found.evident:,} of {found.tested:,} differ; "
        f"first {shown[-1].rule_set}, {number(values[-1])} points."
    )
    return finish(figure, height=120 + 26 * len(shown), alt=alt)


def support_and_score(result: RuleSetsResult) -> go.Figure:
    """Draw every rule set by the share of people in it and its signed difference; findings stand out."""
    table = result.rule_sets
    drawn = table if len(table) <= _MAX_POINTS else table.iloc[:: -(-len(table) // _MAX_POINTS)]
    some = "" if len(drawn) == len(table) else f"{len(drawn):,} of "
    figure = go.Figure()
    figure.add_scatter(
        x=100 * drawn["support"],
        y=100 * drawn["difference"],
        mode="markers",
        marker={"color": GRAY, "size": 4},
        name=f"{some}{len(table):,} rule sets",
        hoverinfo="skip",
    )
    shown = result.leaderboard
    figure.add_trace(
        dots(
            [100 * row.support for row in shown],
            [
                FOCUS if row.rule_set == result.about else INK if row.verdict == EVIDENCE else CONTEXT
                for row in shown
            ],
            [_hover(row) for row in shown],
            [of_number(row.number) for row in shown],
            y=[100 * (row.difference.value or 0.0) for row in shown],
            name="findings",
            showlegend=False,
        )
    )
    marks = {row.verdict == EVIDENCE for row in shown if row.rule_set != result.about}
    looks = [("more than chance", INK, True), ("may be chance", CONTEXT, False)]
    add_legend(figure, [(words, dot(color)) for words, color, sure in looks if sure in marks])
    if any(row.rule_set == result.about for row in shown):
        add_legend(figure, [("the group named above", dot(FOCUS))])
    figure.update_xaxes(title=f"share of {vocabulary().people} in the group (%)", rangemode="tozero")
    figure.update_yaxes(title="difference from the others (points)", zeroline=True)
    alt = (
        f"{len(table):,} rule sets by share of people and difference of favorable shares; "
        f"the largest difference is {number(100 * result.top_score)} points."
    )
    return finish(figure, height=310, alt=alt)


def _paths(tree: pd.DataFrame) -> list[dict[str, str]]:
    """Return the levels of each segment of a sunburst, from the innermost ring outwards."""
    found: dict[str, dict[str, str]] = {"": {}}
    for place, parent, attribute, level in zip(
        tree["id"], tree["parent"], tree["attribute"], tree["level"], strict=True
    ):
        found[place] = {**found[parent], attribute: str(level)}
    return [found[place] for place in tree["id"]]


def sunburst(tree: pd.DataFrame) -> go.Figure:
    """Draw combinations of attributes as rings: width is people, color the difference from everyone else."""
    reach = float(max(tree["difference"].abs().max(), 0.01)) * 100
    rings = list(dict.fromkeys(tree["attribute"]))
    figure = go.Figure(
        go.Sunburst(
            ids=tree["id"],
            parents=tree["parent"],
            labels=["<br>".join(wrap(describe(level, longest=28), 14)) for level in tree["level"]],
            values=tree["people"],
            branchvalues="total",
            marker={
                "colors": 100 * tree["difference"],
                "colorscale": [[0, FOCUS], [0.5, "#EEF0F2"], [1, INK]],
                "cmin": -reach,
                "cmax": reach,
                "colorbar": {"title": "points", "thickness": 12},
            },
            customdata=list(zip(100 * tree["favorable"], map(describe, tree["level"]), strict=True)),
            meta=[people_id({"run": "", "levels": levels}) for levels in _paths(tree)],
            hovertemplate="%{customdata[1]}<br>%{value:,.0f} people<br>%{customdata[0]:.1f}% favorable"
            "<extra></extra>",
        )
    )
    worst = tree.iloc[int(tree["difference"].abs().to_numpy().argmax())]
    place = f"{worst['attribute']} {worst['level']}"
    alt = (
        f"People by {', then '.join(rings)}; color is the difference of favorable shares from everyone "
        "else, largest "
        f"for {in_words(place)} ({number(100 * worst['difference'])} points)."
    )
    # a letter smaller than these is not read: the segment's name is told where it is pointed at
    return finish(figure, height=380, alt=alt).update_layout(uniformtext={"minsize": 10, "mode": "hide"})


def sweep(result: RuleSetsResult) -> go.Figure:
    """Draw the largest score and the number of rule sets against the support threshold (Table 6)."""
    shown = [row for row in result.sweep if row.score is not None]
    if not shown:
        return empty("No rule set reaches any of the thresholds.")
    figure = go.Figure(
        go.Scatter(
            x=[100 * row.support for row in shown],
            y=[100 * (row.score or 0.0) for row in shown],
            mode="lines+markers+text",
            text=_apart([100 * row.support for row in shown], [f"{row.n_frequent:,}" for row in shown]),
            textposition="top center",
            cliponaxis=False,
            line={"color": INK},
            customdata=[describe(row.rule_set or "", longest=120) for row in shown],
            meta=[of_rule(row.rule_set) if row.rule_set else "" for row in shown],
            hovertemplate="%{customdata}<br>%{y:.1f} points at support %{x}%<extra></extra>",
        )
    )
    ends = [0.0, 1.08 * max(100 * row.support for row in shown)]
    figure.update_xaxes(title="support threshold (%); labels: rule sets that reach it", range=ends)
    largest = max(100 * (row.score or 0.0) for row in shown)
    figure.update_yaxes(title="largest score (points)", range=[0, 1.2 * max(largest, 1.0)])
    alt = "Largest score against the support threshold: " + ", ".join(
        f"{100 * row.support:g}% gives {number(100 * (row.score or 0.0))} points" for row in shown
    )
    return finish(figure, height=300, alt=alt + ".")


def _apart(places: list[float], texts: list[str]) -> list[str]:
    """Return texts at places along an axis, those left out that would lie over the one before them."""
    kept, last = [], -math.inf
    for place, text in zip(places, texts, strict=True):
        clear = place - last >= _CLEAR * max(places)
        kept.append(text if clear else "")
        last = place if clear else last
    return kept
