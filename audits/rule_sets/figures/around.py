"""Figures of groups by a measure of error, of what a finding is made of, and of the groups around it."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import plotly.graph_objects as go

from audits.drawing.marks import reaching, segments
from audits.drawing.style import CONTEXT, FOCUS, GRAY, INK, describe, empty, finish
from audits.rule_sets.figures.rows import bars, dots, label_rows, of_number, of_rule
from audits.rule_sets.result import MeasureResult
from audits.stats import EVIDENCE
from audits.stats.text import count, number, people, percent, several

Names = Callable[[str], str]
"""What a rule set is called, by its words: `audits.rule_sets.text.GroupNames`."""


def by_measure(result: MeasureResult, names: Names = str, *, most: int = 10) -> go.Figure:
    """Draw the findings of a measure as dots with intervals corrected for all; gray: no evidence."""
    shown = list(result.leaderboard)[:most][::-1]
    if not shown:
        return empty(result.finding)
    scale = 100.0 if result.share else 1.0
    x = [scale * float(row.difference.value or 0.0) for row in shown]
    figure = go.Figure(
        dots(
            x,
            [INK if row.verdict == EVIDENCE else CONTEXT for row in shown],
            [f"{describe(names(row.rule_set), longest=120)}<br>{_sides(result, row)}" for row in shown],
            [of_number(row.number) for row in shown],
            error_x=reaching([row.difference for row in shown], scale),
        )
    )
    height = label_rows(
        figure,
        [names(row.rule_set) for row in shown],
        [f"{count(row.n_in)} in, {count(row.n_out)} out" for row in shown],
    )
    unit = " (percentage points)" if result.share else ""
    figure.update_xaxes(
        title=f"{describe(result.name.lower(), longest=40)}: inside minus outside{unit}"
        "<br>gray: may be chance",
        zeroline=True,
    )
    first = shown[-1]
    alt = (
        f"{result.name} of {several(len(shown), 'group')} beside everyone else's; first "
        f"{names(first.rule_set)}: {_sides(result, first)}."
    )
    return finish(figure, height=height, alt=alt)


def _sides(result: MeasureResult, row: object) -> str:
    inside, outside = row.inside, row.outside  # type: ignore[attr-defined]
    words = [
        percent(each.value, each.n) if result.share else number(each.value) for each in (inside, outside)
    ]
    return f"{words[0]} inside, {words[1]} outside"


def conditions(table: pd.DataFrame, names: Names = str, *, scale: float = 100.0) -> go.Figure:
    """Draw what each condition of a group adds to its difference."""
    if table.empty:
        return empty("The group has too many conditions to tell their parts.")
    shown = table.iloc[::-1]
    x = scale * shown["contribution"]
    told = [number(value) for value in x]
    people = list(map(of_rule, shown["condition"]))
    figure = go.Figure(bars(x, marker={"color": CONTEXT}, meta=people, customdata=told))
    height = label_rows(figure, list(map(names, shown["condition"])), told)
    unit = " (percentage points)" if scale == 100 else ""
    figure.update_xaxes(title=f"part of the difference from everyone else{unit}", zeroline=True)
    parts = "; ".join(
        f"{names(name)} {number(scale * value)}"
        for name, value in zip(table["condition"], table["contribution"], strict=True)
    )
    return finish(figure, height=height, alt=f"What each condition adds to the difference: {parts}.")


_LOOK = {"broader": CONTEXT, "this group": FOCUS, "narrower": INK}


def lattice(table: pd.DataFrame, names: Names = str, *, scale: float = 100.0) -> go.Figure:
    """Draw the groups around a group, broad ones on top; a line adds one condition."""
    shown = table.iloc[::-1].reset_index(drop=True)
    last = len(shown) - 1
    x = (scale * shown["difference"]).tolist()
    steps = [
        ((x[place], place), (x[last - other], last - other))
        for place, wider in enumerate(shown["broader"])
        for other in wider
    ]
    figure = go.Figure(segments(steps, GRAY, 1))
    labels, sizes = list(map(names, shown["rule_set"])), [number(value) for value in x]
    for step, color in _LOOK.items():
        part = [place for place, own in enumerate(shown["step"]) if own == step]
        if part:
            told = [
                f"{describe(labels[place], longest=120)}<br>{people(shown['n_in'][place])}<br>{sizes[place]}"
                for place in part
            ]
            whom = [of_rule(shown["rule_set"][place]) for place in part]
            figure.add_trace(dots([x[place] for place in part], color, told, whom, y=part, name=step))
    height = label_rows(figure, labels, [count(n) for n in shown["n_in"]])
    unit, points = (" (points)", " points") if scale == 100 else ("", "")
    figure.update_xaxes(title=f"difference from everyone else{unit}", zeroline=True)
    this = table[table["step"] == "this group"].iloc[0]
    alt = (
        f"{names(this['rule_set'])}, {number(scale * this['difference'])}{points} from "
        f"the others, beside {several((table['step'] == 'broader').sum(), 'broader group')} and "
        f"{several((table['step'] == 'narrower').sum(), 'narrower group')}."
    )
    return finish(figure, height=height, alt=alt)
