"""The controls of a sensitivity audit, and about how long it will take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.drafts import check_invents
from app.held import DataHeld
from app.summary import Summary
from app.widgets.audit_page import Chosen
from app.widgets.counterfactuals import choose_counterfactuals

__all__ = ["choose_options"]

_MODELS = {"like": "like the audited model", "network": "a network", "logistic": "logistic regression"}
_START_SECONDS = {"logistic": 1.0, "forest": 6.0, "boosting": 6.0, "mlp": 12.0}
_GRADIENT = {"logistic", "mlp", "project", "sensr"}
_USUAL = {
    "status_model": "like",
    "give_protected": False,
    "gradient": "logit",
    "smooth": 0,
    "level": 0.05,
    "match_set": "auto",
}


def choose_options(draft: Mapping[str, Any], data: DataHeld, summary: Summary) -> Chosen | None:
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
    rate = st.number_input(
        "False alarms (% of the reference people)",
        min_value=0.1,
        max_value=49.0,
        value=5.0,
        step=0.5,
        format="%g",
        help="The threshold is the sensitivity that this share of today's people exceeds.",
        key="alarm-rate",
        persist_state="session",
    )
    if not chosen:
        return None
    options: dict[str, Any] = {"protected": chosen if len(chosen) > 1 else chosen[0]}
    if rate != 5.0:
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
    return Chosen(
        options, f"Sensitivity: {', '.join(chosen)}", _seconds(draft, data, summary, options, len(chosen))
    )


def _more() -> dict[str, Any]:
    def keep(key: str) -> dict[str, Any]:
        return {"key": f"sensitivity-{key}", "persist_state": "session"}

    models = list(_MODELS)
    found: dict[str, Any] = {
        "status_model": st.selectbox(
            "Protected-status model", models, format_func=_MODELS.__getitem__, **keep("model")
        ),
        "give_protected": st.toggle(
            "Give it the protected column itself",
            value=False,
            help="Only a column that is among the features can be given.",
            **keep("give"),
        ),
        "gradient": "literal"
        if st.toggle(
            "The paper's literal gradient",
            value=False,
            help="At the probability instead of the log-odds: vanishes where the model is sure.",
            **keep("literal"),
        )
        else "logit",
        "smooth": int(
            st.number_input(
                "Draws of noise (SmoothGrad)", min_value=0, max_value=200, value=0, **keep("smooth")
            )
        ),
        "level": st.number_input(
            "Error rate", min_value=0.001, max_value=0.49, value=0.05, step=0.01, format="%g", **keep("level")
        ),
        "match_set": "auto"
        if st.toggle(
            "Hold it against a match set",
            value=True,
            help="Against an unbiased twin, or true counterfactuals where the data know them.",
            **keep("twin"),
        )
        else "off",
    }
    return {key: value for key, value in found.items() if value != _USUAL[key]}


def _seconds(
    draft: Mapping[str, Any], data: DataHeld, summary: Summary, options: Mapping[str, Any], attributes: int
) -> float:
    trained = draft["spec"]["model"].get("train") or ""
    thousands = data.n / 20_000
    each = _START_SECONDS.get(trained, 4.0) * thousands
    twin = trained and options.get("match_set") != "off" and "counterfactuals" not in options
    twins = 3.0 * each if twin else 0.0
    measuring = 0.0 if trained in _GRADIENT else 0.5 * summary.width * thousands
    return 3.0 + each + twins + attributes * each + measuring * (1 + options.get("smooth", 0) / 10)
