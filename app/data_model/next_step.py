"""From the data page on to an audit."""

from __future__ import annotations

import streamlit as st

from app import state


def next_step(ready: bool, *, features: bool = True, trial: str = "ready") -> None:
    """Offer the audit once the data and the model are settled; until then say what is missing.

    Without `features` people cannot be compared one by one: that is said. `trial` says how far the trial of
    the first audits is: only what has run is called ready.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Open At a glance →", type="primary", key="next", disabled=not ready):
            st.switch_page("views/glance.py", query_params=state.address("At a glance"))
        if not ready:
            st.text("Fix the items marked on this page first.")
        elif trial == "refused":
            st.text("Some audits cannot run on these data; this page says why.")
        elif trial == "trying":
            st.text("Trying the first audits on a sample.")
        elif features:
            st.text("Ready to audit.")
        else:
            st.text(
                "With only a label, predictions and groups you can run Groups, Rule sets and Transport "
                "flows. Other audits compare people by features: tick some."
            )
