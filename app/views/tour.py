"""Demo: five screens on a bundled example, for someone who has never seen an audit."""

from __future__ import annotations

import streamlit as st

from app import jobs, state
from app.glance.runs import watch_runs
from app.tour.screens import show_screen
from app.tour.story import AUDITS, pair_values, tell, tour_draft, tour_specs
from app.widgets.audit_page import run_title
from app.widgets.run_bar import ended_badly
from app.widgets.waiting import data_of
from audits.checks import build
from audits.stats.vocabulary import DataWords, speaking

space = state.workspace()
draft = state.remember("tour", lambda: tour_draft(space))
data, _ = data_of(space, draft["spec"], "the example")
specs = tour_specs(draft, data)
missing = [name for name, spec in specs.items() if not jobs.arrives_computed(space, spec)]
if missing:
    runs = {
        name: jobs.status_of(space, specs[name]).run
        or jobs.submit(space, specs[name], run_title(draft, name))
        for name in missing
    }
    st.title("Demo", anchor=False)
    watch_runs({name: run for name, run in runs.items() if not run.finished})
    for run in runs.values():
        ended_badly(run)
    st.stop()

audits = {name: jobs.result(space, spec).audits[0] for name, spec in specs.items()}
if state.address_value("present"):
    st.html("<style>[data-testid='stSidebar'], [data-testid='stHeader'] { display: none; }</style>")
with speaking(build(DataWords, draft["spec"]["data"]["words"], "data.words")):
    story = state.remember("story", lambda: tell(*(audits[name].result for name in AUDITS)))
    show_screen(story, audits, lambda: pair_values(story, data, draft["spec"]["threshold"]))
