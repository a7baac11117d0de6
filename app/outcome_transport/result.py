"""What an outcome-transport audit found: the page from the record, with the people of a flow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.figure_cache import cached_figure, cached_section
from app.tables.handles import DataHandle
from app.tables.listed import PeopleTable, raw_cells
from app.tables.people import beside as people_beside
from app.tables.people import most_different, spreads_of
from app.widgets import notices
from app.widgets.people.person import card_of, in_units
from app.widgets.people.row_choice import choose_row
from app.widgets.people.what_if import what_if_section
from app.widgets.results.exhibits import show_exhibit
from app.widgets.results.figure_card import number_columns
from app.widgets.results.result_page import result_page
from app.widgets.waiting import data_of
from app.workspaces.workspace import Workspace
from audits.outcome_transport import OutcomeTransportResult
from audits.outcome_transport.figures import flow_list
from audits.outcome_transport.sections import MAX_NARROW
from audits.outcome_transport.text import source_words, subgroup_words
from audits.records import Exhibit
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult
from audits.stats.text import count

MAX_PEOPLE = 1000


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit: the interval that decides and the map first, then flows and people."""
    result = found.audits[0].result
    flows = cached_section(AUDITS["outcome_transport"], result).exhibit("flows")
    result_page(
        found,
        draft,
        panels={"people": lambda: _people(found, space)},
        instead={"judged": partial(_hero, flows), "flows": None, "flow_matrix": partial(_matrix, result)},
        below_hero=flows.figure().layout.height or 0,
    )


def _hero(flows: Exhibit, judged: Exhibit) -> None:
    show_exhibit(judged, name="judged")
    with st.container(key="not-narrow-flows"):  # a phone has the table of bars in its place
        show_exhibit(flows, on_point=_open)


def _matrix(result: OutcomeTransportResult, exhibit: Exhibit) -> None:
    """Draw the table of bars; where it has more columns than a phone has room for, that has a list."""
    if len(result.flows.columns) <= MAX_NARROW:
        show_exhibit(exhibit, on_point=_open)
        return
    with st.container(key="not-narrow-matrix"):
        show_exhibit(exhibit, on_point=_open)
    with st.container(key="only-narrow-flows"):
        own = replace(exhibit, key="flow_list", figure=partial(cached_figure, flow_list, result), wide=False)
        show_exhibit(own, on_point=_open)


def _open(flow: list[str]) -> None:
    state.set_widget("flow-from", flow[0])
    state.set_widget("flow-to", flow[1])


def _word_for(words: Mapping[str, str], name: str) -> str:
    return words.get(name, name)


def _people(found: RunResult, space: Workspace) -> None:
    """List the people of one flow; one who is chosen stands beside the most similar match."""
    result: OutcomeTransportResult = found.audits[0].result
    data, _ = data_of(space, found.spec)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source, target = (
            st.selectbox(
                label,
                names,
                index=None,
                format_func=partial(_word_for, {name: words(name) for name in names}),
                placeholder="Choose",
                **state.choice(key),
            )
            for label, names, words, key in (
                ("People of", result.flows.rows, partial(source_words, result), "flow-from"),
                ("mapped to", result.flows.columns, subgroup_words, "flow-to"),
            )
        )
    if source is None or target is None:
        st.text("Choose a flow, or click a band or a bar.")
        return
    people = result.cell(source, target)
    of = f"{source_words(result, source)} → {subgroup_words(target)} ({count(people['people'].sum())})"
    st.subheader(notices.label(of, longest=120), anchor=False)
    if people.empty:
        st.text("Nobody.")
        return
    chosen = choose_row(
        PeopleTable(found, "of flow", {"source": source, "target": target}),
        "flow-people",
        "flow-person",
        beside=raw_cells(data, (), after=" "),
        alt="People of the chosen flow, most certain first",
        formats={"share": st.column_config.NumberColumn(format="percent")},
        number="bias",
    )
    if chosen is not None:
        _beside(found, data, chosen, target)
        with st.container(border=True, key="person-what-if"):
            # two policies decide the same people: there is no other group to be like
            group = found.audits[0].options.get("target")
            what_if_section(space, found, chosen, beside=group, of=f"{result.target} person")


def _beside(run: RunResult, data: DataHandle, row: Any, target: str) -> None:
    """Draw one person beside the most similar match, and all matches in the subgroup looked at."""
    result: OutcomeTransportResult = run.audits[0].result
    columns = [name for name in dict.fromkeys((*data.protected, *data.features)) if name in data.frame]
    counterpart = result.people.loc[row, "counterpart"]
    if pd.isna(counterpart):
        st.text("This person is left unmatched.")
        return
    raw = data.frame.loc[[row, counterpart], columns]
    spreads = spreads_of(data, result.people.index, columns)
    both = people_beside(raw, [f"row {row}", f"most similar match, row {counterpart}"], spreads)
    found = result.counterparts_of(row, target)
    with card_of(row):
        own = source_words(result, str(result.people.loc[row, "subgroup"]))
        st.text(f"Row {row} ({own}) is matched with row {counterpart}, among others. {most_different(both)}")
        st.caption(
            "A match is a statistical comparison. It does not show how the same person would have "
            "lived in another group."
        )
        st.dataframe(in_units(both, run.spec), height="content", alt=f"Row {row} beside row {counterpart}")
        first = f" (the first {MAX_PEOPLE:,} are shown)" if len(found) > MAX_PEOPLE else ""
        st.text(f"Matches among {subgroup_words(target)}: {count(found['people'].sum())}{first}")
        near = pd.concat(
            [found[["share"]], data.frame.loc[found.index, columns].add_suffix(" ")], axis=1
        ).head(MAX_PEOPLE)
        near.index.name = "row"
        st.dataframe(
            near,
            key="flow-counterparts",
            height=240 if len(near) > 6 else "content",
            column_config={**number_columns(near), "share": st.column_config.NumberColumn(format="%.2g")},
            alt=f"Matches of row {row} in {target}",
        )
