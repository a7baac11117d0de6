"""Rule sets: which hidden intersection of groups does the model decide differently?"""

from __future__ import annotations

import streamlit as st

from app import state, work
from app.drafts import audit_spec
from app.widgets import notices
from app.widgets.frame import page_text, title
from app.widgets.mitigation import mitigation_section
from app.widgets.rule_set_options import choose_options
from app.widgets.rule_set_result import earlier_result, fine_print, show_result
from app.widgets.run_bar import ended_badly, progress, run_button
from app.widgets.subject import source_name, subject_line
from app.widgets.waiting import wait_for
from audits.errors import InputError

space = state.workspace()
draft = space.draft()

if draft is None:
    title("Rule sets")
    st.markdown(page_text("rule_sets_question"))
    st.text("There are no data yet.")
    st.page_link("views/data_model.py", label="Choose data and a model", query_params={"w": space.token})
    st.stop()

try:
    data, summary = wait_for(work.data(space, draft["spec"]["data"]), f"Preparing {source_name(draft)}")
except InputError as error:
    title("Rule sets", subject_line(draft))
    notices.problem(str(error))
    st.page_link("views/data_model.py", label="Settle it on the data page", query_params={"w": space.token})
    st.stop()

title("Rule sets", subject_line(draft, summary))
with st.sidebar:
    try:
        chosen = choose_options(draft, data, summary)
    except InputError as error:
        notices.problem(str(error))
        st.stop()
    bar = st.container()
if chosen is None:
    notices.note("Choose at least one protected attribute, or a column of text.")
    st.stop()

spec = audit_spec(draft, "rule_sets", chosen.options)
try:
    standing = work.standing(space, spec)
except InputError as error:
    notices.problem(str(error))
    st.stop()
with bar:
    run_button(space, spec, chosen.title, standing, chosen.seconds, "run")

if standing.finished:
    found = work.result(space, spec)
    show_result(found, space)
    mitigation_section(space, draft, chosen.options)
    fine_print(found, draft)
    st.stop()

st.markdown(page_text("rule_sets_question"))
with st.container(key="narrow"):  # where the sidebar is folded away
    run_button(space, spec, chosen.title, standing, chosen.seconds, "run-narrow")
if standing.going and standing.run is not None:
    progress(standing.run)
else:
    ended_badly(standing.run)
earlier_result(space, spec)
