"""What a rule-set audit found: the full leaderboard, what makes a group, its people, and training again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from app import state
from app.figure_cache import cached_figure, cached_section
from app.mitigation.result import mitigation_section
from app.tables.listed import Order, PeopleTable, raw_cells
from app.widgets.people.person import person_card
from app.widgets.people.row_choice import WRAPPING, choose_row, clickable_table
from app.widgets.people.selected import let_go, select
from app.widgets.results.exhibits import folded, show_exhibit
from app.widgets.results.figure_card import figure_card, number_columns
from app.widgets.results.result_page import result_page
from app.widgets.waiting import data_of
from app.workspaces.workspace import Workspace
from audits.rule_sets import LeaderRow, RuleSetsResult, alike, leaderboard_frame, members, refine, row_of
from audits.rule_sets.figures import leaderboard as figures
from audits.rule_sets.figures.rows import profile
from audits.rule_sets.record import AUDIT
from audits.rule_sets.sections import SAID, around
from audits.rule_sets.text import GroupNames
from audits.runs.result import RunResult
from audits.stats import EVIDENCE
from audits.stats.text import count, percent, several
from audits.stats.vocabulary import vocabulary
from audits.subgroups.phrases import group_of
from audits.text import begun

if TYPE_CHECKING:
    import plotly.graph_objects as go

_ANY = "either way"
_WAYS = {"harmed": "less often", "advantaged": "more often"}  # no harm is blamed on what may be chance
_LONG = 30  # letters of a group that a line of the list holds
_COLUMNS = {
    "rule set": "group",
    "difference": "difference (points)",
    "low": "low",
    "high": "high",
    "people inside": "people",
    "support": "share of people (%)",
    "favorable inside": "rate (%)",
    "favorable outside": "others (%)",
    "adjusted p": "p (corrected)",
    "verdict": "more than chance",
    "confirmed": "confirmed",
    "sampled score": "on perturbed people",
    "margin": "margin",
    "similar rule sets": "similar rule sets",
}
_NEAR = {
    "rule_set": "group",
    "n_in": "people",
    "favorable_in": "rate (%)",
    "favorable_out": "others (%)",
    "difference": "difference (points)",
    "low": "low",
    "high": "high",
    "adjusted_p": "p (corrected)",
}
_SHARES = ["difference (points)", "low", "high", "share of people (%)", "rate (%)", "others (%)"]
_SHARES += ["on perturbed people", "margin"]
_MAX_ROWS = 1000
_PICTURES = ("conditions", "neighbours", "lattice", "profile")
_ALL_PEOPLE = ("sunburst", "support")


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit."""
    result: RuleSetsResult = found.audits[0].result
    measures = [each.measure for each in result.measures]
    panels: dict[str, Any] = {"who": lambda: _leaderboard(result)}
    if result.leaderboard:
        panels["apart"] = lambda: _apart(found, space)
        panels["people"] = lambda: _people(found, space)
    if measures:
        panels["Errors"] = lambda: _exhibits(result, measures)
    panels["Among all people"] = lambda: _exhibits(result, _ALL_PEOPLE)
    panels["Train again"] = lambda: mitigation_section(space, draft, found.spec["audits"][0]["rule_sets"])
    result_page(
        found,
        draft,
        panels=panels,
        instead=dict.fromkeys((*_PICTURES, *measures, *_ALL_PEOPLE)),
        settings={"inference": result.inference, "sampling": result.sampling},
    )


def _exhibits(result: RuleSetsResult, keys: Sequence[str]) -> None:
    section = cached_section(AUDIT, result)
    for key in keys:
        show_exhibit(section.exhibit(key), name=f"rule-sets-{key}")


