"""The controls of a sensitivity audit, and about how long it will take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.drafts.drafts import check_invents
from app.tables.held import DataHeld
from app.tables.summary import Summary
from app.widgets.audit_page import ChosenOptions
from app.widgets.choices.counterfactuals import choose_counterfactuals
from app.widgets.choices.stated import stated_number, stated_switch
from audits.options import option_of, options_of
from audits.records import Size
from audits.runs.registry import AUDITS
from audits.sensitivity.options import SensitivityOptions

__all__ = ["choose_options"]

_MODELS = {"like": "like the audited network", "network": "a network", "logistic": "logistic regression"}


def choose_options(draft: Mapping[str, Any], data: DataHeld, summary: Summary) -> ChosenOptions | None:
    """Draw the controls; None while no attribute is chosen.

    Raises
    ------
    InputError
        If the model is a column of predictions, which cannot say what a changed person would get.
    """
    check_invents(draft)
    names = list(data.protected)
    chosen = st.multiselect(
        "Protected attributes",
        names,
        default=names[:1],
        help="Each gets a model that tells it from the features; a person's sensitivity is the largest.",
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
    with st.expander("More options"):
        options |= _more()
        if len(chosen) == 1 and "match_set" not in options:
            options |= choose_counterfactuals(
                draft.get("options") or {},
                data,
                summary,
                {chosen[0]: ""},
                also=chosen,  # one of three groups has to say which other one it would have been
                use="The match set is then made of them instead of the twin.",
            )
    return ChosenOptions(
        options, f"Sensitivity: {', '.join(chosen)}", _seconds(draft, data, summary, options)
    )


def _more() -> dict[str, Any]:
    def keep(key: str) -> dict[str, Any]:
        return state.choice(f"sensitivity-{key}")

    models, stated = list(_MODELS), SensitivityOptions
    usual = {each.name: each.default for each in options_of(stated)}
    found: dict[str, Any] = {
        "status_model": st.selectbox(
            "Protected-status model", models, format_func=_MODELS.__getitem__, **keep("model")
        ),
        "give_protected": stated_switch(
            stated, "give_protected", "Give it the protected column itself", **keep("give")
        ),
        "gradient": "literal"
        if st.toggle(
            "The paper's literal gradient",
            value=False,
            help=option_of(stated, "gradient").help,
            **keep("literal"),
        )
        else "logit",
        "smooth": stated_number(stated, "smooth", "Draws of noise (SmoothGrad)", **keep("smooth")),
        "level": stated_number(stated, "level", "Error rate", step=0.01, **keep("level")),
        "match_set": "auto"
        if st.toggle(
            "Hold it against a match set",
            value=True,
            help=option_of(stated, "match_set").help,
            **keep("twin"),
        )
        else "off",
    }
    return {key: value for key, value in found.items() if value != usual[key]}


def _seconds(draft: Mapping[str, Any], data: DataHeld, summary: Summary, options: Mapping[str, Any]) -> float:
    trained = draft["spec"]["model"].get("train")
    share = float(draft["spec"]["data"].get("test_size", 0.3)) if trained else 1.0
    size = Size(round(share * data.n), summary.width, trained)
    return AUDITS["sensitivity"].expected_seconds(SensitivityOptions(**options), size)
