"""What a rule-set audit found, from the finding down to the people of one group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from app import state, work
from app.drawn import drawn
from app.mitigation.result import mitigation_section
from app.tables.held import DataHeld
from app.tables.listed import Listed, Order, raw_cells
from app.widgets import notices
from app.widgets.people.person import person_card
from app.widgets.people.row_choice import ROWS, WRAPPING, choose_row, clicked_row
from app.widgets.people.selected import clickable, let_go, select
from app.widgets.results.exhibits import titled
from app.widgets.results.figure_card import figure_card, number_columns
from app.widgets.results.result_frame import fine_print, headline
from app.widgets.waiting import wait_for
from app.workspaces.workspace import Workspace
from audits.rule_sets import (
    LeaderRow,
    RuleSetsResult,
    alike,
    combination_tree,
    contributions_of,
    group_neighbours,
    lattice,
    leaderboard_frame,
    members,
    refine,
    row_of,
    words,
)
from audits.rule_sets.exhibits import SAID
from audits.rule_sets.figures import leaderboard as figures
from audits.rule_sets.perturbed.exchanging import exchanged_frame
from audits.runs.result import RunResult
from audits.stats.words import count, percent

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["show_result"]

_ANY = "either way"
_WAYS = {"harmed": "less often", "advantaged": "more often"}  # no harm is blamed on what may be chance
_SHORT = 42  # letters of a rule set that a line of the list holds
_COLUMNS = {
    "rule set": "rule set",
    "difference": "difference (points)",
    "low": "low",
    "high": "high",
    "people inside": "people in",
    "people outside": "people out",
    "confirmed": "confirmed",
    "direction": "favorable",
    "adjusted p": "p (corrected)",
    "verdict": "verdict",
    "sampled score": "on perturbed people",
    "margin": "margin",
    "rule sets alike": "rule sets alike",
}
_NEAR = {
    "rule_set": "rule set",
    "n_in": "people in",
    "favorable_in": "favorable inside",
    "favorable_out": "favorable outside",
    "difference": "difference (points)",
    "adjusted_p": "p (corrected)",
}
_NEAR_POINTS = ["difference (points)", "low", "high"]
_NEAR_SHARES = ["favorable inside", "favorable outside"]
_MOST_PEOPLE = 1000
_POINTS = ["difference (points)", "low", "high", "on perturbed people", "margin"]


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit, top to bottom."""
    result: RuleSetsResult = found.audits[0].result
    _headline(result)
    notices.notes(result.warnings)
    among = _among(result)
    rows = _left(result, *among)
    titled(SAID["leaderboard"])
    figure_card("rule-sets", drawn(_leaders, result, *among), lambda: leaderboard_frame(tuple(rows)))
    if result.exchanged is not None and result.exchanged.rows:
        titled(SAID["exchanged"])
        figure_card("exchanged", drawn(figures.exchanged, result), lambda: exchanged_frame(result.exchanged))
    if rows:
        _leaderboard(rows)
        data, _ = wait_for(work.data(space, found.spec["data"], found.spec["seed"]), "Preparing the people")
        _group(found, space, rows, data)
    for each in result.measures:
        st.subheader(each.name, anchor=False)
        st.text(each.finding)
        figure_card(f"rule-sets-{each.measure}", drawn(_by_measure, result, each.measure), each.to_frame)
    _overview(result, among, rows)
    _comparisons(result)
    mitigation_section(space, draft, found.spec["audits"][0]["rule_sets"])
    fine_print(found, draft, "rule_sets", inference=result.inference, sampling=result.sampling)


def _headline(result: RuleSetsResult) -> None:
    headline(words.headline(result), result.judged)


