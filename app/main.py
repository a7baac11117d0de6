"""Page configuration and navigation, nothing else."""

from __future__ import annotations

import streamlit as st

from app import state
from app.pages import navigation
from app.widgets import frame

st.set_page_config(page_title="Evenhand", page_icon=frame.ICON, layout="wide", initial_sidebar_state="auto")
with state.one_page():
    frame.draw(navigation())
