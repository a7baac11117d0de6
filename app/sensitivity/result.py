"""What a sensitivity audit found, from the finding down to the single person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import state, work
from app.drawn import drawn, presented
from app.tables.held import DataHeld
from app.tables.listed import Listed, Order, raw_cells
from app.widgets import notices
from app.widgets.people.person import card_of, in_units
from app.widgets.people.row_choice import choose_row
from app.widgets.people.what_if import what_if_section
from app.widgets.results.exhibits import titled
from app.widgets.results.figure_card import figure_card, number_columns
from app.widgets.results.result_frame import fine_print, headline
from app.widgets.waiting import wait_for
from app.workspaces.workspace import Workspace
from audits.runs.result import RunResult
from audits.sensitivity import SensitivityResult, text
from audits.sensitivity.exhibits import SAID, curves_table, metrics_table, sides_table
from audits.sensitivity.figures import people as figures
from audits.sensitivity.record import AUDIT
from audits.stats.words import count, number

__all__ = ["show_result"]


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit, top to bottom."""
    result: SensitivityResult = found.audits[0].result
    _headline(result)
    titled(SAID["by_group"])
    figure_card("sensitivity-groups", drawn(figures.groups, result), result.to_frame)
    notices.notes(result.warnings)
    titled(SAID["histogram"])
    figure_card("sensitivity", drawn(figures.histogram, result), result.histogram_frame)
    own = {each.key: (each.heading, each.caption) for each in presented(AUDIT, result).exhibits}
    for name in result.protected:
        titled(own[f"ridges_{name}"])
        figure_card(f"sensitivity-by-{name}", drawn(figures.ridges, result, name), result.histogram_frame)
    titled(SAID["features"])
    figure_card("sensitivity-features", drawn(figures.features, result), result.features_frame)
    _status(result)
    if result.match_set is None:
        st.subheader("Does it find what an unbiased twin decides otherwise?", anchor=False)
        st.text(result.match_set_note)
    else:
        st.subheader(result.match_set.question, anchor=False)
        st.text(result.match_set.sentence)
        figure_card("sensitivity-match", drawn(figures.match_curves, result), lambda: curves_table(result))
        if result.match_set.sides:
            titled(own["match_sides"])
            figure_card("sensitivity-sides", drawn(figures.match_sides, result), lambda: sides_table(result))
        if result.match_set.metrics:
            titled(own["twin_metrics"])
            figure_card(
                "sensitivity-twin", drawn(figures.twin_metrics, result), lambda: metrics_table(result)
            )
    data, _ = wait_for(work.data(space, found.spec["data"], found.spec["seed"]), "Preparing the people")
    _people(found, space, data)
    if result.unwatchable:
        st.text(f"No monitor can be made of this audit. {result.unwatchable}")
    else:
        st.page_link(
            "views/monitor.py",
            label="Watch the deployed model with this",
            query_params=state.address("Monitor"),
        )
    fine_print(found, draft, "sensitivity", method=result.method)


def _headline(result: SensitivityResult) -> None:
    headline(text.headline(result), result.judged)


def _status(result: SensitivityResult) -> None:
    titled(SAID["status"])
    lines = []
    for each in result.status:
        given = "is given that column" if each.given_protected else "is not given that column"
        lines.append(
            f"{each.attribute}: {each.kind}, {given}, learned from {count(each.trained_on)} rows; "
            f"AUC {number(each.auc.value)} ({number(each.auc.low)}–{number(each.auc.high)}) on people it "
            f"has not seen"
        )
    figure_card("sensitivity-status", drawn(figures.calibration, result), result.calibration_frame)
    with st.container(key="quiet-status"):
        notices.bullets(lines)


def _people(found: RunResult, space: Workspace, data: DataHeld) -> None:
    result: SensitivityResult = found.audits[0].result
    flagged = count(result.above)
    st.subheader(f"People, most sensitive first ({flagged} above the threshold)", anchor=False)
    chosen = choose_row(
        Listed(found, "people"),
        "sensitivity-people",
        "person",
        order=Order("sensitivity", falling=True),
        beside=raw_cells(data, result.people.columns),
        alt="People, most sensitive first; a click shows one person's parts by feature",
        number="sensitivity",
    )
    if chosen is not None:
        _person(found, space, chosen, data)


def _person(found: RunResult, space: Workspace, row: Any, data: DataHeld) -> None:
    result: SensitivityResult = found.audits[0].result
    parts = result.contributions.loc[row]
    person = result.people.loc[row]
    total = float(parts.sum())
    table = pd.DataFrame(
        {
            "value": [str(data.frame.loc[row, name]) for name in parts.index],
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