def _among(result: RuleSetsResult) -> tuple[Any, ...]:
    """Draw the controls that need no new run, and return which rows they leave, as `_left` takes it."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="rule-filters"):
        smallest = 100 * float(result.options["support"])
        support = st.slider(
            "Groups of at least (%)",
            smallest,
            max(50.0, smallest + 1),
            smallest,
            step=0.5,
            format="%.1f",
            **state.choice("at-least"),
        )
        tolerance = st.slider(
            "Tolerated difference (points)",
            0.0,
            50.0,
            100 * float(result.options["tolerance"]),
            step=0.5,
            format="%.1f",
            **state.choice("xi"),
        )
        widest = st.slider(
            "Margin at most (points)",
            0.5,
            30.0,
            30.0,
            step=0.5,
            format="%.1f",
            **state.choice("widest"),
        )
        ways = [_ANY, *_WAYS]
        way = st.selectbox(
            "Favorable inside",
            ways,
            format_func=lambda each: _WAYS.get(each, each),
            width=160,
            **state.choice("way"),
        )
        names = [item["name"] for item in result.attributes]
        with_rule = st.multiselect("With a rule on", names, width=220, **state.choice("with"))
    margin = None if widest >= 30 else widest / 100
    return (support / 100, tolerance / 100, margin, tuple(with_rule), None if way == _ANY else way)


def _left(
    result: RuleSetsResult,
    support: float,
    tolerance: float,
    margin: float | None,
    attributes: Sequence[str],
    direction: str | None,
) -> tuple[LeaderRow, ...]:
    """Return the leaderboard under the choices of `_among`."""
    return refine(
        result,
        support=support,
        tolerance=tolerance,
        margin=margin,
        attributes=attributes,
        direction=direction,
    )


def _leaders(result: RuleSetsResult, *among: Any) -> go.Figure:
    return figures.leaderboard(result, _left(result, *among))


def _scattered(result: RuleSetsResult, *among: Any) -> go.Figure:
    return figures.support_and_score(result, _left(result, *among))


def _by_measure(result: RuleSetsResult, measure: str) -> go.Figure:
    return figures.by_measure(next(each for each in result.measures if each.measure == measure))


def _combined(result: RuleSetsResult) -> go.Figure:
    return figures.sunburst(combination_tree(result))


def _around(result: RuleSetsResult, number: int) -> go.Figure:
    return figures.neighbours(group_neighbours(result, number))


def _conditions(result: RuleSetsResult, number: int, measure: str | None) -> go.Figure:
    return figures.conditions(contributions_of(result, number, measure), scale=_scale(result, measure))


def _lattice(result: RuleSetsResult, number: int, measure: str | None) -> go.Figure:
    return figures.lattice(lattice(result, number, measure), scale=_scale(result, measure))


def _scale(result: RuleSetsResult, measure: str | None) -> float:
    """Return 100 for shares, which are drawn in points; 1 for errors of a number."""
    whole = measure is None or next(each.share for each in result.measures if each.measure == measure)
    return 100.0 if whole else 1.0


def _leaderboard(rows: Sequence[LeaderRow]) -> None:
    table = leaderboard_frame(tuple(rows))
    table = _whole(table[[name for name in _COLUMNS if name in table]].rename(columns=_COLUMNS))
    stated = [name for name in _POINTS if name in table]
    table[stated] = 100 * table[stated].astype(float)
    table["favorable"] = table["favorable"].map(_WAYS)
    if table["on perturbed people"].isna().all():
        table = table.drop(columns="on perturbed people")
    numbers = [row.number for row in rows]
    points = {name: st.column_config.NumberColumn(format="%.1f") for name in stated}
    clicks = clickable("leaderboard")
    st.dataframe(
        table,
        key=clicks,
        hide_index=True,
        height=388 if len(table) > 10 else "content",
        row_height=WRAPPING if table["rule set"].str.len().max() > _SHORT else None,
        column_config={
            **number_columns(table),
            **points,
            "rule set": st.column_config.TextColumn("rule set", pinned=True, width=275),
            "score (points)": st.column_config.ProgressColumn(
                "score (points)",
                format="%.1f",
                min_value=0.0,
                max_value=float(table["high"].max()),
                width=110,
            ),
            **{name: st.column_config.NumberColumn(format="%.1f", width=55) for name in ("low", "high")},
            "confirmed": st.column_config.CheckboxColumn("confirmed", width=75),
            "favorable": st.column_config.TextColumn("favorable", width=90),
        },
        on_select=lambda: _open(numbers, clicks),
        selection_mode=ROWS,
        alt="Different findings, first in rank first; a click opens the group",
    )


def _whole(table: pd.DataFrame) -> pd.DataFrame:
    """Show people as whole numbers where weights make no fractions of them."""
    people = [name for name in map(str, table) if "people" in name and (table[name] % 1 == 0).all()]
    return table.astype(dict.fromkeys(people, "int64"))


def _open(numbers: list[int], clicks: str) -> None:
    place = clicked_row(clicks, len(numbers))
    state.set_widget("group", None if place is None else numbers[place])
    if place is not None:
        select([{"run": "", "rule": numbers[place]}], "leaderboard")


def _let_go() -> None:
    """Have rows that were clicked be clicked again: the box says another group now."""
    let_go("leaderboard")
    let_go("group-alike")


def _group(found: RunResult, space: Workspace, rows: Sequence[LeaderRow], data: DataHeld) -> None:
    """One group: who is in it, what drives it, how its people differ."""
    result: RuleSetsResult = found.audits[0].result
    words = {row.number: row.rule_set for row in rows}
    near = state.widget("group-alike-number")
    if near is not None and near not in words and near in result.rule_sets.index:
        words[near] = row_of(result, near).rule_set  # one like a finding, which was clicked
    numbers = list(words)
    chosen = st.selectbox(
        "One group",
        numbers,
        index=None,
        format_func=lambda item: words.get(item, str(item)),
        placeholder="Click a row above, or choose one here",
        on_change=_let_go,
        **state.choice("group"),
    )
    if chosen is None:
        return
    row = next((item for item in rows if item.number == chosen), None) or row_of(result, chosen)
    inside = members(result, chosen)
    st.subheader(f"{row.rule_set} ({count(row.n_in)})", anchor=False)
    st.text(
        f"{percent(row.favorable_in.value, row.n_in)} decided favorably inside, "
        f"{percent(row.favorable_out.value, row.n_out)} outside. "
        f"{row.equal:,} other rule sets describe exactly these people; {row.similar:,} share most of them or "
        "differ because of them."
    )
    if row.within is not None:
        st.text("They are compared with the others of the same context.")
    _near(result, rows, chosen)
    titled(SAID["neighbours"])
    figure_card(
        "rule-set-neighbours", drawn(_around, result, chosen), lambda: group_neighbours(result, chosen)
    )
    _made_of(result, chosen)
    own = {rule["attribute"] for rule in row.rules}
    columns = [
        name
        for name in dict.fromkeys((*data.protected, *data.features))
        if name not in own and data.kinds[name] != "text"
    ]
    titled(SAID["profile"])
    everybody = result.people.index.to_numpy(dtype="int64")
    differs = data.asked("rule_sets", "differences", rows=everybody, inside=inside, columns=columns)
    figure_card("rule-set-profile", figures.profile(differs), lambda: differs)
    if (row_chosen := _people(found, data, inside)) is not None:
        person_card(space, found, row_chosen)


def _made_of(result: RuleSetsResult, chosen: int) -> None:
    """What each condition adds to the group's difference, and the groups around it, by decision or error."""
    by = {"decision": "favorable decisions"}  # a box that holds None shows as one in which nothing is chosen
    by |= {each.measure: each.name.lower() for each in result.measures}
    chosen_measure = "decision"
    if len(by) > 1:
        chosen_measure = st.selectbox(
            "By", list(by), format_func=by.__getitem__, width=260, **state.choice("made-of")
        )
    measure = None if chosen_measure == "decision" else chosen_measure
    titled(SAID["conditions"])
    figure_card(
        "rule-set-conditions",
        drawn(_conditions, result, chosen, measure),
        lambda: contributions_of(result, chosen, measure),
    )
    titled(SAID["lattice"])
    figure_card(
        "rule-set-lattice",
        drawn(_lattice, result, chosen, measure),
        lambda: lattice(result, chosen, measure).drop(columns="broader"),
    )


