"""Figures of groups: what the verdict rests on, how far each has to go, and what one action does."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from audits.drawing.differences import differences
from audits.drawing.intervals import MAX_ROWS, IntervalRow, interval_rows
from audits.drawing.selected import of_run, people_id
from audits.drawing.style import CONTEXT, GRAY, INK, describe, distinct, empty, finish, rows_named
from audits.drawing.verdict_strip import with_strip
from audits.recourse.result import RecourseResult
from audits.recourse.text import judged_row, yes_word
from audits.stats.text import count, number, people, people_in, percent, percent_interval
from audits.stats.vocabulary import vocabulary

_ROOM = 0.08  # share of a bar that has room for a number
PALE = "#EEF0F2"
_MORE = "3+"
_PART = "part way"  # where a step before the last helps, and no set of columns
_NOT = "no part"


def changes_needed(result: RecourseResult) -> go.Figure:
    """Draw how much of the match it takes, a row a group, or that none is enough; the verdict above."""
    people = result.people
    helped = _has_a_way(people)
    fewest = people["fewest"].fillna(0)
    part = helped & (fewest == 0)
    kinds = {"1": fewest == 1, "2": fewest == 2, _MORE: fewest > 2}
    if part.any():
        kinds[_PART] = part
    if not sets_sought(result):
        kinds = {"part or all of the way": helped}
    kinds[_NOT] = ~helped
    focus = judged_row(result)
    rows = sorted(result.by_group, key=lambda row: (row.never.value or 0.0, row.n))
    if len(rows) > MAX_ROWS:
        kept = rows[-MAX_ROWS:]
        rows = kept if focus is None or focus in kept else [focus, *kept[1:]]
    figure = go.Figure()
    colors = dict(zip([*kinds][:-1], (INK, CONTEXT, PALE, "white"), strict=False))
    edges = {_MORE: CONTEXT, _PART: CONTEXT, _NOT: INK}  # what is as pale as the page has one
    for name, inside in kinds.items():
        shares = [_share(people, inside, row.group) for row in rows]
        color = colors.get(name, "white")
        figure.add_bar(
            x=[100 * share for share in shares],
            y=list(range(len(rows))),
            orientation="h",
            name=name,
            marker={"color": color, "line": {"color": edges.get(name, color), "width": 1}},
            text=[f"{100 * share:.0f}%" if share >= _ROOM else "" for share in shares],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            constraintext="none",
            textfont={"color": "white" if color == INK else INK},
            meta=[people_id(*_who(name, row.group)) for row in rows],
            hovertemplate="%{x:.0f}% " + name + "<extra></extra>",
        )
    figure.update_layout(barmode="stack", legend_traceorder="normal")
    ticks = [0, 25, 50, 75, 100]
    texts = ["0", *(f"{share}%" for share in ticks[1:])]  # 0% would reach over the edge, and be hidden
    figure.update_xaxes(range=[0, 104], tickvals=ticks, ticktext=texts)
    names = distinct([people_in(row.group) for row in rows], longest=40)
    named = [f"{name} ({count(row.n)})" for name, row in zip(names, rows, strict=True)]
    each = rows_named(figure, named, beside=0, wide=False)
    figure.update_traces(width=0.36, offset=-0.38)
    told = "; ".join(
        f"{people_in(row.group)}: {percent(_share(people, ~helped, row.group), row.n)} by {_NOT}"
        for row in rows
    )
    done = finish(figure, height=70 + (each + 8) * len(rows), alt=f"What it would take, by group. {told}.")
    done.update_yaxes(range=[-0.6, len(rows) - 0.15])
    by_share = focus is not None and focus.accepted_judged == result.judged
    what = vocabulary().rate_yes if by_share else "burden"
    label = f"{people_in(focus.group)}, {what} minus the others" if focus else "groups compared"
    return with_strip(done, result.judged, label, unit=100.0 if by_share else 1.0)


def sets_sought(result: RecourseResult) -> bool:
    """Whether sets of columns were tried, and one helps somebody."""
    return bool(result.options.get("fewest")) and bool(result.people["fewest"].notna().any())


def never_helped(result: RecourseResult) -> float:
    """Return the share of rejected people whom neither a step of the way nor any set of columns helps."""
    people = result.people
    return float(people["people"][~_has_a_way(people)].sum() / people["people"].sum())


def _has_a_way(people: pd.DataFrame) -> pd.Series:
    return people["alpha"].notna() | people["fewest"].notna()


def _share(people: pd.DataFrame, inside: pd.Series, group: str) -> float:
    here = people["group"] == group
    return float(people["people"][here & inside].sum() / people["people"][here].sum())


def _group(name: str) -> dict[str, Any]:
    return of_run("group", within=[name])


def _who(kind: str, group: str) -> list[dict[str, Any]]:
    """Return the terms of those of a group who need so many changes."""
    among = _group(group)
    number_of = {"1": 1, "2": 2}.get(kind)
    if number_of is not None:
        return [among, of_run("fewest", within=[number_of])]
    if kind == _MORE:
        return [among, of_run("fewest", at_least=3)]
    if kind == _NOT:
        return [among, of_run("alpha", missing=True), of_run("fewest", missing=True)]
    helped = [among, of_run("alpha", at_least=0)]
    return [*helped, of_run("fewest", missing=True)] if kind == _PART else helped


def burden(result: RecourseResult) -> go.Figure:
    """Draw how far each group's people have to go to be accepted, with intervals."""
    rows = sorted(result.by_group, key=lambda row: -(row.burden.value or 0.0))
    focus = judged_row(result)
    return interval_rows(
        [
            IntervalRow(
                people_in(row.group),
                row.burden,
                people_id(_group(row.group)),
                None,
                row == focus,
            )
            for row in rows
        ],
        title="mean burden (standard deviations and category changes)",
        alt=f"Mean cost of the smallest change that is {yes_word()}, by group; largest for "
        f"{rows[0].group}, {number(rows[0].burden.value)}.",
        nothing=f"Nobody is {yes_word()} on the way to the match.",
    )


