"""The controls of an explain audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.tables.held import DataHeld
from app.tables.summary import Summary, audited_size
from app.widgets.audit_page import ChosenOptions
from app.widgets.choices.groups import choose_groups
from app.widgets.choices.stated import stated_number
from audits.checks import build
from audits.data import group_name
from audits.explain import ExplainOptions
from audits.explain.record import AUDIT
from audits.options import option_of

__all__ = ["choose_options"]

_OUTCOMES = {"decision": "the model's decisions", "label": "the labels"}


def choose_options(draft: Mapping[str, Any], data: DataHeld, summary: Summary) -> ChosenOptions | None:
    """Draw the controls; None while no group is chosen."""
    source, target = choose_groups(summary, draft.get("options") or {})
    if not source:
        return None
    apart = {*source, *target, *data.protected}
    usual = [name for name in data.features if name not in apart and data.roles.get(name) != "immutable"]
    named = [name for name in data.frame.columns if name not in {*source, *target, data.label}]
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
    with st.expander("More options"):
        options |= _more(labelled=summary.label is not None)
    checked = build(ExplainOptions, options, "explain")
    seconds = AUDIT.expected_seconds(checked, audited_size(draft, summary))
    return ChosenOptions(options, f"What explains {group_name(source)} and {group_name(target)}", seconds)


def _more(*, labelled: bool) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    if labelled:
        chosen["outcome"] = st.selectbox(
            "The gap of",
            list(_OUTCOMES),
            format_func=_OUTCOMES.__getitem__,
            **state.choice("explain-outcome"),
        )
    for name, label in (
        ("bins", "Levels of a number"),
        ("level", "Error rate"),
        ("material", "A difference matters from (as a share)"),
        ("draws", "Draws for simultaneous intervals"),
    ):
        chosen[name] = stated_number(ExplainOptions, name, label, **state.choice(f"explain-{name}"))
    return {key: value for key, value in chosen.items() if value != option_of(ExplainOptions, key).default}
