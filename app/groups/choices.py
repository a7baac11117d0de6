"""The controls of a group comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import streamlit as st

from app import state
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets import notices
from app.widgets.any_audit import options_fold, other_options
from app.widgets.audit_page import ChosenOptions
from app.widgets.choices.amounts import amount_limit
from audits.groups.options import GroupsOptions, Scikit
from audits.options import option_of

_MAX = "(the largest)"
_DRAWN = {"by", "reference", "by_probability", "proxy_error", "material", "material_amount", "metrics"}
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
        if data.numeric:
            options |= amount_limit(GroupsOptions)
        else:
            options |= _points("Smallest difference that matters", "material", (0.5, 90.0), "material")
        metrics = st.multiselect(
            "Further metrics",
            get_args(Scikit),
            format_func=lambda name: name.replace("_", " "),
            help=option_of(GroupsOptions, "metrics").help,
            **state.choice("metrics"),
        )
        options |= other_options("groups", _DRAWN, fold) | ({"metrics": metrics} if metrics else {})
    if reference:
        options["reference"] = reference
    compared = [*chosen, *probable.get("by_probability", ())]
    return ChosenOptions(options, f"Groups of {', '.join(compared)}")


def _points(label: str, name: str, ends: tuple[float, float], key: str) -> dict[str, Any]:
    """Draw an option that is a share in percentage points; return it where it is not the usual."""
    stated = option_of(GroupsOptions, name)
    usual, label = 100 * stated.default, f"{label} (percentage points)"
    how = {"step": 0.5, "format": "%g", "help": stated.help, **state.choice(key)}
    points = st.number_input(label, *ends, usual, **how)
    return {} if points == usual else {name: points / 100}


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
        error = _points("They may be off by", "proxy_error", (0.0, 49.0), "probable-error")
    return {"by_probability": {attribute or "group": {name: name for name in columns}}, **error}
