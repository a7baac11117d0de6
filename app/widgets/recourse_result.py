"""What a recourse audit found, from the finding down to one person's way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.widgets import notices
from app.widgets.export import export_section
from app.widgets.figure_card import csv_bytes, figure_card, number_columns
from app.widgets.frame import page_text
from app.workspace import Workspace
from audits.figures import recourse as figures
from audits.outcomes import RecourseResult
from audits.runs.documents import dump_yaml
from audits.runs.result import RunResult
from audits.stats import EVIDENCE
from audits.stats.words import count, number, p_words, percent_interval

__all__ = ["headline", "show_earlier", "show_result"]

_MOST_PEOPLE = 1000


def show_result(found: RunResult, _: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit, top to bottom; the slider moves through what was scored once."""
    result: RecourseResult = found.audits[0].result
    headline(result)
    for warning in result.warnings:
        notices.note(warning)
    figure_card("recourse", figures.reclassified(result), result.to_frame)
    alpha = st.select_slider(
        "α: how far towards the accepted counterpart", list(result.steps), value=result.steps[-1],
        format_func=lambda step: f"{step:g}", key="alpha", persist_state="page",
    )  # fmt: skip
    at = result.steps.index(alpha)
    row = result.by_alpha[at]
    st.text(
        f"At α = {alpha:g}: {percent_interval(row.reclassified)} accepted, mean score "
        f"{number(row.mean_score.value)}"
    )
    figure_card("recourse-scores", figures.score_distribution(result, alpha), result.to_frame)
    st.subheader("Who has further to go?", anchor=False)
    figure_card("burden", figures.burden(result), result.groups_frame)
    st.subheader("What changes on the way?", anchor=False)
    figure_card("changes", figures.changes(result), result.changes_frame)
    _people(result, alpha)
    with st.expander("How to read this"):
        st.markdown(page_text("recourse_reading"))
    with st.expander("What it cannot tell you"):
        st.markdown(page_text("recourse_limits"))
    with st.expander("Settings used"):
        st.code(dump_yaml(_settings(found, result)), language="yaml", wrap_lines=True)
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


def _people(result: RecourseResult, alpha: float) -> None:
    st.subheader(f"Rejected people ({count(result.n_rejected)})", anchor=False)
    table = result.people.sort_values("alpha", kind="stable")
    rows = [str(row) for row in table.index]
    st.dataframe(
        table.head(_MOST_PEOPLE),
        key="recourse-people",
        height=300,
        column_config=number_columns(table),
        on_select=lambda: _open(rows),
        selection_mode="single-row",
        alt="Rejected people, those with least far to go first",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            "One person, by row number",
            rows,
            index=None,
            placeholder="Click a row above, or choose one here",
            width=320,
            **state.choice("recourse-person"),
        )
        st.download_button(
            "People (CSV)",
            data=lambda: csv_bytes(table),
            file_name="recourse-people.csv",
            mime="text/csv",
            on_click="ignore",
        )
    if chosen is not None:
        _person(result, table.index[rows.index(chosen)], alpha)


def _open(rows: list[str]) -> None:
    selected = state.widget("recourse-people")["selection"]["rows"]
    if selected and selected[0] < len(rows):
        state.set_widget("recourse-person", rows[selected[0]])


def _person(result: RecourseResult, row: Any, alpha: float) -> None:
    """One person: the score by α, and the columns today and at the slider's α."""
    figure_card("ladder", figures.ladder(result, row), lambda: result.scores.loc[[row]])
    own = result.paths.loc[[row]].set_index("alpha")
    values = [f"value of {name}" for name in result.columns]
    ladder = pd.DataFrame(
        {
            "today": own.loc[result.steps[0], values].astype(str).to_numpy(),
            f"at α = {alpha:g}": own.loc[alpha, values].astype(str).to_numpy(),
        },
        index=pd.Index(result.columns, name="column"),
    )
    with st.container(border=True, key="person-card"):
        step = own[["score", "decision"]].loc[[alpha]].to_dict("records")[0]
        outcome = "accepted" if step["decision"] else "rejected"
        st.text(f"Row {row} at α = {alpha:g}: score {number(float(step['score']))}, {outcome}.")
        st.dataframe(ladder, height="content", alt=f"Columns of row {row} today and at α {alpha:g}")
        fewest = result.people.loc[row, "fewest_columns"]
        if isinstance(fewest, str):
            st.text(f"Fewest columns that have to take their value at α = 1: {fewest}")


def _settings(found: RunResult, result: RecourseResult) -> dict[str, Any]:
    document = found.to_json()
    return {
        "evenhand": found.evenhand,
        "audit": found.audits[0].options,
        "threshold": found.spec["threshold"],
        "seed": found.spec["seed"],
        "data": document["data"],
        "model": document["model"],
        "coupling": result.certificate,
    }
