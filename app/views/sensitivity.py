"""Prediction sensitivity: is this very prediction driven by protected status?"""

from __future__ import annotations

import streamlit as st

from app import state, work
from app.drafts import audit_spec
from app.widgets import notices
from app.widgets.earlier import earlier_result
from app.widgets.frame import page_text, title
from app.widgets.run_bar import ended_badly, progress, run_button
from app.widgets.sensitivity_options import choose_options
from app.widgets.sensitivity_result import show_earlier, show_result
from app.widgets.subject import source_name, subject_line
from app.widgets.waiting import wait_for
from audits.errors import InputError

space = state.workspace()
draft = space.draft()

if draft is None:
    title("Prediction sensitivity")
    st.markdown(page_text("sensitivity_question"))
    st.text("There are no data yet.")
    st.page_link("views/data_model.py", label="Choose data and a model", query_params={"w": space.token})
    st.stop()

try:
    data, summary = wait_for(work.data(space, draft["spec"]["data"]), f"Preparing {source_name(draft)}")
except InputError as error:
    title("Prediction sensitivity", subject_line(draft))
    notices.problem(str(error))
    st.page_link("views/data_model.py", label="Settle it on the data page", query_params={"w": space.token})
    st.stop()

title("Prediction sensitivity", subject_line(draft, summary))
with st.sidebar:
    chosen = choose_options(draft, data, summary)
    bar = st.container()
if chosen is None:
    notices.note("Choose at least one protected attribute.")
    st.stop()

spec = audit_spec(draft, "sensitivity", chosen.options)
try:
    standing = work.standing(space, spec)
except InputError as error:
    notices.problem(str(error))
    st.stop()
with bar:
    run_button(space, spec, chosen.title, standing, chosen.seconds, "run")

if standing.finished:
    show_result(work.result(space, spec), space, draft)
    st.stop()

st.markdown(page_text("sensitivity_question"))
with st.container(key="narrow"):  # where the sidebar is folded away
    run_button(space, spec, chosen.title, standing, chosen.seconds, "run-narrow")
if standing.going and standing.run is not None:
    progress(standing.run)
else:
    ended_badly(standing.run)
earlier_result(space, spec, "sensitivity", show_earlier)
