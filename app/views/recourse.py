"""Recourse: what could rejected people change, and does one group have further to go?"""

from __future__ import annotations

import streamlit as st

from app import state, work
from app.drafts import audit_spec
from app.widgets import notices
from app.widgets.earlier import earlier_result
from app.widgets.frame import page_text, title
from app.widgets.recourse_options import choose_options
from app.widgets.recourse_result import show_earlier, show_result
from app.widgets.run_bar import ended_badly, progress, run_button
from app.widgets.subject import source_name, subject_line
from app.widgets.waiting import wait_for
from audits.errors import InputError

space = state.workspace()
draft = space.draft()

if draft is None:
    title("Recourse")
    st.markdown(page_text("recourse_question"))
    st.text("There are no data yet.")
    st.page_link("views/data_model.py", label="Choose data and a model", query_params={"w": space.token})
    st.stop()

try:
    data, summary = wait_for(work.data(space, draft["spec"]["data"]), f"Preparing {source_name(draft)}")
except InputError as error:
    title("Recourse", subject_line(draft))
    notices.problem(str(error))
    st.page_link("views/data_model.py", label="Settle it on the data page", query_params={"w": space.token})
    st.stop()

title("Recourse", subject_line(draft, summary))
with st.sidebar:
    chosen = choose_options(draft, data, summary)
    bar = st.container()
if chosen is None:
    notices.note("Choose at least one column that a person can change, and an attribute to compare by.")
    st.stop()

spec = audit_spec(draft, "recourse", chosen.options)
try:
    standing = work.standing(space, spec)
except InputError as error:
    notices.problem(str(error))
    st.stop()
with bar:
    run_button(space, spec, "Recourse", standing, chosen.seconds, "run")

if standing.finished:
    show_result(work.result(space, spec), draft)
    st.stop()

st.markdown(page_text("recourse_question"))
with st.container(key="narrow"):  # where the sidebar is folded away
    run_button(space, spec, "Recourse", standing, chosen.seconds, "run-narrow")
if standing.going and standing.run is not None:
    progress(standing.run)
else:
    ended_badly(standing.run)
earlier_result(space, spec, "recourse", show_earlier)
