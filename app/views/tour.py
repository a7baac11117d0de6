"""Guided demo: five findings on a bundled example, for somebody who has never seen an audit."""

from __future__ import annotations

import streamlit as st

from app import state, work
from app.tour.steps import STEPS, show_step, tour_spec
from app.widgets.frame import page_text, title
from app.widgets.run_bar import ended_badly, progress, run_button

space = state.workspace()
spec = state.remember("tour", lambda: tour_spec(space))
standing = work.standing(space, spec)

title("Guided demo", "Bundled example: loans")
if not standing.finished:
    st.markdown(page_text("tour_question"))
    run_button(space, spec, "Guided demo", standing, 30.0, "run")
    if standing.going and standing.run is not None:
        progress(standing.run)
    else:
        ended_badly(standing.run)
    st.stop()

step = st.segmented_control(
    "Finding", list(STEPS), default=1, format_func=STEPS.__getitem__, **state.choice("step")
)
show_step(work.result(space, spec), step or 1)
