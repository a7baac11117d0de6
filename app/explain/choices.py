"""The controls of an explain audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.drafts.drafts import prediction_column
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets.any_audit import options_fold, other_options
from app.widgets.audit_page import ChosenOptions
from app.widgets.choices.groups import choose_groups
from audits.data import group_name
from audits.explain import ExplainOptions
from audits.options import option_of


def choose_options(draft: Mapping[str, Any], data: DataHandle, summary: Summary) -> ChosenOptions | None:
    """Draw the controls; None while no group is chosen."""
    source, target = choose_groups(summary, draft.get("options") or {})
    if not source:
        return None
    apart = {*source, *target, *data.protected}
    usual = [name for name in data.features if name not in apart and data.roles.get(name) != "immutable"]
    number = draft["spec"]["data"].get("label") if data.numeric else None
    outcomes = {data.label, number, prediction_column(draft)}
    named = [name for name in data.frame.columns if name not in {*source, *target, *outcomes}]
    explainers = st.multiselect(
        "May explain it",
        named,
        default=usual,
        help=option_of(ExplainOptions, "explainers").help,
        **state.choice("explainers"),
    )
    options: dict[str, Any] = {"source": source, "target": target}
    if explainers != usual:
        options["explainers"] = explainers
    drawn = {"source", "target", "explainers"}
    drawn |= {"material", "material_on"} if data.numeric else {"material_amount"}
    drawn |= set() if summary.label is not None else {"outcome"}
    options |= other_options("explain", drawn, options_fold("explain"))
    return ChosenOptions(options, f"What explains {group_name(source)} and {group_name(target)}")
