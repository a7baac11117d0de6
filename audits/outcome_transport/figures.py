"""Figures of the outcome-transport audit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import plotly.graph_objects as go

from audits.drawing.differences import differences
from audits.drawing.flow import FlowMap, flow_bars, flow_map
from audits.drawing.flow import flow_list as rows_of_bars
from audits.drawing.intervals import IntervalRow, interval_rows
from audits.drawing.selected import of_run, people_id
from audits.drawing.style import distinct, empty
from audits.outcome_transport.result import OutcomeTransportResult
from audits.outcome_transport.text import focus_group, group_of, source_words, subgroup_words
from audits.stats.text import count, number, people_in, percent

MAX_LETTERS = 40  # of a subgroup's name
_IN_TITLE = 66
MAX_SIDE = 12  # subgroups of a side that are drawn apart


def sankey(result: OutcomeTransportResult) -> go.Figure:
    """Draw who is mapped to whom: one band a pair of subgroups, as wide as the mass (Figure 3)."""
    alt = (
        f"Flow of outcomes from {len(result.flows.rows)} subgroups ({result.source}) to "
        f"{len(result.flows.columns)} ({result.target}); largest: {largest_flow(result)}."
    )
    return flow_map(_flows(result), alt=alt) if _flows(result).bands() else empty("Nobody is matched.")


def flow_matrix(result: OutcomeTransportResult) -> go.Figure:
    """Draw the same as a table of shares, a bar a cell."""
    largest = largest_flow(result)
    alt = f"Share of each row subgroup's outcomes mapped to each column subgroup; largest: {largest}."
    return flow_bars(_flows(result), alt=alt)


def flow_list(result: OutcomeTransportResult) -> go.Figure:
    """Draw the same for a phone, a bar below the other."""
    return rows_of_bars(_flows(result), alt=f"Whose outcomes become whose; largest: {largest_flow(result)}.")


def largest_flow(result: OutcomeTransportResult) -> str:
    """Return the largest flow and its share of its row, in words."""
    flows, row = result.flows, result.flows_frame().iloc[0]
    people = dict(zip(flows.rows, flows.row_people, strict=True))[row["from"]]
    sides = (flows.rows, partial(source_words, result)), (flows.columns, subgroup_words)
    names = [dict(zip(each, _named(each, words, _IN_TITLE), strict=True)) for each, words in sides]
    return f"{percent(row['share'], people)} of {names[0][row['from']]} → {names[1][row['to']]}"


def _flows(result: OutcomeTransportResult) -> FlowMap:
    """Return the flows as drawn: of many subgroups the largest, the others of a side together."""
    flows = result.flows
    mass, focus = np.asarray(flows.mass), focus_group(result)
    rows, row_names = _drawn(flows.rows, flows.row_people, focus, partial(source_words, result))
    columns, column_names = _drawn(flows.columns, flows.column_people, focus, subgroup_words)
    people = np.asarray(flows.row_people)
    inside = [float(people[r].sum()) for r in rows]
    # a share of subgroups together is that of their people
    weighed = np.asarray(flows.share) * people[:, None]
    cells = [[np.ix_(r, c) for c in columns] for r in rows]
    shares = [
        [float(weighed[at].sum()) / max(n, 1e-300) for at in row]
        for row, n in zip(cells, inside, strict=True)
    ]

    def key(r: list[int], c: list[int]) -> list[str]:
        return [flows.rows[r[0]], flows.columns[c[0]]] if len(r) == len(c) == 1 else []

    def told(i: int, j: int) -> str:
        r, c = rows[i], columns[j]
        more = _between(result, r[0], c[0]) if key(r, c) else ""
        return f"{percent(shares[i][j], inside[i])} of {row_names[i]} → {column_names[j]}{more}"

    return FlowMap(
        rows=row_names,
        columns=column_names,
        mass=[[float(mass[at].sum()) for at in row] for row in cells],
        share=shares,
        words=[[told(i, j) for j in range(len(columns))] for i in range(len(rows))],
        keys=[[key(r, c) for c in columns] for r in rows],
        focus=frozenset(i for i, r in enumerate(rows) if len(r) == 1 and group_of(flows.rows[r[0]]) == focus),
    )


def _drawn(
    subgroups: Sequence[str], people: Sequence[float], focus: str, words: Callable[[str], str]
) -> tuple[list[list[int]], list[str]]:
    """Return which subgroups stand in each row of a side, those of `focus` ahead, and what it is called."""
    places = list(range(len(subgroups)))
    if len(places) > MAX_SIDE:
        places.sort(key=lambda place: (group_of(subgroups[place]) != focus, -people[place]))
        places = sorted(places[: MAX_SIDE - 1])
    names = _named([subgroups[place] for place in places], words)
    drawn = [[place] for place in places]
    said = [f"{name} ({count(people[place])})" for name, place in zip(names, places, strict=True)]
    rest = [place for place in range(len(subgroups)) if place not in places]
    if rest:
        drawn.append(rest)
        said.append(f"{len(rest)} smaller subgroups ({count(sum(people[place] for place in rest))})")
    return drawn, said


def _named(subgroups: Sequence[str], words: Callable[[str], str], longest: int = MAX_LETTERS) -> list[str]:
    """Name subgroups: what is too long is cut from the group, from where it differs, and not the outcome."""
    groups = list(filter(None, dict.fromkeys(map(group_of, subgroups))))
    outcomes = [
        words(each).removeprefix(words(group_of(each)) if group_of(each) else "") for each in subgroups
    ]
    room = longest - max(map(len, outcomes), default=0)
    short = dict(zip(groups, distinct([words(each) for each in groups], longest=room), strict=True))
    return [f"{short.get(group_of(each), '')}{said}" for each, said in zip(subgroups, outcomes, strict=True)]


def _people(level: str, group: str) -> str:
    """Return whom a row about a group stands for; of everyone nobody need be chosen."""
    return people_id(of_run(level, within=[group])) if level in {"group", "subgroup"} else ""


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
                f"<br>{percent(low[r][c], people).removesuffix('%')}–{percent(high[r][c], people)} {words}"
            )
    return said


def bias(result: OutcomeTransportResult, *, level: str = "group") -> go.Figure:
    """Draw mean bias by group: its interval thick, and thin the range over all optimal couplings."""
    ranges = {(item.level, item.group): (item.low, item.high) for item in result.tie_range}
    rows = sorted(
        (row for row in result.bias if row.level in {"all", level}),
        key=lambda row: (row.level == "all", -(row.mean.value or 0.0)),
    )
    focus = focus_group(result)
    top = max(rows, key=lambda row: row.mean.value or 0.0)
    return interval_rows(
        [
            IntervalRow(
                source_words(result, row.group),
                row.mean,
                _people(row.level, row.group),
                ranges.get((row.level, row.group)),
                row.group == focus,
            )
            for row in rows
        ],
        title="mean distance to those with the same outcome",
        alt=f"Mean bias by {level} with intervals and ranges; largest for {top.group}, "
        f"{number(top.mean.value)}.",
        nothing="Nobody is matched, so there is no bias to draw.",
    )


def verdict_figure(result: OutcomeTransportResult) -> go.Figure:
    """Draw what the verdict rests on, first, beside what else was judged, and what is said not to matter."""
    rows = [
        (people_in(row.group), row.difference.interval, _people(row.level, row.group))
        for row in result.bias
        if row.difference is not None
    ]
    title = "mean bias minus that of the others" if rows else "Wasserstein distance"
    return differences(result.judged, rows or [("distance", result.judged.interval, "")], title=title)


def roles(result: OutcomeTransportResult) -> go.Figure:
    """Draw bias by group when distance is taken over one role's features only (Figure 5).

    Thick: interval of the mean. Thin: where the middle nine tenths of the group's people lie.
    """
    rows = [row for row in result.by_role if row.level != "subgroup" and row.bias.value is not None]
    if not rows:
        return empty("No column in the data has a role.")
    top = max(rows, key=lambda row: row.bias.value or 0.0)
    return interval_rows(
        [
            IntervalRow(
                f"{row.role}: {source_words(result, row.group)}",
                row.bias,
                _people(row.level, row.group),
                (row.quantiles[0], row.quantiles[-1]) if row.quantiles else None,
            )
            for row in sorted(rows, key=lambda row: (row.role, -(row.bias.value or 0.0)))
        ],
        title="mean distance in the features of the role",
        alt=f"Mean bias by group and role of features; largest, {number(top.bias.value)}, for {top.group} "
        f"in {top.role} features.",
    )
