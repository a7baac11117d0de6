"""Data & model: bring the data, say what the columns mean, choose the model."""

from __future__ import annotations

import streamlit as st

from app import jobs, state
from app.data_model.columns import bins_section, columns_section
from app.data_model.custom_groups import dates_section, made_groups_section
from app.data_model.decision_words import words_section
from app.data_model.import_settings import preview_section, reading_section
from app.data_model.model_check import checked_section
from app.data_model.model_choice import model_section, way_of
from app.data_model.next_step import next_step
from app.data_model.outcome import outcome_section, who_counts
from app.data_model.overview import overview
from app.data_model.quality import (
    BLOCKING,
    SHAPES,
    doctor_section,
    finding_cards,
    findings_left,
    open_findings,
)
from app.data_model.questions import asked_anew, questions, without_questions
from app.data_model.recent_workspaces import recent_section
from app.data_model.rows import left_out_section, rows_section
from app.data_model.sources import example_cards, file_sources
from app.data_model.trial import trial_standing
from app.data_model.value_labels import meanings_section
from app.drafts.drafts import suggest_columns
from app.drafts.validation import problems
from app.tables.columns import as_mended
from app.tables.handles import TableHandle
from app.widgets import notices
from app.widgets.frame import page_text, title
from app.widgets.subject import source_name, subject_line
from app.widgets.waiting import data_of, wait_for
from audits.errors import InputError

space = state.workspace()
if then := state.get("then", ""):  # an example is ready: its home is At a glance
    state.forget("then")
    st.switch_page(then, query_params=state.address("At a glance"))
draft = space.draft()

if draft is None:
    title("Is your model fair to everyone?")
    st.markdown(page_text("welcome"))
    notices.kept_problem("source problem")
    recent_section(space)
    st.subheader("Start with an example", anchor=False)
    example_cards(space)
    st.subheader("Or upload your own table", anchor=False)
    file_sources(space)
    st.stop()

title("Data & model", source_name(draft) if "question" in draft else subject_line(draft))
notices.kept_problem("source problem")
top = st.container()
other = st.expander("Change data", key=f"other-{draft['id']}", on_change="rerun")  # drawn once opened
if other.open:
    with other:
        example_cards(space)
        file_sources(space)

table: TableHandle | None = None
try:
    table, profiles = wait_for(jobs.table(space, draft["spec"]["data"]), f"Reading {source_name(draft)}")
except InputError as error:
    notices.problem(str(error))
    edited = reading_section(draft, None)
    if edited != draft:
        space.save_draft(edited)
        st.rerun()
    st.stop()
profiles = tuple(as_mended(each, draft["spec"]["data"]) for each in profiles)
edited = suggest_columns(draft, profiles)
names = [item.name for item in profiles]
if "question" in edited:
    with top:
        asked_first = open_findings(space, edited, SHAPES)
        edited = doctor_section(space, edited, profiles, only=SHAPES)
        if not asked_first:
            edited = questions(space, edited, profiles, table.shape[0])
        if st.button("Skip the questions", type="tertiary", key="skip-questions"):
            edited = without_questions(edited)
    st.divider()
    reread = reading_section(edited, table)
    edited = edited if reread == edited else asked_anew(reread)
    preview_section(table)
    if edited != draft:
        space.save_draft(edited)
        st.rerun()
    st.stop()

found = problems(space, edited)
if draft["source"].get("sentence"):
    st.text(draft["source"]["sentence"])
decision, columns, rows, quality, rest = st.tabs(
    ["Decision", "Columns", "Rows", "Quality", "Table"], key="part", bind="query-params"
)
if decision.open:
    with decision:
        edited = model_section(space, edited, profiles)
        found.show("model")
        if found.model is not None:
            checked_section(found.model)
        if way_of(edited["spec"]["model"], edited["spec"]["data"]) != "number":
            edited = outcome_section(edited, profiles)
        found.show("outcome")
        edited = words_section(edited, profiles)
if columns.open:
    with columns:
        edited = columns_section(edited, profiles)
        edited = bins_section(edited, profiles)
        edited = meanings_section(edited, profiles)
        found.show("columns")
if rows.open:
    with rows:
        edited = who_counts(edited, names)
        edited = rows_section(edited, names)
        edited = dates_section(edited, profiles)
        edited = made_groups_section(edited)
        found.show("rows")
        if found.summary is not None:
            left_out_section(found.summary, table.report.sentences())
if quality.open:
    with quality:
        edited = doctor_section(space, edited, profiles)
if rest.open:
    with rest:
        edited = reading_section(edited, table)
        preview_section(table)
if edited != draft:
    space.save_draft(edited)
    st.rerun()
found.show("rest")
with top:
    line, standing = st.container(), "ready"
    if found.ready:
        held, _ = data_of(space, edited["spec"], "the data")
        standing = trial_standing(space, edited, held)
    with line:
        overview(space, edited, found, standing)
    if not found.ready or standing == "refused":
        mended = finding_cards(edited, profiles, open_findings(space, edited, BLOCKING), "first-")
        if mended is not edited:
            space.save_draft(mended)
            st.rerun()
    features = found.summary is None or bool(found.summary.features)
    next_step(found.ready, features=features, trial=standing)
    if found.ready and standing == "ready":
        findings_left(space, edited)
