"""What a recourse audit found, from the finding down to one person's way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app.widgets import notices
from app.widgets.export import export_section
from app.widgets.figure_card import figure_card
from app.widgets.frame import page_text
from app.widgets.row_choice import choose_row
from app.widgets.settings import settings_section
from app.workspace import Workspace
from audits.figures import recourse as figures
from audits.figures.recourse_person import person_path
from audits.outcomes import RecourseResult
from audits.runs.result import RunResult
from audits.stats import EVIDENCE
from audits.stats.words import count, number, p_words

__all__ = ["headline", "show_earlier", "show_result"]

_HEADS = {
    "alpha": "smallest α",
    "cost": "burden",
    "fewest": "fewest columns",
    "fewest_columns": "which",
    "fewest_proved": "all smaller sets tried",
}


def show_result(found: RunResult, _: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit, top to bottom; the slider moves through what was scored once."""
    result: RecourseResult = found.audits[0].result
    headline(result)
    for warning in result.warnings:
        notices.note(warning)
    figure_card("recourse", figures.reclassified(result), result.to_frame)
    st.subheader("What changes on the way?", anchor=False)
    figure_card("recourse-steps", figures.sliding(result), result.changes_frame)
    st.subheader("Who has further to go?", anchor=False)
    figure_card("burden", figures.burden(result), result.groups_frame)
    _people(result)
    with st.expander("How to read this"):
        st.markdown(page_text("recourse_reading"))
    with st.expander("What it cannot tell you"):
        st.markdown(page_text("recourse_limits"))
    settings_section(found, coupling=result.certificate)
    with st.expander("Export"):
        export_section(found, draft["source"].get("sample"))


def headline(result: RecourseResult) -> None:
    """Write the finding, its verdict, and how sure it is."""
    with st.container(key="finding"):
        st.text(result.finding)
    with st.container(horizontal=True, vertical_alignment="center", key="verdict"):
        st.badge(result.verdict, color="primary" if result.verdict == EVIDENCE else "gray")
        p = "" if result.burden_p_value is None else f" · burden p {p_words(result.burden_p_value)}"
        st.text(f"{count(result.n_rejected)} rejected, {count(result.n_accepted)} accepted{p}")


def show_earlier(result: RecourseResult) -> None:
    """Draw the head of an earlier result."""
    headline(result)
    config = {"displayModeBar": False}
    st.plotly_chart(figures.reclassified(result), key="figure-earlier", theme=None, config=config)


def _people(result: RecourseResult) -> None:
    st.subheader(f"Rejected people ({count(result.n_rejected)})", anchor=False)
    table = result.people.sort_values("alpha", kind="stable")
    table = table.rename(columns=_HEADS)
    if (table["people"] == 1).all():
        table = table.drop(columns="people")
    chosen = choose_row(
        table,
        "recourse-people",
        "recourse-person",
        alt="Rejected people, those with least far to go first",
    )
    if chosen is not None:
        _person(result, chosen)


def _person(result: RecourseResult, row: Any) -> None:
    """One person: score and columns under a slider that moves in the browser, and the fewest changes."""
    with st.container(border=True, key="person-card"):
        person = result.people.loc[row]
        way = "never accepted" if pd.isna(person["alpha"]) else f"accepted from α {person['alpha']:g}"
        burden = "" if pd.isna(person["cost"]) else f", with a burden of {number(float(person['cost']))}"
        st.text(f"Row {row}: score {number(float(person['score']))} today; {way}{burden}.")
        figure_card("person-path", person_path(result, row), lambda: result.paths.loc[[row]])
        if isinstance(person["fewest_columns"], str):
            sure = "" if person["fewest_proved"] else " (not all smaller sets were tried)"
            st.text(
                f"Fewest columns that have to take their value all the way: {person['fewest_columns']}{sure}"
            )
        elif result.options["fewest"]:
            st.text("No set of these columns turns the decision.")
