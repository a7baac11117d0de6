"""Figures of a barycenter audit: flips by group, what lies above chance, distances, and who flips."""

from __future__ import annotations

import re
from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.barycenter.result import AgainstEverybody, BarycenterResult, GroupFlips
from audits.barycenter.words import interval_words
from audits.brief import value_words
from audits.drawing.marks import decisive, reaching
from audits.drawing.selected import of_run, of_value, people_id
from audits.drawing.style import (
    ACCENT,
    CONTRAST,
    GREY,
    INK,
    describe,
    distinct,
    empty,
    finish,
    rows_named,
)
from audits.stats.words import number

__all__ = ["distances", "everybody", "flips", "judged", "marginals", "transparency"]

_MOST = 20


def _shown(result: BarycenterResult) -> tuple[list[GroupFlips], list[str]]:
    """Groups with their labels, the largest on top."""
    worst = result.group(result.rests_on)
    groups = list(result.groups[:_MOST])
    if worst not in groups:
        groups[-1] = worst
    groups.reverse()
    return groups, distinct([each.group for each in groups], longest=44)


def _people(groups: list[GroupFlips]) -> list[str]:
    """Return whom each group's mark stands for."""
    return [people_id(of_run("group", within=[each.group])) for each in groups]


def flips(result: BarycenterResult) -> go.Figure:
    """Draw both ways of flipping by group: right favoured only as oneself, left only as counterpart."""
    groups, labels = _shown(result)
    worst = result.group(result.rests_on)
    alt = _alt(worst.group, worst, len(groups))
    return _ways(labels, [(each.only_self, each.only_counterpart) for each in groups], alt, groups)


def everybody(result: BarycenterResult) -> go.Figure:
    """Draw the same of every group matched with everybody, its own people too."""
    groups, labels = _shown(result)
    found = [each.everybody for each in groups if each.everybody is not None]
    worst = result.group(result.rests_on)
    if len(found) < len(groups) or worst.everybody is None:
        return empty("This result is of an earlier version, which did not match groups with everybody.")
    alt = f"Against everybody: {_alt(worst.group, worst.everybody, len(groups))}"
    return _ways(labels, [(each.only_self, each.only_counterpart) for each in found], alt)


def _alt(group: str, found: GroupFlips | AgainstEverybody, groups: int) -> str:
    return (
        f"{group}: {100 * found.only_self:.1f} % favored only as themselves, "
        f"{100 * found.only_counterpart:.1f} % only as counterparts; {groups} groups."
    )


def _ways(
    labels: list[str], shares: list[tuple[float, float]], alt: str, people: Sequence[GroupFlips] = ()
) -> go.Figure:
    """Draw two bars a group, away from each other, on one scale; `people` where a table says who flips."""
    figure = go.Figure()
    for way, name, colour, sign, place in (
        ("only_counterpart", "favored only as counterparts", CONTRAST, -1, 1),
        ("only_self", "favored only as themselves", ACCENT, 1, 0),
    ):
        figure.add_trace(
            go.Bar(
                x=[100 * sign * each[place] for each in shares],
                y=list(range(len(shares))),
                orientation="h",
                marker={"color": colour},
                customdata=[[label, 100 * each[place]] for label, each in zip(labels, shares, strict=True)],
                hovertemplate="%{customdata[0]}: %{customdata[1]:.1f} % " + name + "<extra></extra>",
                meta=[
                    people_id(of_run("group", within=[each.group]), of_run(way, above=0)) for each in people
                ]
                or None,
                name=name,
            )
        )
    most = 100 * max([0.02, *(max(each) for each in shares)])
    step = next(size for size in (1, 2, 5, 10, 20, 25, 50) if most / size <= 3 or size == 50)
    ticks = [step * k for k in range(-3, 4) if abs(step * k) <= 1.1 * most]
    figure.update_xaxes(
        title="people of the group (%)",
        range=[-1.15 * most, 1.15 * most],
        tickvals=ticks,
        ticktext=[f"{abs(tick)}" for tick in ticks],
    )
    figure.update_layout(barmode="relative")
    row = rows_named(figure, labels)
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    finish(figure, height=150 + (row + 6) * len(shares), alt=alt)
    figure.layout.margin.t = 64
    return figure