def _near(result: RuleSetsResult, rows: Sequence[LeaderRow], chosen: int) -> None:
    """Rule sets that count as the same finding; a click opens one of them."""
    table = alike(result, chosen, rows)
    if table.empty:
        return
    points = ["difference", "low", "high"]
    table[points] = 100 * table[points]
    numbers = [int(number) for number in table.index[:_MOST_PEOPLE]]
    shown = _whole(table.head(_MOST_PEOPLE).rename(columns=_NEAR))
    decimals = {name: st.column_config.NumberColumn(format="%.1f") for name in _NEAR_POINTS}
    shares = {name: st.column_config.NumberColumn(format="percent") for name in _NEAR_SHARES}
    clicks = clickable("group-alike")
    with st.expander(f"Rule sets alike ({count(len(table))})"):
        st.dataframe(
            shown,
            key=clicks,
            hide_index=True,
            height=300 if len(shown) > 7 else "content",
            column_config={
                **number_columns(shown),
                **decimals,
                **shares,
            },
            on_select=lambda: _open_near(numbers, clicks),
            selection_mode=ROWS,
            alt="Rule sets of the same finding; a click opens the group",
        )


def _open_near(numbers: list[int], clicks: str) -> None:
    place = clicked_row(clicks, len(numbers))
    if place is not None:
        state.set_widget("group-alike-number", numbers[place])
        state.set_widget("group", numbers[place])
        select([{"run": "", "rule": numbers[place]}], "group-alike")


