"""What an outcome-transport audit found, from the finding down to one person beside a counterpart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from app import state, work
from app.drawn import drawn
from app.tables.held import DataHeld
from app.tables.listed import Listed, raw_cells
from app.tables.people import beside as people_beside
from app.tables.people import most_different, spreads_of
from app.widgets import notices
from app.widgets.frame import page_text
from app.widgets.people.person import card_of, in_units
from app.widgets.people.row_choice import ROWS, choose_row, clicked_row
from app.widgets.people.selected import clickable, let_go, select
from app.widgets.people.what_if import what_if_section
from app.widgets.results.exhibits import titled
from app.widgets.results.figure_card import figure_card, number_columns
from app.widgets.results.result_frame import fine_print, headline
from app.widgets.waiting import wait_for
from app.workspaces.workspace import Workspace
from audits.outcome_transport import OutcomeTransportResult, blue_college, figures, words
from audits.outcome_transport.exhibits import SAID, judged_as, said
from audits.runs.result import RunResult
from audits.stats.words import count, in_words

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["show_result"]

_MOST_PEOPLE = 1000


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit, top to bottom."""
    result: OutcomeTransportResult = found.audits[0].result
    _headline(result)
    notices.notes(result.warnings)
    titled(said("judged", judged_as(result)))
    figure_card("judged", drawn(figures.judged, result), result.judged_frame)
    titled(SAID["flows"])
    figure_card("outcome_transport", drawn(figures.sankey, result), result.flows_frame, wide=True)
    _flows(result)
    data, _ = wait_for(work.data(space, found.spec["data"], found.spec["seed"]), "Preparing the people")
    _cell(found, space, data)
    table = result.to_frame()
    titled(SAID["bias"])
    figure_card("bias", drawn(figures.bias, result), lambda: table[table["level"] != "subgroup"])
    if (table["level"] == "subgroup").sum() > (table["level"] == "group").sum():
        titled(SAID["subgroup_bias"])
        figure_card(
            "bias-subgroups",
            drawn(figures.bias, result, level="subgroup"),
            lambda: table[table["level"] != "group"],
        )
    if result.by_role:
        titled(SAID["roles"])
        figure_card("bias-roles", drawn(figures.roles, result), result.roles_frame)
    if any(row.quantiles for row in result.by_role):
        titled(SAID["role_spread"])
        figure_card("role-spread", drawn(figures.role_spread, result), result.roles_frame)
    fine_print(
        found,
        draft,
        "outcome_transport",
        beside={"Why equal rates are not enough: Blue College": _simulation},
        coupling=asdict(result.certificate),
    )


def _headline(result: OutcomeTransportResult) -> None:
    headline(words.headline(result), result.judged)


def _flows(result: OutcomeTransportResult) -> None:
    figure = drawn(figures.flow_matrix, result)
    titled(SAID["flow_matrix"])
    figure_card("flow-matrix", figure, result.flows_frame, wide=True, on_point=_open_cell)
    table = result.flows_frame()
    pairs = list(zip(table["from"], table["to"], strict=True))
    shares = ["share", "low", "high", "least optimal", "most optimal", "mass", "part of the bias"]
    percents = {name: st.column_config.NumberColumn(format="percent") for name in shares}
    clicks = clickable("flow-rows")
    st.dataframe(
        table,
        key=clicks,
        hide_index=True,
        height=388 if len(table) > 10 else "content",
        column_config=percents,
        on_select=lambda: _open(pairs, clicks),
        selection_mode=ROWS,
        alt="Flows between subgroups, largest first; a click opens the people",
    )


def _open_cell(cell: list[str]) -> None:
    state.set_widget("flow-from", cell[0])
    state.set_widget("flow-to", cell[1])


def _open(pairs: list[tuple[str, str]], clicks: str) -> None:
    place = clicked_row(clicks, len(pairs))
    if place is not None:
        _open_cell(list(pairs[place]))
        select([{"run": "", "flow": list(pairs[place])}], "flow-rows")


def _let_go() -> None:
    """Have what was clicked be clicked again: the boxes say something else now."""
    let_go("flow-rows")


