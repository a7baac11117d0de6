"""Figures of the outcome-transport audit and of the Blue College simulation."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from audits.drawing.boxes import quantile_boxes
from audits.drawing.differences import differences
from audits.drawing.marks import reaching
from audits.drawing.selected import of_run, people_id
from audits.drawing.style import ACCENT, CONTRAST, GREY, INK, OKABE_ITO, distinct, empty, finish
from audits.drawing.style import describe as shorten
from audits.outcome_transport.result import BiasRow, OutcomeTransportResult, TieRange
from audits.stats.words import count, number, percent

__all__ = ["bias", "blue_college", "flow_matrix", "judged", "role_spread", "roles", "sankey"]


_FEW = 10  # people below which an interval may go beyond the figure
_LONGEST = 40  # letters of a subgroup's name: two of them stand beside each other in 600 pixels
_MOST_LABELLED = 10  # columns whose cells still have room for a share


def describe(name: str) -> str:
    """Shorten a subgroup's name, which joins several values."""
    return shorten(name, longest=44)


def _colour(k: int, opacity: float) -> str:
    red, green, blue = (int(OKABE_ITO[k % len(OKABE_ITO)][at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _biggest(result: OutcomeTransportResult) -> str:
    row = result.flows_frame().iloc[0]
    people = dict(zip(result.flows.rows, result.flows.row_people, strict=True))[row["from"]]
    return f"largest: {percent(row['share'], people)} of {row['from']} to {row['to']}"


def sankey(result: OutcomeTransportResult, *, least: float = 0.002) -> go.Figure:
    """Draw who is mapped to whom: one band a pair of subgroups, as wide as the mass."""
    flows = result.flows
    bands = [
        (r, c, flows.mass[r][c])
        for r in range(len(flows.rows))
        for c in range(len(flows.columns))
        if flows.mass[r][c] >= least
    ]
    if not bands:
        return empty("No subgroup's outcomes are mapped to any other.")
    shift = len(flows.rows)
    labels = [
        f"{name} ({count(n)})"
        for names, people in ((flows.rows, flows.row_people), (flows.columns, flows.column_people))
        for name, n in zip(distinct(names, longest=_LONGEST), people, strict=True)
    ]
    hover = [
        f"{percent(flows.share[r][c], flows.row_people[r])} of {describe(flows.rows[r])} are mapped to "
        f"{describe(flows.columns[c])}"
        for r, c, _ in bands
    ]
    figure = go.Figure(
        go.Sankey(
            node={
                "label": labels,
                "color": [_colour(r, 1.0) for r in range(shift)] + [GREY] * len(flows.columns),
                "pad": 14,
                "thickness": 16,
                "hovertemplate": "%{label}<extra></extra>",
            },
            link={
                "source": [r for r, _, _ in bands],
                "target": [shift + c for _, c, _ in bands],
                "value": [mass for _, _, mass in bands],
                "color": [_colour(r, 0.45) for r, _, _ in bands],
                "customdata": hover,
                "hovertemplate": "%{customdata}<extra></extra>",
            },
            meta=[_flow_id(flows.rows[r], flows.columns[c]) for r, c, _ in bands],
        )
    )
    alt = (
        f"Flow of outcomes from {len(flows.rows)} subgroups ({result.source}) to {len(flows.columns)} "
        f"({result.target}); {_biggest(result)}."
    )
    height = max(320, 44 * max(len(flows.rows), len(flows.columns)) + 60)
    return finish(figure, height=height, alt=alt)


def flow_matrix(result: OutcomeTransportResult) -> go.Figure:
    """Draw the same as a matrix of shares; points over the cells can be clicked."""
    flows = result.flows
    rows, columns = (distinct(names, longest=_LONGEST) for names in (flows.rows, flows.columns))
    shares = [[100 * share for share in row] for row in flows.share]
    figure = go.Figure(
        go.Heatmap(
            z=shares,
            x=columns,
            y=rows,
            colorscale=[[0, "#FFFFFF"], [1, ACCENT]],
            zmin=0,
            zmax=100,
            hoverinfo="skip",
            colorbar={"title": "% of row"},
        )
    )
    cells = [(r, c) for r in range(len(rows)) for c in range(len(columns))]
    words = [percent(flows.share[r][c], flows.row_people[r]) for r, c in cells]
    room = len(columns) <= _MOST_LABELLED
    figure.add_trace(
        go.Scatter(
            x=[columns[c] for _, c in cells],
            y=[rows[r] for r, _ in cells],
            mode="markers+text" if room else "markers",
            marker={"size": 24, "color": "rgba(0,0,0,0)"},
            text=words,
            textfont={"color": ["#FFFFFF" if shares[r][c] > 60 else INK for r, c in cells]},
            unselected={"textfont": {"color": INK}},
            customdata=[[flows.rows[r], flows.columns[c], _between(result, r, c)] for r, c in cells],
            meta=[_flow_id(flows.rows[r], flows.columns[c]) for r, c in cells],
            hovertemplate="%{y} → %{x}: %{text}%{customdata[2]}<extra></extra>",
            showlegend=False,
        )
    )
    figure.update_yaxes(autorange="reversed", title=shorten(result.source, longest=_LONGEST))
    figure.update_xaxes(
        title=shorten(result.target, longest=_LONGEST), tickangle=None if len(columns) <= 2 else -90
    )
    alt = f"Share of each row subgroup's outcomes mapped to each column subgroup; {_biggest(result)}."
    return finish(figure, height=200 + 36 * len(rows), alt=alt)


def _people(level: str, group: str) -> str:
    """Return whom a row about a group stands for; of everybody nobody need be chosen."""
    return people_id(of_run(level, within=[group])) if level in {"group", "subgroup"} else ""


def _flow_id(source: str, target: str) -> str:
    """Return what the people of a flow are selected by."""
    return people_id({"run": "", "flow": [source, target]})


def _between(result: OutcomeTransportResult, r: int, c: int) -> str:
    """Sampling interval and range over all optimal couplings, as lines of a hover text."""
    flows = result.flows
    people, said = flows.row_people[r], ""
    for low, high, words in (
        (flows.sampling_low, flows.sampling_high, "sampling interval"),
        (flows.low, flows.high, "over all optimal couplings"),
    ):
        if low is not None and high is not None:
            said += (
                f"<br>{percent(low[r][c], people).removesuffix(' %')}–{percent(high[r][c], people)} {words}"
            )
    return said


def bias(result: OutcomeTransportResult, *, level: str = "group") -> go.Figure:
    """Draw mean bias by group: sampling interval as a thick bar, range when optimal as a thin one."""
    rows = [row for row in result.bias if row.level in {"all", level} and row.mean.value is not None]
    if not rows:
        return empty("Nobody is matched, so there is no bias to draw.")
    ranges = {(item.level, item.group): item for item in result.tie_range}
    rows.sort(key=lambda row: (row.level != "all", -(row.mean.value or 0.0)), reverse=True)
    names = distinct([row.group for row in rows], longest=28 if level == "group" else 36)
    figure = go.Figure()
    for k, row in enumerate(rows):
        tie = ranges.get((row.level, row.group))
        if tie is not None:
            figure.add_trace(_bar(names[k], tie.low, tie.high, GREY, 3, "all optimal couplings", k))
        if row.mean.low is not None and row.mean.high is not None:
            figure.add_trace(_bar(names[k], row.mean.low, row.mean.high, ACCENT, 9, "sampling interval", k))
    figure.add_trace(
        go.Scatter(
            x=[row.mean.value for row in rows],
            y=names,
            mode="markers",
            marker={
                "color": ["#FFFFFF" if row.mean.low is None else INK for row in rows],
                "line": {"color": INK, "width": 1.5},
                "size": 9,
            },
            customdata=[[count(row.n), number(row.mean.value)] for row in rows],
            meta=[_people(row.level, row.group) for row in rows],
            name="even coupling",
            hovertemplate="%{y}: %{customdata[1]} (%{customdata[0]} people)<extra></extra>",
        )
    )
    figure.update_xaxes(title="mean distance to those<br>with the same outcome", rangemode="tozero")
    edge = 1.1 * max(_reach(row, ranges.get((row.level, row.group))) for row in rows)
    if edge > 0 and any((row.mean.high or 0.0) > edge for row in rows):
        figure.update_xaxes(range=[0, edge])  # else the interval of two or three people is all one sees
    top = max(
        (row for row in rows if row.level != "all"), key=lambda row: row.mean.value or 0.0, default=rows[0]
    )
    alt = (
        f"Mean bias by {level} with intervals and ranges; largest for {top.group}, {number(top.mean.value)}."
    )
    return finish(figure, height=110 + 34 * len(rows), alt=alt)


def judged(result: OutcomeTransportResult) -> go.Figure:
    """Draw what the verdict rests on, first, beside what else was judged, and what is said not to matter."""
    rows = [
        (row.group, row.difference.interval, _people(row.level, row.group))
        for row in result.bias
        if row.difference is not None
    ]
    title = "mean bias minus<br>that of the others" if rows else "Wasserstein distance"
    return differences(result.judged, rows or [("distance", result.judged.interval, "")], title=title)


def _reach(row: BiasRow, tie: TieRange | None) -> float:
    """How far a group's marks go to the right; of few people, without the interval."""
    ends = [row.mean.value or 0.0, tie.high if tie is not None else 0.0]
    return max(*ends, row.mean.high or 0.0) if row.n >= _FEW else max(ends)


def _bar(name: str, low: float, high: float, colour: str, width: int, words: str, k: int) -> go.Scatter:
    return go.Scatter(
        x=[low, high],
        y=[name, name],
        mode="lines",
        line={"color": colour, "width": width},
        opacity=0.75,
        name=words,
        legendgroup=words,
        showlegend=k == 0,
        hovertemplate=f"{words}: {number(low)} to {number(high)}<extra></extra>",
    )


def roles(result: OutcomeTransportResult) -> go.Figure:
    """Draw bias by group when distance is taken over one role's features only (Figure 5)."""
    rows = [row for row in result.by_role if row.level != "subgroup" and row.bias.value is not None]
    if not rows:
        return empty("The data give no column a role.")
    groups = list(dict.fromkeys(row.group for row in rows))
    names = dict(zip(groups, distinct(groups), strict=True))
    figure = go.Figure()
    for k, role in enumerate(dict.fromkeys(row.role for row in rows)):
        mine = [row for row in rows if row.role == role]
        figure.add_trace(
            go.Scatter(
                x=[row.bias.value for row in mine],
                y=[names[row.group] for row in mine],
                orientation="h",  # roles of one group stand one below the other
                error_x=reaching([row.bias for row in mine], color=OKABE_ITO[k], thickness=None),
                mode="markers",
                marker={"size": 9, "color": OKABE_ITO[k], "symbol": ("circle", "square", "diamond")[k]},
                name=role,
                meta=[_people(row.level, row.group) for row in mine],
                hovertemplate=f"{role}: %{{x:.3g}}<extra></extra>",
            )
        )
    named = {row.role for row in rows}
    which = f"{named.pop()} features" if len(named) == 1 else "features of the role"
    figure.update_layout(scattermode="group")
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title=f"mean distance in<br>{which}", rangemode="tozero")
    top = max(rows, key=lambda row: row.bias.value or 0.0)
    most = number(top.bias.value or 0.0)
    alt = f"Mean bias by group and role of features; largest, {most}, for {top.group} in {top.role} features."
    return finish(figure, height=140 + 44 * len(groups), alt=alt)


def role_spread(result: OutcomeTransportResult) -> go.Figure:
    """Draw how individual bias is distributed in each group, a panel a role (Figure 5)."""
    rows = [row for row in result.by_role if row.level != "subgroup" and row.quantiles]
    if not rows:
        return empty("The data give no column a role, or nobody is matched.")
    groups = list(dict.fromkeys(row.group for row in rows))
    names = dict(zip(groups, distinct(groups), strict=True))
    roles = list(dict.fromkeys(row.role for row in rows))
    figure = make_subplots(
        rows=len(roles),
        cols=1,
        shared_xaxes=True,
        subplot_titles=[f"{role} features" for role in roles],
        vertical_spacing=0.28 / len(roles),
    )
    for k, role in enumerate(roles):
        mine = [row for row in rows if row.role == role]
        boxes = quantile_boxes(
            [names[row.group] for row in mine],
            [row.quantiles for row in mine],
            [row.bias.value for row in mine],
            OKABE_ITO[k],
            said=k == 0,
            people=[_people(row.level, row.group) for row in mine],
        )
        figure.add_trace(boxes, row=k + 1, col=1)
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(rangemode="tozero")
    figure.update_xaxes(title="distance of a person to those with the same outcome", row=len(roles), col=1)
    widest = max(rows, key=lambda row: row.quantiles[2])
    alt = (
        "Individual bias by group and role of features: boxes hold the middle half of the people, whiskers 5 "
        f"to 95 %; the largest median is that of {widest.group} in {widest.role} features, "
        f"{number(widest.quantiles[2])}."
    )
    height = 130 + len(roles) * (70 + 34 * len(groups))
    figure = finish(figure, height=height, alt=alt)
    return figure.update_layout(margin={"t": 84}, legend={"y": 1.0 + 26 / (height - 130)})  # above the titles


def blue_college(table: pd.DataFrame) -> go.Figure:
    """Draw Figure 2: disparate impact and Wasserstein distance over the years, a line a rule."""
    figure = go.Figure()
    for k, rule in enumerate(table["rule"].unique().tolist()):
        rows = table[table["rule"] == rule]
        for column, axis, words in (
            ("impact_so_far", "y", "impact"),
            ("distance_so_far", "y2", "distance"),
        ):
            figure.add_trace(
                go.Scatter(
                    x=rows["year"],
                    y=rows[column],
                    yaxis=axis,
                    line={"color": OKABE_ITO[k % len(OKABE_ITO)], "dash": "solid" if axis == "y2" else "dot"},
                    name=f"{100 * rule:g} %, {words}",
                    hovertemplate="year %{x}: %{y:.3g}<extra></extra>",
                )
            )
    figure.update_layout(
        xaxis={"title": "years of admissions counted together"},
        yaxis={"title": "disparate impact (1: none)", "domain": [0.56, 1.0], "rangemode": "tozero"},
        yaxis2={"title": "Wasserstein distance", "domain": [0.0, 0.44], "rangemode": "tozero"},
    )
    figure.add_hline(y=0.8, line={"color": CONTRAST, "dash": "dash", "width": 1}, annotation_text="80 % rule")
    last = table[table["year"] == table["year"].max()]
    told = ", ".join(
        f"{100 * rule:g} % rule {number(distance)}"
        for rule, distance in zip(last["rule"], last["distance_so_far"], strict=True)
    )
    alt = f"Disparate impact settles near 1 under every rule; the distance does not fall to 0: {told}."
    return finish(figure, height=460, alt=alt)
