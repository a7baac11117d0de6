"""Compare models: what changes with a second model on the same people, in every audit."""

from __future__ import annotations

import streamlit as st

from app import jobs, state
from app.compare.choices import both_words, checked_model, choose_audits, choose_model, seconds_of
from app.compare.result import show_result
from app.widgets import notices
from app.widgets.audit_page import open_data
from app.widgets.choices.stand_in import offer_stand_in, stand_in_note
from app.widgets.frame import page_text
from app.widgets.run_bar import fold, run_button, settings_fold, show_standing
from app.widgets.subject import source_name
from audits.errors import InputError

space = state.workspace()
draft, data, summary = open_data(space, "Compare models", page_text("compare_question"))
stand_in_note(space, draft)
question = st.container()
compared = any("compare" in record["spec"] for record in space.runs())
unlearned = st.container()
with fold("The second model", "second-model", opened=not compared):
    edited = choose_model(space, draft)
if edited.get("compare") != draft.get("compare") and not space.read_only:
    space.save_draft(edited)
    draft = edited
with st.sidebar:
    with settings_fold(done=compared):
        asked = choose_audits(space, edited, data)
    bar = st.container()
if "train" in (edited["compare"].get("model") or {}) and not data.labeled:
    with question:
        st.markdown(page_text("compare_question"))
    with unlearned:
        st.text(
            "These data have no outcome, so a second model cannot be trained on them. Upload one as a file, "
            "or choose another column of decisions."
        )
        if "predictions" in draft["spec"]["model"]:
            offer_stand_in(space, draft, data)
    st.stop()
if not asked:
    notices.note("Choose at least one audit to run on both models.")
    st.stop()
try:
    spec = {
        **edited["spec"],
        "compare": checked_model(edited),
        "audits": [{name: options} for name, options in asked.items()],
    }
    seconds = seconds_of(asked, edited, summary)
    standing = jobs.status_of(space, spec)
except InputError as error:
    with question:
        st.markdown(page_text("compare_question"))
    notices.problem(str(error))
    st.stop()
name = f"{source_name(edited)} · {both_words(edited)} compared"
with bar:
    run_button(space, spec, name, standing, seconds, "run", label="Compare")
if standing.finished:
    show_result(jobs.result(space, spec), space, edited)
    st.stop()
with question:
    st.markdown(page_text("compare_question"))
with st.container(key="narrow"):
    run_button(space, spec, name, standing, seconds, "run-narrow", label="Compare")
show_standing(standing)
