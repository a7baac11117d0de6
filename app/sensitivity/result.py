"""What a sensitivity audit found, from the finding down to the single person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.tables.handles import DataHandle
from app.tables.listed import Order, PeopleTable, raw_cells
from app.widgets import notices
from app.widgets.people.person import card_of, in_units
from app.widgets.people.row_choice import choose_row
from app.widgets.people.what_if import what_if_section
from app.widgets.results.figure_card import number_columns
from app.widgets.results.result_page import result_page
from app.widgets.waiting import data_of
from app.workspaces.workspace import Workspace
from audits.runs.result import RunResult
from audits.sensitivity import SensitivityResult, text
from audits.sensitivity.sections import FLAGGED, PROXIES
from audits.stats.text import number


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit."""
    result: SensitivityResult = found.audits[0].result
    result_page(
        found,
        draft,
        panels={
            PROXIES: lambda: _proxies(result),
            FLAGGED: lambda: _flagged_section(result),
            "people": lambda: _people(found, space),
        },
        settings={"method": result.method},
    )


def _proxies(result: SensitivityResult) -> None:
    """Say how well each attribute is guessed from the features, and where there is no match set why."""
    notices.bullets([text.status_sentence(each) for each in result.status])
    st.text(result.match_set_note if result.match_set is None else result.match_set.sentence)


def _flagged_section(result: SensitivityResult) -> None:
    """Say who is flagged, and lead to watching the deployed model by the same threshold."""
    st.text(text.flagged_sentence(result))
    if result.unwatchable:
        st.text(f"This audit cannot be monitored. {result.unwatchable}")
    else:
        st.page_link(
            "views/monitor.py",
            label="Watch the deployed model with this →",
            query_params=state.address("Monitor"),
        )


def _people(found: RunResult, space: Workspace) -> None:
    result: SensitivityResult = found.audits[0].result
    data, _ = data_of(space, found.spec)
    chosen = choose_row(
        PeopleTable(found, "people"),
        "sensitivity-people",
        "person",
        order=Order("sensitivity", falling=True),
        beside=raw_cells(data, result.people.columns),
        alt="People, most sensitive first; a click shows one person's parts by feature",
        number="sensitivity",
    )
    if chosen is not None:
        _person(found, space, chosen, data)


def _person(found: RunResult, space: Workspace, row: Any, data: DataHandle) -> None:
    result: SensitivityResult = found.audits[0].result
    parts = result.contributions.loc[row]
    person = result.people.loc[row]
    total = float(parts.sum())
    own = data.frame.loc[[row], parts.index]
    table = pd.DataFrame(
        {
            "value": [str(own[name].iloc[0]) for name in parts.index],
            "contribution": parts.to_numpy(),
            "share": parts.to_numpy() / total if total > 0 else 0.0,
        },
        index=pd.Index(parts.index, name="feature"),
    ).sort_values("contribution", ascending=False, kind="stable")
    with card_of(row):
        st.text(text.person_sentence(result, row))
        with st.container(key="quiet-person"):
            above = "above" if bool(person["flagged"]) else "below"
            st.text(
                f"Row {row}: sensitivity {number(float(person['sensitivity']))}, {above} the threshold of "
                f"{number(result.threshold.value)}; score {number(float(person['score']))}."
            )
        shares = st.column_config.NumberColumn(format="percent")
        st.dataframe(
            in_units(table, found.spec),
            column_config={**number_columns(table), "share": shares},
            alt=f"Parts of the sensitivity of row {row} by feature",
        )
        what_if_section(space, found, row)
