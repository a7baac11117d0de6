"""Figures of groups: what the verdict rests on, how far each has to go, and what one action does."""

from __future__ import annotations

import textwrap

import plotly.graph_objects as go

from audits.drawing.differences import differences
from audits.drawing.marks import dot, named, reaching
from audits.drawing.selected import of_run, people_id
from audits.drawing.style import (
    ACCENT,
    GREY,
    INK,
    annotate,
    describe,
    distinct,
    empty,
    finish,
    rows_named,
)
from audits.recourse.result import RecourseResult
from audits.stats import Judged
from audits.stats.words import count, number, percent, percent_interval

__all__ = ["apart", "burden", "further", "group_actions", "ways"]

_ABOVE = 44  # letters of a group above its row, on a phone too


def burden(result: RecourseResult) -> go.Figure:
    """Draw how far each group's people have to go to be accepted, with intervals."""
    rows = sorted(
        (row for row in result.by_group if row.burden.value is not None),
        key=lambda row: row.burden.value or 0.0,
    )
    if not rows:
        return empty("Nobody is accepted on the way to the counterpart.")
    values = [row.burden.value or 0.0 for row in rows]
    told = distinct([row.group for row in rows], longest=_ABOVE)
    names = [f"{name} ({count(row.n)})" for name, row in zip(told, rows, strict=True)]
    figure = go.Figure(
        go.Scatter(
            x=values,
            y=list(range(len(rows))),
            mode="markers",
            cliponaxis=False,
            marker={
                "size": 10,
                "color": INK,
                "symbol": ["circle" if row.burden.low is not None else "circle-open" for row in rows],
                "line": {"color": INK, "width": 1.5},
            },
            error_x=reaching([row.burden for row in rows], thickness=None),
            customdata=[
                [percent(row.never.value, row.n), name] for row, name in zip(rows, names, strict=True)
            ],
            meta=[people_id(of_run("group", within=[row.group])) for row in rows],
            hovertemplate="%{customdata[1]}: %{x:.3g}; %{customdata[0]} are never accepted<extra></extra>",
            showlegend=False,
        )
    )
    if any(row.burden.low is None for row in rows):
        named(figure, [("too few people for an interval", dot(INK, "circle-open"))])
    figure.update_xaxes(title="mean burden", rangemode="tozero")
    each = rows_named(figure, names)
    alt = (
        f"Mean cost of the smallest change that is accepted, by group; largest for {rows[-1].group}, "
        f"{number(rows[-1].burden.value)}."
    )
    return finish(figure, height=130 + each * len(rows), alt=alt)


def apart(result: RecourseResult) -> go.Figure:
    """Draw each group's share accepted at the last step, minus that of the others, with what matters."""
    title = "accepted at the last step,<br>minus the others (points)"
    return _compared(result, {row.group: row.accepted_judged for row in result.by_group}, title, 100.0)


def further(result: RecourseResult) -> go.Figure:
    """Draw each group's mean burden, minus that of the others, with what matters."""
    title = "mean burden,<br>minus the others"
    return _compared(result, {row.group: row.burden_judged for row in result.by_group}, title)


def _compared(
    result: RecourseResult, groups: dict[str, Judged | None], title: str, unit: float = 1.0
) -> go.Figure:
    told = {name: one for name, one in groups.items() if one is not None}
    rows = [(name, one.interval, people_id(of_run("group", within=[name]))) for name, one in told.items()]
    limit = next(((one.immaterial_low, one.immaterial_high) for one in told.values()), None)
    return differences(result.judged, rows, title=title, unit=unit, limit=limit)


def ways(result: RecourseResult) -> go.Figure:
    """Draw each way by its cost and by the share of models trained again, or of noisy tries, that accept."""
    table = result.ways
    if table is None or table.empty:
        return empty("No way was found for anybody looked at.")
    by = next((name for name in ("survives", "noisy") if name in table), None)
    if by is None:
        return empty("How well ways hold was not tried.")
    cheapest = table["way"] == 1
    figure = go.Figure()
    for chosen, name, colour in ((cheapest, "cheapest way", ACCENT), (~cheapest, "other ways", GREY)):
        figure.add_trace(
            go.Scatter(
                x=table["cost"][chosen],
                y=100 * table[by][chosen],
                mode="markers",
                name=name,
                marker={"color": colour, "size": 8, "line": {"color": INK, "width": 0.5}},
                customdata=[
                    f"row {row}: {describe(change, longest=120)}"
                    for row, change in zip(table.index[chosen], table["change"][chosen], strict=True)
                ],
                meta=[people_id({"run": "", "row": row}) for row in table.index[chosen]],
                hovertemplate="%{customdata}<br>cost %{x:.3g}, accepted by %{y:.0f} %<extra></extra>",
            )
        )
    what = "models trained again" if by == "survives" else "noisy tries"
    figure.update_xaxes(title="cost (standard deviations and category changes)", rangemode="tozero")
    figure.update_yaxes(title=f"accepted by (% of {what})", range=[-4, 104])
    mean = 100 * float(table[by][cheapest].mean())
    alt = (
        f"{len(table)} ways of {int(cheapest.sum())} people; {mean:.0f} % of {what} accept the cheapest ones."
    )
    return finish(figure, height=360, alt=alt)


def group_actions(result: RecourseResult) -> go.Figure:
    """Draw the share of each group whom one action gets accepted, with the action above its dot."""
    rows = list(result.group_actions)[::-1]
    if not rows:
        return empty("No way was found that could become an action.")
    shares = [100 * (row.coverage.value or 0.0) for row in rows]
    figure = go.Figure(
        go.Scatter(
            x=shares,
            y=list(range(len(rows))),
            mode="markers",
            marker={"color": ACCENT, "size": 10},
            error_x=reaching([row.coverage for row in rows], 100.0, thickness=None),
            customdata=[describe(row.action, longest=160) for row in rows],
            meta=[people_id(of_run("group", within=[row.group])) for row in rows],
            hovertemplate="%{customdata}<br>%{x:.0f} % accepted<extra></extra>",
        )
    )
    left = {"x": 0, "xref": "paper", "xanchor": "left", "yanchor": "bottom", "align": "left"}
    texts = [f"{row.group} ({count(row.n)}): {row.action}" for row in rows]
    wrapped = [textwrap.wrap(text, 48, max_lines=3, placeholder=" …") for text in texts]
    told_above = ["<br>".join(describe(line, longest=56) for line in lines) for lines in wrapped]
    annotate(
        figure,
        [
            {**left, "showarrow": False, "y": place + 0.12, "text": text}
            for place, text in enumerate(told_above)
        ],
    )
    figure.update_xaxes(title="accepted after the action (%)", range=[-2, 102])
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False, range=[-0.3, len(rows)])
    told = "; ".join(f"{row.group}: {row.action}, {percent_interval(row.coverage)}" for row in rows[::-1])
    return finish(figure, height=110 + 92 * len(rows), alt=f"One action for each group. {told}.")
