"""Figures of a barycenter audit: gaps and flips by group, distances, and who flips."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from audits.barycenter.result import AgainstEverybody, BarycenterResult, GroupFlips
from audits.barycenter.text import interval_words, way_words
from audits.drawing.differences import differences
from audits.drawing.selected import of_run, people_id
from audits.drawing.style import CONTEXT, FOCUS, GRAY, INK, describe, distinct, empty, finish, rows_named
from audits.flipset.figures.flipsets import bar_grid, report_rows
from audits.stats import AVERAGE, Estimate
from audits.stats.text import count, people_in, so_many

MAX_ROWS = 12
"""Groups that a figure shows."""


def _groups_to_show(result: BarycenterResult) -> list[GroupFlips]:
    """Return the largest groups, the smallest first; that of the verdict is always among them."""
    worst = result.group(result.rests_on)
    groups = list(result.groups[:MAX_ROWS])
    if worst not in groups:
        groups[-1] = worst
    return groups[::-1]


def _names(groups: Sequence[GroupFlips]) -> list[str]:
    return distinct([people_in(each.group) for each in groups], longest=44)


def _person(group: GroupFlips) -> str:
    """Return whom a group's mark stands for."""
    return people_id(of_run("group", within=[group.group]))


def gaps(result: BarycenterResult) -> go.Figure:
    """Draw every group's gap from all the others, and the interval that decides."""
    groups = sorted(result.groups, key=lambda each: -abs(each.net.value or 0.0))
    worst = result.group(result.rests_on)
    kept = [each for each in groups if each is worst] + [each for each in groups if each is not worst]
    rows: list[tuple[str, Estimate, str]] = [
        (people_in(each.group), each.net, _person(each)) for each in kept[:MAX_ROWS]
    ]
    if result.judged.decided_by != AVERAGE:
        told = result.judged.decided_by.removeprefix("level: ")
        rows.insert(0, (f"{people_in(worst.group)}: {told}", result.judged.interval, _person(worst)))
    figure = differences(result.judged, rows, title="points from all others", unit=100.0, ordered=False)
    figure.layout.meta = {
        **figure.layout.meta,
        "alt": f"{interval_words(result.judged, worst)}. {figure.layout.meta['alt']}",
    }
    return figure


def flips(result: BarycenterResult) -> go.Figure:
    """Draw both ways of flipping by group: right favored only as oneself, left only as counterpart."""
    groups = _groups_to_show(result)
    return _ways(result, groups, groups)


def everybody(result: BarycenterResult) -> go.Figure:
    """Draw the same of every group matched with everyone, its own people too."""
    groups = _groups_to_show(result)
    found = [each.everybody for each in groups if each.everybody is not None]
    if len(found) < len(groups):
        return empty("This result comes from an earlier version, which did not match groups with everyone.")
    return _ways(result, groups, found)


def _ways(
    result: BarycenterResult, groups: list[GroupFlips], found: Sequence[GroupFlips | AgainstEverybody]
) -> go.Figure:
    """Draw two bars a group, away from each other, on one scale; hollow: declined."""
    worst = [each.group for each in groups].index(result.rests_on)
    names = _names(groups)
    figure = go.Figure()
    for way, sign in (("only_counterpart", -1), ("only_self", 1)):
        colors = [FOCUS if k == worst else CONTEXT for k in range(len(groups))]
        shares = [100 * getattr(each, way) for each in found]
        figure.add_bar(
            x=[sign * share for share in shares],
            y=list(range(len(groups))),
            orientation="h",
            marker={
                "color": colors if sign > 0 else ["white"] * len(groups),
                "line": {"color": colors, "width": 1.6},
            },
            text=[f"{share:.0f}%" for share in shares],
            textposition="outside",
            cliponaxis=False,
            customdata=[[name, share] for name, share in zip(names, shares, strict=True)],
            hovertemplate="%{customdata[0]}: %{customdata[1]:.1f}% " + way_words(way) + "<extra></extra>",
            meta=[people_id(of_run("group", within=[each.group]), of_run(way, above=0)) for each in groups],
            name=way_words(way),
        )
    most = max([2.0, *(abs(x) for trace in figure.data for x in trace.x)])
    figure.update_xaxes(range=[-1.3 * most, 1.3 * most], visible=False)
    figure.update_layout(barmode="relative")
    row = rows_named(figure, names)
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    told = found[worst]
    against = "" if isinstance(told, GroupFlips) else "Against everybody: "
    alt = (
        f"{against}{names[worst]}: {100 * told.only_self:.1f}% {way_words('only_self')}, "
        f"{100 * told.only_counterpart:.1f}% {way_words('only_counterpart')}; {len(groups)} groups."
    )
    return finish(figure, height=110 + (row + 6) * len(groups), alt=alt).update_layout(margin={"t": 64})


def distances(result: BarycenterResult) -> go.Figure:
    """Draw how far each group lies from where all meet, beside as many people drawn from everyone."""
    groups = _groups_to_show(result)
    names = _names(groups)
    figure = go.Figure()
    for label, color, values in (
        ("as many drawn from everybody", GRAY, [each.distance_by_chance for each in groups]),
        ("the group", INK, [each.distance for each in groups]),
    ):
        figure.add_scatter(
            x=values,
            y=list(range(len(groups))),
            mode="markers",
            marker={"color": color, "size": 11},
            customdata=names,
            meta=[_person(each) for each in groups],
            hovertemplate="%{customdata}: %{x:.2f}<extra>" + label + "</extra>",
            name=label,
        )
    figure.update_xaxes(title="distance (standard deviations)", rangemode="tozero")
    row = rows_named(figure, names)
    far = max(result.groups, key=lambda each: each.distance)
    alt = f"{far.group} lies farthest from where all groups meet: {far.distance:.2f} standard deviations."
    return finish(figure, height=130 + row * len(groups), alt=alt)


def marginals(
    result: BarycenterResult, group: str, way: str, *, features: Sequence[str] = (), most: int = 3
) -> go.Figure:
    """Draw features' distributions among those of a group who flip one way, over those of the group."""
    found = {each.feature: each for each in result.marginals(group, way)}
    shown = [found[name] for name in features if name in found] or list(found.values())[:most]
    if not shown:
        return empty("Nobody of this group flips this way.")
    each = result.group(group)
    who = [of_run("group", within=[group])]
    flipped = count(getattr(each, way) * each.people)
    return bar_grid(
        shown,
        {
            f"all {describe(so_many(each.people, group), longest=40)}": who,
            f"{way_words(way)} ({flipped})": [*who, of_run(way, above=0)],
        },
        hollow=way == "only_counterpart",
        alt=f"Where those of {group} who flip differ from their group: {', '.join(found)}.",
    )


def transparency(result: BarycenterResult, group: str, *, by_sign: bool = False) -> go.Figure:
    """Draw a group's transparency report, the direction that more of it flip first."""
    first = result.group(group).way
    ways = sorted(("only_self", "only_counterpart"), key=lambda way: way != first)
    return report_rows(
        {way_words(way): result.report(group, way, by_sign=by_sign) for way in ways},
        nobody="Nobody of this group flips.",
    )
