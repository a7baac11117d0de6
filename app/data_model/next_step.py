"""From the data page on to an audit."""

from __future__ import annotations

import streamlit as st

from app import state

__all__ = ["next_step"]


def next_step(ready: bool, key: str) -> None:
    """Offer the audit once the data and the model are settled; until then say what is missing."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Run a flipset audit →", type="primary", key=key, disabled=not ready):
            st.switch_page("views/flipset.py", query_params=state.address("Flipsets"))
        st.text("Data and model are settled." if ready else "First settle what is marked on this page.")
