"""Page configuration and navigation, nothing else."""

from __future__ import annotations

import streamlit as st

from app.widgets import frame

st.set_page_config(page_title="Evenhand", page_icon=frame.ICON, layout="wide", initial_sidebar_state="auto")
frame.draw(
    {
        "": [
            st.Page("views/data_model.py", title="Data & model", default=True),
            st.Page("views/overview.py", title="Overview"),
        ],
        "Audits": [
            st.Page("views/flipset.py", title="Flipsets"),
            st.Page("views/outcome_transport.py", title="Transport flows"),
            st.Page("views/recourse.py", title="Recourse"),
            st.Page("views/rule_sets.py", title="Rule sets"),
            st.Page("views/loss_ratio.py", title="Individual fairness"),
            st.Page("views/sensitivity.py", title="Prediction sensitivity"),
        ],
        "Deployed": [st.Page("views/monitor.py", title="Monitor")],
        "Take away": [
            st.Page("views/saved.py", title="Report & saved audits"),
            st.Page("views/tour.py", title="Guided demo"),
        ],
    }
)
