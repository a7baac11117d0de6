"""The controls of a group comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.held import DataHeld
from app.summary import Summary
from app.widgets import notices
from app.widgets.audit_page import Chosen

__all__ = ["choose_options"]

_START_SECONDS = {"logistic": 1.0, "forest": 4.0, "boosting": 4.0, "mlp": 12.0}
_LARGEST = "(the largest)"


def choose_options(draft: Mapping[str, Any], data: DataHeld, summary: Summary) -> Chosen | None:
    """Draw the controls; None while nothing is chosen to compare by."""
    names = list(data.protected)
    chosen = st.multiselect("Compare by", names, default=names, **state.choice("by"))
    if not chosen:
        return None
    by: list[Any] = list(chosen)
    if len(chosen) > 1 and st.toggle("And by their intersection", value=True, **state.choice("cross")):
        by.append(list(chosen))
    options: dict[str, Any] = {"by": by}
    with st.expander("More options"):
        reference = {}
        for name in chosen:
            values = [_LARGEST, *(size.value for size in summary.groups[name])]
            value = st.selectbox(
                f"Reference of {notices.label(name)}", values, **state.choice(f"reference-{name}")
            )
            if value != _LARGEST:
                reference[name] = value
        material = st.number_input(
            "A difference matters from (percentage points)",
            min_value=0.5,
            max_value=90.0,
            value=10.0,
            step=1.0,
            format="%g",
            **state.choice("material"),
        )
    if reference:
        options["reference"] = reference
    if material != 10.0:
        options["material"] = material / 100
    model = draft["spec"]["model"]
    return Chosen(
        options, f"Groups of {', '.join(chosen)}", 1.0 + _START_SECONDS.get(model.get("train", ""), 0.0)
    )
