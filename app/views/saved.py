"""Report & saved audits: what was run, how it ended, what changed between two, and a report of it."""

from __future__ import annotations

import streamlit as st

from app import jobs, state
from app.saved.combined_report import report_of_all
from app.saved.runs import (
    choose_run,
    compare_section,
    erase_section,
    keep_section,
    report_section,
    share_section,
    status_section,
)
from app.widgets import notices
from app.widgets.frame import page_text, title
from audits.errors import InputError, RunFailed
from audits.runs.storage.saved import SavedRuns
from audits.stats.vocabulary import speaking

space = state.workspace()
draft = space.draft()
saved = SavedRuns()

title("Report & saved audits")  # of any data, which each names
st.markdown(page_text("saved_question"))
if draft is not None:
    report_of_all(space, draft)

chosen = choose_run(saved, space)
if chosen is None:
    share_section(space)
    erase_section(space)
    st.stop()

try:
    result = jobs.saved_result(space, chosen.id) if chosen.status == "done" else None
except (InputError, RunFailed) as error:  # deleted or damaged meanwhile
    status_section(space, chosen, None)
    notices.problem(str(error))
    st.stop()
status_section(space, chosen, result)
if result is not None:
    with speaking(result.audits[0].words):
        report_section(space, chosen, result)
        compare_section(saved, space, chosen, result)
keep_section(saved, space, chosen)
share_section(space, chosen, result)
erase_section(space)