def apart(result: RecourseResult) -> go.Figure:
    """Draw each group's share accepted at the last step, minus that of the others, with what matters."""
    title = f"{vocabulary().share_yes} at the last step, minus the others (points)"
    return _minus_others(result, "accepted_judged", title, 100.0)


def further(result: RecourseResult) -> go.Figure:
    """Draw each group's mean burden, minus that of the others, with what matters."""
    return _minus_others(result, "burden_judged", "mean burden, minus the others")


def _minus_others(result: RecourseResult, field: str, title: str, unit: float = 1.0) -> go.Figure:
    judged = [(row.group, getattr(row, field)) for row in result.by_group if getattr(row, field) is not None]
    rows = [(people_in(name), one.interval, people_id(_group(name))) for name, one in judged]
    stated = sorted((one for _, one in judged), key=lambda one: one != result.judged)  # its limit first
    limit = next(((one.immaterial_low, one.immaterial_high) for one in stated), None)
    return differences(result.judged, rows, title=title, unit=unit, limit=limit)


def ways(result: RecourseResult) -> go.Figure:
    """Draw each way by its cost and by the share of models trained again, or of noisy tries, that accept."""
    table = result.ways
    if table is None or table.empty:
        return empty("No way was found for anyone examined.")
    by = next((name for name in ("survives", "noisy") if name in table), None)
    if by is None:
        return empty("The robustness of ways was not tested.")
    cheapest = table["way"] == 1
    figure = go.Figure()
    for chosen, name, color in ((cheapest, "cheapest way", INK), (~cheapest, "other ways", GRAY)):
        figure.add_scatter(
            x=table["cost"][chosen],
            y=100 * table[by][chosen],
            mode="markers",
            name=name,
            marker={"color": color, "size": 8, "line": {"color": INK, "width": 0.5}},
            customdata=[
                f"row {row}: {describe(change, longest=120)}"
                for row, change in zip(table.index[chosen], table["change"][chosen], strict=True)
            ],
            meta=[people_id({"run": "", "row": row}) for row in table.index[chosen]],
            hovertemplate="%{customdata}<br>cost %{x:.3g}, " + yes_word() + " by %{y:.0f}%<extra></extra>",
        )
    what = "retrained models" if by == "survives" else "noisy tries"
    figure.update_xaxes(title="cost (standard deviations and category changes)", rangemode="tozero")
    figure.update_yaxes(title=f"{yes_word()} by (% of {what})", range=[-4, 104])
    mean = 100 * float(table[by][cheapest].mean())
    alt = f"{len(table)} ways of {people(cheapest.sum())}; {mean:.0f}% of {what} accept the cheapest ones."
    return finish(figure, height=360, alt=alt)


def group_actions(result: RecourseResult) -> go.Figure:
    """Draw the share of each group whom one action gets accepted, with the action beside its name."""
    rows = sorted(result.group_actions, key=lambda row: -(row.coverage.value or 0.0))
    told = "; ".join(f"{row.group}: {row.action}, {percent_interval(row.coverage)}" for row in rows)
    return interval_rows(
        [
            IntervalRow(
                f"{people_in(row.group)}: {row.action}",
                row.coverage,
                people_id(_group(row.group)),
            )
            for row in rows
        ],
        title=f"{vocabulary().share_yes} after the action (%)",
        alt=f"One action for each group. {told}.",
        unit=100.0,
        ends=(-2, 102),
        nothing="No way was found that could become an action.",
    )