def judged(result: BarycenterResult) -> go.Figure:
    """Draw the interval that decides, and of every group its net flips and those above chance."""
    groups, labels = _shown(result)
    place = [each.group for each in groups].index(result.rests_on)
    figure = go.Figure(decisive(result.judged, place, 100.0))
    for name, key, symbol, shift in (
        ("difference of rates", "net", "circle", 0.2),
        ("flips above chance", "excess", "diamond-open", -0.2),
    ):
        told = [getattr(each, key) for each in groups]
        here = [k for k, each in enumerate(told) if each.value is not None]
        figure.add_trace(
            go.Scatter(
                x=[100 * told[k].value for k in here],
                y=[k + shift for k in here],
                mode="markers",
                marker={"color": INK, "size": 7, "symbol": symbol},
                error_x=reaching([told[k] for k in here], 100.0, thickness=1),
                customdata=[labels[k] for k in here],
                meta=_people([groups[k] for k in here]),
                hovertemplate="%{customdata}: %{x:.1f} points<extra>" + name + "</extra>",
                name=name,
            )
        )
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    figure.update_xaxes(title="percentage points of people")
    row = rows_named(figure, labels)
    worst = result.group(result.rests_on)
    return finish(figure, height=140 + row * len(groups), alt=f"{interval_words(result.judged, worst)}.")


def distances(result: BarycenterResult) -> go.Figure:
    """Draw how far each group lies from where all meet, beside as many people drawn from everybody."""
    groups, labels = _shown(result)
    figure = go.Figure()
    for name, colour, symbol, values in (
        ("as many drawn from everybody", GREY, "circle-open", [each.distance_by_chance for each in groups]),
        ("the group", ACCENT, "circle", [each.distance for each in groups]),
    ):
        figure.add_trace(
            go.Scatter(
                x=values,
                y=list(range(len(groups))),
                mode="markers",
                marker={"color": colour, "size": 11, "symbol": symbol, "line": {"width": 2, "color": colour}},
                customdata=labels,
                meta=_people(groups),
                hovertemplate="%{customdata}: %{x:.2f}<extra>" + name + "</extra>",
                name=name,
            )
        )
    figure.update_xaxes(title="distance (standard deviations)", rangemode="tozero")
    row = rows_named(figure, labels)
    far = max(result.groups, key=lambda each: each.distance)
    alt = f"{far.group} lies farthest from where all groups meet: {far.distance:.2f} standard deviations."
    return finish(figure, height=130 + row * len(groups), alt=alt)


def _cell(value: str) -> str:
    """Word a range of numbers in few letters, so that it is not cut where it differs.

    Examples
    --------
    >>> _cell("22,700 to under 28,533"), _cell("28.0 to under 34.0"), _cell("late payments")
    ('22,700–28,532', '28–33', 'late payments')
    >>> _cell("-1.06 to under -0.36"), _cell("1,990 to under 2,010"), _cell("2,024 or more"), _cell("02139")
    ('-1.06 to -0.36', '1990–2009', '2024 or more', '02139')
    """
    if not _RANGE.fullmatch(value):
        return value.removesuffix(".0")
    ends = [float(end.replace(",", "")) for end in _NUMBER.findall(value)]
    if len(ends) < 2:
        return _NUMBER.sub(value_words(ends[0]), value)
    low, high = ends
    whole = low.is_integer() and high.is_integer() and low >= 0
    high -= whole  # of whole numbers the last is one below
    told = [value_words(end) for end in dict.fromkeys((low, high))]
    return (" to " if low < 0 else "–").join(told)


_NUMBER = re.compile(r"-?\d[\d.,]*")
_RANGE = re.compile(rf"below {_NUMBER.pattern}|{_NUMBER.pattern} (?:to under {_NUMBER.pattern}|or more)")


