"""The controls of a group comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets import notices
from app.widgets.any_audit import options_fold, other_options
from app.widgets.audit_page import ChosenOptions
from audits.groups.options import GroupsOptions
from audits.options import option_of

_MAX = "(the largest)"
_DRAWN = {"by", "reference", "by_probability"}
_NUMBERS = {"continuous", "integer"}


def choose_options(draft: Mapping[str, Any], data: DataHandle, summary: Summary) -> ChosenOptions | None:
    """Draw the controls; None while nothing is chosen to compare by."""
    names = list(data.protected)
    chosen = st.multiselect("Compare by", names, default=names, **state.choice("groups-by"))
    probable = {} if data.numeric else _probable(data)
    if not chosen and not probable:
        return None
    by: list[Any] = list(chosen)
    cross = draft["source"]["kind"] == "sample"  # else only where asked for: it costs all others power
    if len(chosen) > 1 and st.toggle("And by their intersection", value=cross, **state.choice("cross")):
        by.append(list(chosen))
    options: dict[str, Any] = {"by": by, **probable}
    fold = options_fold("groups")
    with fold:
        reference = {}
        for name in chosen:
            values = [_MAX, *(size.value for size in summary.groups[name])]
            value = st.selectbox(
                f"Reference of {notices.label(name)}", values, **state.choice(f"reference-{name}")
            )
            if value != _MAX:
                reference[name] = value
    drawn = _DRAWN | ({"material", "material_on"} if data.numeric else {"material_amount"})
    options |= other_options("groups", drawn if probable else drawn | {"proxy_error"}, fold)
    if reference:
        options["reference"] = reference
    compared = [*chosen, *probable.get("by_probability", ())]
    return ChosenOptions(options, f"Groups of {', '.join(compared)}")


def _probable(data: DataHandle) -> dict[str, Any]:
    """Draw the controls of groups that are known only by probability; return them as options."""
    numbers = [
        name
        for name in data.frame.columns
        if data.kinds.get(name) in _NUMBERS and name not in {*data.protected, data.label}
    ]
    if not numbers:
        return {}
    with st.expander("Membership known only by probability", key="membership"):
        columns = st.multiselect(
            "Columns of probabilities",
            numbers,
            help=f"{option_of(GroupsOptions, 'by_probability').help} Each column is one group; nobody is put "
            "into any.",
            **state.choice("probable"),
        )
        if not columns:
            return {}
        attribute = st.text_input("They are groups of", value="group", **state.choice("probable-of")).strip()
    return {"by_probability": {attribute or "group": {name: name for name in columns}}}
