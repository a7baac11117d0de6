"""Monitor: what a deployed model's predictions look like now, beside the day it was audited."""

from __future__ import annotations

import streamlit as st

from app import state
from app.monitor.dashboard import choose_monitor, watch
from app.monitor.example import stream_of, watch_example
from app.monitor.factory import finished_audits, make_monitor
from app.widgets import notices
from app.widgets.frame import page_text, title
from app.widgets.run_bar import fold
from audits.errors import RunFailed

space = state.workspace()
title("Monitor")

try:
    monitor = choose_monitor(space)
except RunFailed as error:
    notices.problem(str(error))
    st.stop()

stream = stream_of(space.draft()) if monitor is None else None
if monitor is not None:
    watch(monitor, space)
elif stream is not None:
    watch_example(stream)
else:
    st.markdown(page_text("monitor_question"))

if space.read_only:
    st.stop()
audits = finished_audits(space)
with fold("New monitor", "new-monitor", opened=monitor is None and (stream is None or len(audits) > 1)):
    if audits:
        make_monitor(audits, space)
    else:
        st.text("A monitor needs reference predictions: a table with scores or decisions, or a model.")
        st.page_link("views/data_model.py", label="Open a table first", query_params=state.where())
with st.expander("How to read this", key="monitor-reading"):
    st.markdown(page_text("monitor_reading"))