def marginals(result: BarycenterResult, group: str) -> go.Figure:
    """Draw the values in which the flipped people of a group differ most from it, a panel a feature."""
    rows = [row for row in result.marginals if row.group == group]
    features = list(dict.fromkeys(row.feature for row in rows))
    if not features:
        return empty("Nobody of this group flips.")
    counts = [sum(row.feature == name for row in rows) for name in features]
    own = [of_run("group", within=[group])]
    way = "only_self" if result.group(group).mostly == "only self" else "only_counterpart"
    colour_of_way = ACCENT if way == "only_self" else CONTRAST  # as above and below
    figure = make_subplots(
        rows=len(features),
        cols=1,
        row_heights=[count + 1.5 for count in counts],
        subplot_titles=[describe(name, longest=40) for name in features],
        vertical_spacing=min(0.12, 0.6 / max(len(features) - 1, 1) / 3),
    )
    for panel, name in enumerate(features, start=1):
        here = [row for row in rows if row.feature == name][::-1]
        held = [of_value(name, row.value, [row.value for row in here]) for row in here]
        for title, colour, shares, among in (
            (
                "those who flip",
                colour_of_way,
                [row.flipped_share for row in here],
                [*own, of_run(way, above=0)],
            ),
            ("the group", GREY, [row.group_share for row in here], own),
        ):
            figure.add_trace(
                go.Bar(
                    x=[100 * share for share in shares],
                    y=list(range(len(here))),
                    orientation="h",
                    marker={"color": colour},
                    meta=[people_id(*among, *terms) if terms else "" for terms in held],
                    hovertemplate="%{x:.1f} %<extra>" + title + "</extra>",
                    name=title,
                    legendgroup=title,
                    showlegend=panel == 1,
                ),
                row=panel,
                col=1,
            )
        figure.update_yaxes(
            tickmode="array",
            tickvals=list(range(len(here))),
            ticktext=distinct([_cell(row.value) for row in here], longest=20),
            row=panel,
            col=1,
        )
    figure.update_xaxes(title="people (%)", row=len(features), col=1)
    figure.update_layout(legend={"traceorder": "reversed"})
    alt = f"Where those of {group} who flip differ from their group: {', '.join(features)}."
    finish(figure, height=140 + 24 * sum(counts) + 52 * len(features), alt=alt)
    figure.layout.margin.t = 70
    figure.layout.legend.y = 1.0 + 32 / (24 * sum(counts) + 52 * len(features))
    return figure


def transparency(
    result: BarycenterResult, group: str, way: str, *, by_sign: bool = False, most: int = 12
) -> go.Figure:
    """Draw a group's transparency report: mean difference in standard deviations, and mean sign.

    Parameters
    ----------
    way : {"only_self", "only_counterpart"}
        Which flips.
    by_sign : bool
        Rank by the mean sign instead of the mean difference.
    """
    shown = [
        row for row in result.report(group, way, by_sign=by_sign) if row.mean_difference.value is not None
    ]
    shown = shown[:most][::-1]  # bars are drawn from the bottom
    if not shown:
        return empty("Nobody of this group flips this way.")
    figure = make_subplots(
        rows=1,
        cols=2,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        column_widths=[0.6, 0.4],
        subplot_titles=["mean difference<br>(standard deviations)", "mean sign"],
    )
    lengths = [row.standardized_difference for row in shown]
    signs = [row.mean_sign.value or 0.0 for row in shown]
    places, names = list(range(len(shown))), [describe(row.feature, longest=60) for row in shown]
    figure.add_trace(
        go.Bar(
            x=lengths,
            y=places,
            orientation="h",
            marker={"color": ACCENT if way == "only_self" else CONTRAST},
            customdata=[
                [name, number(row.mean_difference.value)] for name, row in zip(names, shown, strict=True)
            ],
            hovertemplate="%{customdata[0]}: %{customdata[1]} in its own unit<extra></extra>",
            showlegend=False,
        ),
        row=1,
        col=1,
    )
    figure.add_trace(
        go.Scatter(
            x=signs,
            y=places,
            mode="markers",
            marker={"color": INK, "size": 8},
            customdata=names,
            hovertemplate="%{customdata}: %{x:.2f}<extra></extra>",
            showlegend=False,
        ),
        row=1,
        col=2,
    )
    figure.update_xaxes(range=[-1.08, 1.08], row=1, col=2)
    row = rows_named(figure, distinct([row.feature for row in shown], longest=46))
    first = shown[-1]
    alt = (
        f"Features by how far those of {group} who flip lie from their counterparts; first {first.feature}, "
        f"by {number(first.mean_difference.value)} on average, mean sign {number(first.mean_sign.value)}."
    )
    return finish(figure, height=106 + row * len(shown), alt=alt).update_layout(margin={"t": 52})
