"""From the data page on to an audit."""

from __future__ import annotations

import streamlit as st

from app import state

__all__ = ["next_step"]


def next_step(ready: bool, key: str, *, features: bool = True) -> None:
    """Offer the audit once the data and the model are settled; until then say what is missing.

    Without `features` people cannot be compared one by one: the groups' rates are offered then.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        if ready and not features:
            if st.button("Compare the groups →", type="primary", key=key):
                st.switch_page("views/groups.py", query_params=state.address("Overview"))
            st.text(
                "Label, predictions and groups alone allow the overview, rule sets and transport flows: what "
                "compares people by features needs some ticked."
            )
            return
        if st.button("Run a flipset audit →", type="primary", key=key, disabled=not ready):
            st.switch_page("views/flipset.py", query_params=state.address("Flipsets"))
        st.text("Data and model are settled." if ready else "First settle what is marked on this page.")