def _people(found: RunResult, data: DataHeld, inside: Any) -> Any:
    st.text("People in the group, lowest score first")
    return choose_row(
        Listed(found, "in rule set", rows=found.audits[0].result.people.index[inside]),
        "rule-set-people",
        "rule-person",
        order=Order("score"),
        beside=raw_cells(data, ("decision", "score")),
        alt="People in the chosen group",
        number="score",
    )


def _overview(result: RuleSetsResult, among: tuple[Any, ...], rows: Sequence[LeaderRow]) -> None:
    titled(SAID["support"])
    figure_card(
        "rule-sets-scatter",
        drawn(_scattered, result, *among),
        lambda: leaderboard_frame(tuple(rows))[["rule set", "support", "difference", "direction"]],
    )
    titled(SAID["sunburst"])
    figure_card(
        "rule-sets-sunburst",
        drawn(_combined, result),
        lambda: combination_tree(result).drop(columns=["id", "parent"]),
    )
    sweep = pd.DataFrame(
        [(row.support, row.n_frequent, row.n_distinct, row.rule_set, row.score) for row in result.sweep],
        columns=["support", "rule sets", "different groups", "largest for", "score"],
    )
    titled(SAID["sweep"])
    figure_card("rule-sets-support", drawn(figures.sweep, result), lambda: sweep)


def _comparisons(result: RuleSetsResult) -> None:
    if not result.comparisons:
        return
    titled(SAID["comparisons"])
    figure_card("rule-set-methods", drawn(figures.comparisons, result), lambda: _methods(result))


def _methods(result: RuleSetsResult) -> pd.DataFrame:
    first = result.leaderboard[0]
    rows = [
        ("rule sets", first.rule_set, first.n_in, "everyone else", first.n_out, first.score),
        *(
            (item.method, item.group, item.n_group, item.against, item.n_against, item.score)
            for item in result.comparisons
        ),
    ]
    ends = [(*row[:-1], row[-1].value, row[-1].low, row[-1].high, row[-1].method) for row in rows]
    columns = ["method", "group", "people", "against", "people against", "score", "low", "high", "interval"]
    return _whole(pd.DataFrame(ends, columns=columns))
