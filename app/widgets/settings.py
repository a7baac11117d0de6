"""The settings behind a result, as text that can be kept."""

from __future__ import annotations

from typing import Any

import streamlit as st

from audits.runs.documents import dump_yaml
from audits.runs.result import RunResult

__all__ = ["settings_section"]


def settings_section(found: RunResult, **more: Any) -> None:
    """Draw options, threshold, seed, data and model of a run with one audit, and what else is given."""
    document = found.to_json()
    settings = {
        "evenhand": found.evenhand,
        "audit": found.audits[0].options,
        "threshold": found.spec["threshold"],
        "seed": found.spec["seed"],
        "data": document["data"],
        "model": document["model"],
        **more,
    }
    with st.expander("Settings used"):
        st.code(dump_yaml(settings), language="yaml", wrap_lines=True)
