"""Data & model: bring the data, say what the columns mean, choose the model."""

from __future__ import annotations

import streamlit as st

from app import state, work
from app.data_model.columns import bins_section, columns_section
from app.data_model.decision_words import words_section
from app.data_model.doctor import doctor_section
from app.data_model.made_groups import made_groups_section
from app.data_model.meanings import meanings_section
from app.data_model.model_check import checked_section
from app.data_model.model_choice import model_section
from app.data_model.next_step import next_step
from app.data_model.outcome import outcome_section
from app.data_model.overview import overview
from app.data_model.reading import preview_section, reading_section
from app.data_model.recent import recent_section
from app.data_model.rows import left_out_section, rows_section
from app.data_model.sources import example_cards, file_sources, source_problem
from app.drafts.drafts import suggest_columns
from app.drafts.validation import problems
from app.tables.held import TableHeld
from app.widgets import notices
from app.widgets.frame import page_text, title
from app.widgets.subject import source_name, subject_line
from app.widgets.waiting import wait_for
from audits.errors import InputError

space = state.workspace()
if then := state.get("then", ""):  # an example is ready: its home is At a glance
    state.forget("then")
    st.switch_page(then, query_params=state.address("At a glance"))
draft = space.draft()

if draft is None:
    title("Data & model")
    st.markdown(page_text("welcome"))
    source_problem()
    recent_section(space)
    st.subheader("Start with an example", anchor=False)
    example_cards(space)
    st.subheader("Or bring your own table", anchor=False)
    file_sources(space)
    st.stop()

title("Data & model", subject_line(draft))
source_problem()
top = st.container()
other = st.expander("Change data", key=f"other-{draft['id']}", on_change="rerun")  # drawn once opened
if other.open:
    with other:
        example_cards(space)
        file_sources(space)

st.header("Data", anchor=False)
if draft["source"].get("sentence"):
    st.text(draft["source"]["sentence"])
table: TableHeld | None = None
try:
    table, profiles = wait_for(work.table(space, draft["spec"]["data"]), f"Reading {source_name(draft)}")
except InputError as error:
    notices.problem(str(error))
edited = reading_section(draft, table)
if table is None or edited != draft:
    if edited != draft:
        space.save_draft(edited)
        st.rerun()
    st.stop()
edited = suggest_columns(edited, profiles)
preview_section(table)
found = problems(space, edited)

names = [item.name for item in profiles]
edited = doctor_section(space, edited, profiles)
if edited.get("mended") != draft.get("mended") or edited.get("as it is") != draft.get("as it is"):
    space.save_draft(edited)
    st.rerun()
st.header("Columns", anchor=False)
edited = columns_section(edited, profiles)
edited = bins_section(edited, profiles)
edited = meanings_section(edited, profiles)
found.show("columns")
st.header("Outcome", anchor=False)
edited = outcome_section(edited, profiles)
edited = words_section(edited, profiles)
found.show("outcome")
st.header("Rows", anchor=False)
edited = rows_section(edited, names)
edited = made_groups_section(edited)
found.show("rows")
if found.summary is not None:
    left_out_section(found.summary, table.report.sentences())
st.header("Model", anchor=False)
edited = model_section(space, edited, profiles)
found.show("model")
if found.model is not None:
    checked_section(found.model)
if edited != draft:
    space.save_draft(edited)
    st.rerun()

st.divider()
found.show("rest")
for place, key in ((top, "next-top"), (st.container(), "next")):
    with place:
        if place is top:
            overview(space, edited, found)
        next_step(found.ready, key, features=found.summary is None or bool(found.summary.features))