def _cell(found: RunResult, space: Workspace, data: DataHeld) -> None:
    """The people of one flow, and one of them beside the most similar counterpart."""
    result: OutcomeTransportResult = found.audits[0].result
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source = st.selectbox(
            "People of",
            result.flows.rows,
            index=None,
            format_func=in_words,
            placeholder="Choose",
            on_change=_let_go,
            **state.choice("flow-from"),
        )
        target = st.selectbox(
            "mapped to",
            result.flows.columns,
            index=None,
            format_func=in_words,
            placeholder="Choose",
            on_change=_let_go,
            **state.choice("flow-to"),
        )
    if source is None or target is None:
        return
    people = result.cell(source, target)
    st.subheader(
        notices.label(in_words(f"{source} → {target} ({count(people['people'].sum())})"), longest=120),
        anchor=False,
    )
    if people.empty:
        st.text("Nobody.")
        return
    columns = [name for name in dict.fromkeys((*data.protected, *data.features)) if name in data.frame]
    chosen = choose_row(
        Listed(found, "of flow", {"source": source, "target": target}),
        "flow-people",
        "flow-person",
        beside=raw_cells(data, (), after=" "),
        alt="People of the chosen flow, surest first",
        formats={"share": st.column_config.NumberColumn(format="percent")},
        number="bias",
    )
    if chosen is not None:
        spreads = spreads_of(data, result.people.index, columns)
        _beside(found, data, chosen, target, columns, spreads)
        options = found.audits[0].options
        with st.container(border=True, key="person-what-if"):
            # two policies decide the same people: there is no other group to be like
            what_if_section(space, found, chosen, beside=options.get("target"), of=f"{result.target} person")


def _beside(
    run: RunResult,
    data: DataHeld,
    row: Any,
    target: str,
    columns: list[str],
    spreads: Mapping[str, float],
) -> None:
    """One person beside the most similar counterpart, and all counterparts in the subgroup looked at."""
    result: OutcomeTransportResult = run.audits[0].result
    counterpart = result.people.loc[row, "counterpart"]
    if pd.isna(counterpart):
        st.text("This person is left unmatched.")
        return
    raw = data.frame.loc[[row, counterpart], columns]
    both = people_beside(raw, [f"row {row}", f"most similar counterpart, row {counterpart}"], spreads)
    found = result.counterparts_of(row, target)
    with card_of(row):
        own = in_words(str(result.people.loc[row, "subgroup"]))
        st.text(
            f"The person in row {row} ({own}) is matched with the one in row {counterpart}, among others. "
            f"{most_different(both)}"
        )
        with st.container(key="quiet-person"):
            st.text("A counterpart is a statistical match, not the same person's other life.")
        st.dataframe(in_units(both, run.spec), height="content", alt=f"Row {row} beside row {counterpart}")
        first = f" (the first {_MOST_PEOPLE:,} are shown)" if len(found) > _MOST_PEOPLE else ""
        st.text(f"Counterparts in {in_words(target)}: {count(found['people'].sum())}{first}")
        near = pd.concat(
            [found[["share"]], data.frame.loc[found.index, columns].add_suffix(" ")], axis=1
        ).head(_MOST_PEOPLE)
        near.index.name = "row"
        st.dataframe(
            near,
            key="flow-counterparts",
            height=240 if len(near) > 6 else "content",
            column_config={**number_columns(near), "share": st.column_config.NumberColumn(format="%.2g")},
            alt=f"Counterparts of row {row} in {target}",
        )


def _simulation() -> None:
    st.markdown(page_text("outcome_transport_simulation"))
    rules = st.multiselect(
        "Rules: share admitted",
        [0.05, 0.1, 0.25, 0.5],
        default=[0.1, 0.25, 0.5],
        format_func=lambda rule: f"{100 * rule:g} %",
        **state.choice("college-rules"),
    )
    years = st.slider("Years", 2, 50, 20, **state.choice("college-years"))
    n = st.slider("Applicants of a school each year", 20, 500, 200, 20, **state.choice("college-n"))
    if rules:
        figure, table = _simulated(tuple(sorted(rules)), years, n)
        figure_card("blue-college", figure, lambda: table)


@lru_cache(maxsize=8)
def _simulated(rules: tuple[float, ...], years: int, n: int) -> tuple[go.Figure, pd.DataFrame]:
    table = blue_college(rules, years=years, n=n)
    return figures.blue_college(table), table
