"""What a loss-ratio audit found, from the finding down to the single person."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import state, work
from app.drawn import drawn
from app.tables.held import DataHeld
from app.tables.listed import Listed, Order, raw_cells
from app.widgets import notices
from app.widgets.people.person import card_of
from app.widgets.people.row_choice import choose_row
from app.widgets.people.what_if import what_if_section
from app.widgets.results.exhibits import titled
from app.widgets.results.figure_card import figure_card, number_columns
from app.widgets.results.result_frame import fine_print, headline
from app.widgets.waiting import wait_for
from app.workspaces.workspace import Workspace
from audits.brief import begun
from audits.loss_ratio import LossRatioResult, Standing
from audits.loss_ratio import figures as figures
from audits.loss_ratio.exhibits import SAID
from audits.loss_ratio.text import headline_at, person_sentence
from audits.runs.result import RunResult

__all__ = ["show_result"]

_LARGEST_TOLERANCE = 1000.0


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit, top to bottom; the tolerance moves verdict and figures without a new run."""
    result: LossRatioResult = found.audits[0].result
    top = st.container()
    tolerance = _tolerance(result)
    with top:
        _headline(result, result.at(tolerance))
    titled(SAID["against_tolerance"])
    figure_card(
        "loss-ratio", drawn(figures.against_tolerance, result, tolerance), lambda: result.to_frame(tolerance)
    )
    notices.notes(result.warnings)
    titled(SAID["along_flow"])
    figure_card("loss-ratio-steps", drawn(figures.along_flow, result, tolerance), result.curve_frame)
    titled(SAID["ratios"])
    figure_card("loss-ratio-people", drawn(figures.ratios, result, tolerance), result.histogram_frame)
    titled(SAID["by_group"])
    figure_card("loss-ratio-groups", drawn(figures.by_group, result, tolerance), result.groups_frame)
    titled(SAID["subspace"])
    source = str(result.metric.source)
    with st.container(key="quiet-source"):
        st.text(f"{begun(source)}.")
    figure_card("loss-ratio-subspace", drawn(figures.subspace, result), result.features_frame)
    if result.misspecified:
        titled(SAID["misspecified"])
        figure_card(
            "loss-ratio-turned", drawn(figures.misspecified, result, tolerance), result.misspecified_frame
        )
    _heat_map(result, tolerance)
    _comparison(result)
    data, _ = wait_for(work.data(space, found.spec["data"], found.spec["seed"]), "Preparing the people")
    _people(found, space, data)
    fine_print(found, draft, "loss_ratio", method=result.method, metric=dataclasses.asdict(result.metric))


def _headline(result: LossRatioResult, standing: Standing) -> None:
    said = headline_at(result, standing.loss.tolerance, standing.judged)
    headline(said, standing.judged)


def _tolerance(result: LossRatioResult) -> float:
    """The tolerance chosen, on a slider that reaches beyond what was found."""
    reach = max(result.tolerance, result.lower_bound or 1.0, result.statistic.value or 1.0)
    top = max(3.0, float(math.ceil(1.2 * min(reach, _LARGEST_TOLERANCE))))
    kept = state.widget("delta")
    if kept is not None and kept > top:  # of another result, whose slider reached further
        state.set_widget("delta", top)
    return st.slider(
        "Tolerance δ: the largest mean ratio you accept",
        1.01,
        top,
        min(max(result.tolerance, 1.01), top),
        step=0.01,
        key="delta",
        persist_state="page",
        help="1.25 is the four-fifths rule put the other way round.",
    )


def _heat_map(result: LossRatioResult, tolerance: float) -> None:
    if result.heat_map.empty:
        return
    titled(SAID["heat_map"])
    angles = sorted(result.heat_map["metric angle (degrees)"].unique().tolist())
    angle = st.select_slider(
        "The metric is off by (degrees)",
        angles,
        value=angles[0],
        format_func=lambda item: f"{item:g}",
        key="angle",
    )
    figure_card("loss-ratio-map", drawn(figures.heat_map, result, angle, tolerance), lambda: result.heat_map)


def _comparison(result: LossRatioResult) -> None:
    if not result.comparison:
        return
    st.subheader("Other models on the same people", anchor=False)
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


def _people(found: RunResult, space: Workspace, data: DataHeld) -> None:
    result: LossRatioResult = found.audits[0].result
    st.subheader("People, largest ratio first", anchor=False)
    chosen = choose_row(
        Listed(found, "people"),
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
                "The moved person need not exist: categories are mixed (1 is the whole one), "
                "and numbers may leave their range."
            )
        titled(("What moved", "Each feature before and after the move; the longest bars moved farthest."))
        figure_card("loss-ratio-person", drawn(figures.moved_person, result, row), lambda: moves)
        st.dataframe(moves, column_config=number_columns(moves), alt=f"Row {row} before and after the move")
        what_if_section(space, found, row)
