"""What a loss-ratio audit found, at any tolerance, and its people."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.figure_cache import cached_figure
from app.tables.listed import Order, PeopleTable, raw_cells
from app.widgets.people.person import card_of
from app.widgets.people.row_choice import choose_row
from app.widgets.people.what_if import what_if_section
from app.widgets.results.figure_card import figure_card, number_columns
from app.widgets.results.result_page import result_page
from app.widgets.waiting import data_of
from app.workspaces.workspace import Workspace
from audits.loss_ratio import LossRatioResult, figures
from audits.loss_ratio.text import person_sentence
from audits.runs.result import RunResult

_MAX_TOLERANCE = 1000.0


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit; the tolerance moves verdict and figures without a new run."""
    result: LossRatioResult = found.audits[0].result
    top = _top(result)
    chosen = min(float(state.widget("delta") or result.tolerance), top)
    moved = result if chosen == result.tolerance else result.at(chosen)
    audits = (dataclasses.replace(found.audits[0], result=moved), *found.audits[1:])
    panels: dict[str, Any] = {
        "Limit": lambda: _tolerance(moved, top),
        "people": lambda: _people(found, space),
    }
    if result.comparison:
        panels["Other models"] = lambda: _comparison(result)
    result_page(
        dataclasses.replace(found, audits=type(found.audits)(audits)),
        draft,
        panels=panels,
        settings={"method": result.method, "metric": dataclasses.asdict(result.metric)},
    )


def _top(result: LossRatioResult) -> float:
    """Return how far the slider of the tolerance reaches: beyond what was found."""
    reach = max(result.tolerance, result.lower_bound or 1.0, result.statistic.value or 1.0)
    return max(3.0, float(math.ceil(1.2 * min(reach, _MAX_TOLERANCE))))


def _tolerance(result: LossRatioResult, top: float) -> None:
    """Draw the slider of the tolerance, and both ratios at it."""
    if (state.widget("delta") or 0.0) > top:  # of another result, whose slider reached further
        state.set_widget("delta", top)
    st.slider(
        "Limit δ: the largest mean ratio you accept",
        1.01,
        top,
        min(max(result.tolerance, 1.01), top),
        step=0.01,
        key="delta",
        persist_state="page",
        help="1.25 is the four-fifths rule, inverted.",
    )
    st.text(result.finding)
    table = result.to_frame()
    st.dataframe(
        table,
        hide_index=True,
        column_config=number_columns(table),
        alt="Both ratios with interval, one-sided bound and test at this limit",
    )


def _comparison(result: LossRatioResult) -> None:
    """Draw models trained anew on the same people, a row each."""
    table = result.comparison_frame().drop(columns=["average_odds_difference", "average_odds_difference_sd"])
    odds = pd.DataFrame(
        [
            {f"odds difference, {name}": value for name, value in row["average_odds_difference"].items()}
            for row in result.comparison
        ]
    )
    table = pd.concat([table, odds], axis=1)
    st.dataframe(
        table,
        hide_index=True,
        column_config=number_columns(table),
        alt="Models trained anew on repeated splits: accuracy, group differences, loss ratio",
    )


def _people(found: RunResult, space: Workspace) -> None:
    result: LossRatioResult = found.audits[0].result
    data, _ = data_of(space, found.spec)
    chosen = choose_row(
        PeopleTable(found, "people"),
        "ratio-people",
        "person",
        order=Order("ratio", falling=True),
        beside=raw_cells(data, result.people.columns),
        alt="People moved, largest ratio first; a click shows one person before and after",
        of=list(result.worst),
        label=f"One of the {len(result.worst):,} largest ratios, by row number",
        number="ratio",
    )
    if chosen is not None:
        _person(found, space, chosen)


def _person(found: RunResult, space: Workspace, row: Any) -> None:
    result: LossRatioResult = found.audits[0].result
    moves = result.moves[result.moves["row"] == row].drop(columns="row").set_index("feature")
    with card_of(row):
        st.text(person_sentence(result, row))
        with st.container(key="quiet-person"):
            st.text(
                "The moved person need not exist: categories can be mixed (1 is the whole category), and "
                "numbers can leave their range."
            )
        figure_card(
            "loss-ratio-person",
            cached_figure(figures.moved_person, result, row),
            lambda: moves,
            heading="What moved",
            caption="Each feature before and after the move. The longest bars moved farthest.",
        )
        what_if_section(space, found, row)
