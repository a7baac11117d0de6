"""The controls of a group comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.held import DataHeld
from app.summary import Summary, audited_size
from app.widgets import notices
from app.widgets.audit_page import Chosen
from audits.checks import build
from audits.groups.options import GroupsOptions
from audits.options import option_of
from audits.runs.registry import AUDITS

__all__ = ["choose_options"]

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
        stated = option_of(GroupsOptions, "material")
        usual = 100 * stated.default
        material = st.number_input(
            "A difference matters from (percentage points)",
            min_value=0.5,
            max_value=90.0,
            value=usual,
            step=1.0,
            format="%g",
            help=stated.help,
            **state.choice("material"),
        )
    if reference:
        options["reference"] = reference
    if material != usual:
        options["material"] = material / 100
    checked = build(GroupsOptions, options, "groups")
    seconds = AUDITS["groups"].expected_seconds(checked, audited_size(draft, summary))
    return Chosen(options, f"Groups of {', '.join(chosen)}", seconds)
