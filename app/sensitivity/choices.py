"""The controls of a sensitivity audit, and about how long it will take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets.any_audit import options_fold, other_options
from app.widgets.audit_page import ChosenOptions
from app.widgets.choices.counterfactuals import choose_counterfactuals
from audits.options import option_of
from audits.sensitivity.options import SensitivityOptions

_DRAWN = {"protected", "false_alarm_rate", "counterfactuals"}


def choose_options(draft: Mapping[str, Any], data: DataHandle, summary: Summary) -> ChosenOptions | None:
    """Draw the controls; None while no attribute is chosen.

    Raises
    ------
    InputError
        If the model is a column of predictions, which cannot say what a changed person would get.
    """
    names = list(data.protected)
    chosen = st.multiselect(
        "Protected attributes",
        names,
        default=names[:1],
        help="For each, a model learns to predict it from the features. A person's sensitivity is the "
        "largest of them.",
        **state.choice("about"),
    )
    stated = option_of(SensitivityOptions, "false_alarm_rate")
    rate = st.number_input(
        "False alarms (% of the reference people)",
        min_value=0.1,
        max_value=49.0,
        value=100 * stated.default,
        step=0.5,
        format="%g",
        help=stated.help,
        **state.choice("alarm-rate"),
    )
    if not chosen:
        return None
    options: dict[str, Any] = {"protected": chosen if len(chosen) > 1 else chosen[0]}
    if rate != 100 * stated.default:
        options["false_alarm_rate"] = round(rate / 100, 6)
    fold = options_fold("sensitivity")
    options |= other_options("sensitivity", _DRAWN, fold)
    with fold:
        if len(chosen) == 1 and "match_set" not in options:
            options |= choose_counterfactuals(
                draft.get("options") or {},
                data,
                summary,
                {chosen[0]: ""},
                also=chosen,  # one of three groups has to say which other one it would have been
                use="The match set is then made of them instead of the twin.",
            )
    return ChosenOptions(options, f"Sensitivity: {', '.join(chosen)}")