def _among(result: RuleSetsResult) -> tuple[Any, ...]:
    """Draw the controls that need no new run, and return which rows they leave, as `_left` takes it."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="rule-filters"):
        smallest = 100 * float(result.options["support"])
        ends = (smallest, max(50.0, smallest + 1))
        support = _slider("Groups of at least (%)", ends, smallest, "at-least")
        tolerated = 100 * float(result.options["tolerance"])
        tolerance = _slider("Tolerated difference (points)", (0.0, 50.0), tolerated, "xi")
        widest = _slider("Margin at most (points)", (0.5, 30.0), 30.0, "widest")
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


def _slider(label: str, ends: tuple[float, float], first: float, key: str) -> float:
    return st.slider(label, *ends, first, step=0.5, format="%.1f", **state.choice(key))


def _left(result: RuleSetsResult, *among: Any) -> tuple[LeaderRow, ...]:
    """Return the leaderboard under the choices of `_among`; that of the last choices lies with the result."""
    own: dict[str, Any] = vars(result)
    before, rows = own.get("leaderboard under choices", (None, ()))
    if before != among:
        names = ("support", "tolerance", "margin", "attributes", "direction")
        rows = refine(result, **dict(zip(names, among, strict=True)))
        own["leaderboard under choices"] = (among, rows)
    return rows


def _leaders(result: RuleSetsResult, *among: Any) -> go.Figure:
    return figures.leaderboard(result, _left(result, *among))


def _leaderboard(result: RuleSetsResult) -> None:
    """Draw every finding under choices that need no new run; a click on a row chooses a group."""
    among = _among(result)
    rows = _left(result, *among)
    if rows:
        numbers = [row.number for row in rows]
        table = leaderboard_frame(tuple(rows)).assign(**{"rule set": [group_of(row.rules) for row in rows]})
        _table(table.rename(columns=_COLUMNS)[list(_COLUMNS.values())], numbers, "leaderboard")
        _choose_group(result)

    def bars() -> None:
        drawn = cached_figure(_leaders, result, *among)
        figure_card("rule-sets", drawn, lambda: leaderboard_frame(tuple(rows)))

    folded("As bars", "fold-rule_sets-bars", bars)


def _table(table: pd.DataFrame, numbers: list[int], name: str) -> None:
    """Draw a table of groups; a click on a row opens the group."""
    people = [column for column in ("people",) if (table[column] % 1 == 0).all()]
    shares = [column for column in _SHARES if column in table]
    table = table.astype(dict.fromkeys(people, "int64"))
    table[shares] = 100 * table[shares].astype(float)
    for mark, yes in (("confirmed", True), ("more than chance", EVIDENCE)):
        if mark in table:
            table[mark] = ["✓" if each == yes else "" for each in table[mark]]
    table = table.drop(columns=[column for column in table if table[column].isna().all()])
    clickable_table(
        table,
        name,
        lambda place: _open(None if place is None else numbers[place], name),
        height=388 if len(table) > 10 else "content",
        row_height=WRAPPING if table["group"].str.len().max() > _LONG else None,
        column_config={
            **number_columns(table),
            **{column: st.column_config.NumberColumn(format="%.1f") for column in shares},
            "group": st.column_config.TextColumn("group", pinned=True, width=200),
        },
        alt="Distinct findings, in rank order; click one to open the group",
    )


def _open(number: int | None, name: str) -> None:
    state.set_widget("group", number)
    if number is not None:
        state.set_widget("group-alike-number", number)
        select([{"run": "", "rule": number}], name)


def _let_go() -> None:
    """Have rows that were clicked be clicked again: the box says another group now."""
    let_go("leaderboard")
    let_go("group-alike")


def _choose_group(result: RuleSetsResult) -> LeaderRow:
    """Let one group be chosen, by default that of the verdict; its people are told in a sentence."""
    rows = {row.number: row for row in result.leaderboard}
    about = next((row for row in result.leaderboard if row.rule_set == result.about), result.leaderboard[0])
    for told in map(str, (state.widget("group-alike-number"), state.address_value("group"))):
        near = int(told) if told.isdigit() else -1
        if near not in rows and near in result.rule_sets.index:
            rows[near] = row_of(result, near)  # one like a finding, which was clicked
    names = {number: f"{group_of(row.rules)} ({count(row.n_in)})" for number, row in rows.items()}
    numbers = list(rows)
    number = st.selectbox(
        "Group",
        numbers,
        index=numbers.index(about.number),
        format_func=names.__getitem__,
        on_change=_let_go,
        **state.choice("group"),
    )
    row = rows[about.number if number is None else number]
    inside, outside = row.favorable_in.value or 0.0, row.favorable_out.value or 0.0
    context = ", the others in the same context" if row.within is not None else ""
    rates = percent(inside, row.n_in, row.n_out), percent(outside, row.n_out, row.n_in)
    equal = several(row.equal, "other rule set") if row.equal else "No other rule set"
    similar = f"{row.similar:,} share" if row.similar > 1 else "1 shares" if row.similar else "none shares"
    st.text(
        f"{rates[0]} {vocabulary().are_yes}, against {rates[1]} of the others{context}. {equal} "
        f"{'describes' if row.equal < 2 else 'describe'} exactly these people; {similar} most of them or "
        f"{'differs' if row.similar < 2 else 'differ'} because of them."
    )
    return row


def _apart(found: RunResult, space: Workspace) -> None:
    """One group: its conditions, the groups around it, how its people differ, and similar rule sets."""
    result: RuleSetsResult = found.audits[0].result
    row = _choose_group(result)
    by = {"decision": vocabulary().share_yes}
    by |= {each.measure: each.name.lower() for each in result.measures}
    measure = None
    with st.container(horizontal=True, vertical_alignment="bottom", key="group-picture"):
        picture = st.segmented_control(
            "Show",
            _PICTURES,
            format_func=lambda key: SAID[key][0],
            default=_PICTURES[0],
            required=True,
            **state.choice("picture"),
        )
        if len(by) > 1 and picture in {"conditions", "lattice"}:
            chosen = st.selectbox(
                "By", list(by), format_func=by.__getitem__, width=260, **state.choice("made-of")
            )
            measure = None if chosen == "decision" else chosen
    if picture == "profile":
        _profile(found, space, row)
    else:
        exhibit = next(each for each in around(result, row.number, measure) if each.key == picture)
        show_exhibit(exhibit, name=f"rule-set-{picture}")
    _near(result, row.number)


def _profile(found: RunResult, space: Workspace, row: LeaderRow) -> None:
    result: RuleSetsResult = found.audits[0].result
    data, _ = data_of(space, found.spec)
    own = {rule["attribute"] for rule in row.rules}
    columns = [
        name
        for name in dict.fromkeys((*data.protected, *data.features))
        if name not in own and data.kinds[name] != "text"
    ]
    everybody = result.people.index.to_numpy(dtype="int64")
    inside = members(result, row.number)
    differs = data.asked("rule_sets", "differences", rows=everybody, inside=inside, columns=columns)
    heading, caption = SAID["profile"]
    figure_card("rule-set-profile", profile(differs), lambda: differs, heading=heading, caption=caption)


def _near(result: RuleSetsResult, number: int) -> None:
    """List rule sets that count as the same finding; a click opens one of them."""
    table = alike(result, number, result.leaderboard)
    if table.empty:
        return
    numbers = [int(each) for each in table.index[:_MAX_ROWS]]
    names = GroupNames(result)
    shown = table.head(_MAX_ROWS).assign(rule_set=[names(each) for each in table["rule_set"][:_MAX_ROWS]])
    with st.expander(f"Rule sets alike ({count(len(table))})", key="rule-sets-alike"):
        _table(shown[list(_NEAR)].rename(columns=_NEAR), numbers, "group-alike")


def _people(found: RunResult, space: Workspace) -> None:
    result: RuleSetsResult = found.audits[0].result
    row = _choose_group(result)
    st.text(f"{begun(group_of(row.rules))}, lowest score first")
    chosen = choose_row(
        PeopleTable(found, "in rule set", rows=result.people.index[members(result, row.number)]),
        "rule-set-people",
        "rule-person",
        order=Order("score"),
        beside=raw_cells(data_of(space, found.spec)[0], ("decision", "score")),
        alt="People in the chosen group",
        number="score",
    )
    if chosen is not None:
        person_card(space, found, chosen)
