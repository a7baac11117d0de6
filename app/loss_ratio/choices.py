"""The controls of a loss-ratio audit, and about how long it will take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.drafts import check_invents
from app.held import DataHeld
from app.summary import Summary
from app.widgets.audit_page import Chosen
from audits.loss_ratio.options import usual_steps

__all__ = ["choose_options"]

_METRICS = {
    "learned": "what predicts a protected attribute",
    "expert": "features I name",
    "factor": "what comparable people differ in",
    "explore": "pairs of comparable people",
}
_LOSSES = {"cross_entropy": "cross-entropy", "squared": "squared (Brier)"}
_SCHEDULES = {"constant": "constant", "decreasing": "falling"}
_COMPARED = {
    "mlp": "neural network",
    "project": "Project",
    "reductions": "Reductions",
    "sensr": "SenSR",
    "logistic": "logistic regression",
}
_START_SECONDS = {
    "logistic": 1.0,
    "forest": 4.0,
    "boosting": 4.0,
    "mlp": 12.0,
    "project": 12.0,
    "reductions": 20.0,
    "sensr": 30.0,
}
_GRADIENT = {"logistic", "mlp", "project", "reductions", "sensr"}
_BLACK_BOX_SECONDS = 60.0
_USUAL = {
    "loss": "cross_entropy",
    "regularizer": 50.0,
    "step_size": 0.01,
    "schedule": "constant",
    "within_range": False,
    "level": 0.05,
    "inference": "robust",
}


def choose_options(draft: Mapping[str, Any], data: DataHeld, summary: Summary) -> Chosen | None:
    """Draw the controls; None while nothing is chosen that should not matter.

    Raises
    ------
    InputError
        If the data have no label, or one outcome only: there is no loss then; or if the model is a column of
        predictions, which cannot say what a changed person would get.
    """
    check_invents(draft)
    data.check_labels()
    metrics = list(_METRICS)
    metric = st.selectbox(
        "What should not matter",
        metrics,
        format_func=_METRICS.__getitem__,
        help="People who differ only in this count as alike, and should be treated alike.",
        **state.choice("metric"),
    )
    options: dict[str, Any] = {}
    if metric == "learned":
        chosen = st.multiselect(
            "Attributes",
            data.sensitive_columns(),
            default=list(data.protected),
            help="Protected attributes and columns of numbers. One cut into groups counts as the number.",
            **state.choice("sensitive"),
        )
        options["sensitive"] = chosen
    elif metric == "expert":
        options |= {"metric": metric}
        chosen = st.multiselect("Features", list(data.features), **state.choice("free"))
        options["free_features"] = chosen
    else:
        columns = [
            name for name, kind in summary.kinds.items() if kind in {"categorical", "ordinal", "integer"}
        ]
        column = st.selectbox("Comparable are people of the same", columns, **state.choice("comparable"))
        chosen = [column] if column else []
        options |= {"metric": metric, "comparable": column}
    if not chosen:
        return None
    if metric == "factor":
        options["factors"] = int(
            st.number_input(
                "Directions that should not matter",
                min_value=1,
                max_value=max(1, summary.width - 1),
                value=min(2, max(1, summary.width - 1)),
                help="Those in which people of the same value differ most.",
                **state.choice("factors"),
            )
        )
    with st.expander("More options"):
        options |= _more(_predicts_number(draft))
        if "predict" not in draft["spec"]["model"]:  # the fair baselines learn favourable or not
            options |= _compared()
    return Chosen(
        options, f"Individual fairness: {', '.join(chosen)}", _seconds(draft, data, summary, options)
    )


def _kept(key: str) -> dict[str, Any]:
    return {"key": f"ratio-{key}", "persist_state": "session"}


def _compared() -> dict[str, Any]:
    chosen = st.multiselect(
        "Compare with models trained anew",
        list(_COMPARED),
        format_func=_COMPARED.__getitem__,
        help="Trains each on several splits of the same people, as the paper's Table 1 does.",
        **_kept("compare"),
    )
    return {"compare": chosen} if chosen else {}


def _predicts_number(draft: Mapping[str, Any]) -> bool:
    spec = draft["spec"]
    return "predict" in spec["model"] and isinstance(spec["data"].get("label"), dict)


def _more(number: bool) -> dict[str, Any]:
    losses, schedules = list(_LOSSES), list(_SCHEDULES)
    found: dict[str, Any] = (
        {}
        if number
        else {"loss": st.selectbox("Loss", losses, format_func=_LOSSES.__getitem__, **_kept("loss"))}
    )
    found |= {
        "regularizer": st.number_input(
            "Price of moving elsewhere (λ)", min_value=0.001, value=50.0, format="%g", **_kept("lambda")
        ),
        "steps": int(
            st.number_input(
                "Steps (T)",
                min_value=1,
                max_value=100_000,
                value=usual_steps(number=number),
                **_kept("number-steps" if number else "steps"),
            )
        ),
        "step_size": st.number_input("Step size", min_value=1e-6, value=0.01, format="%g", **_kept("size")),
        "schedule": st.selectbox(
            "Steps are", schedules, format_func=_SCHEDULES.__getitem__, **_kept("schedule")
        ),
        "within_range": st.toggle(
            "Keep people within observed ranges",
            value=False,
            help="Changes the unfair map: the paper lets people move anywhere.",
            **_kept("range"),
        ),
        "level": st.number_input(
            "Error rate",
            min_value=0.001,
            max_value=0.49,
            value=0.05,
            step=0.01,
            format="%g",
            **_kept("level"),
        ),
    }
    if st.toggle("The paper's own intervals", value=False, **_kept("paper")):
        found["inference"] = "paper"
    usual = {**_USUAL, "steps": usual_steps(number=number)}
    return {key: value for key, value in found.items() if value != usual[key]}


def _seconds(draft: Mapping[str, Any], data: DataHeld, summary: Summary, options: Mapping[str, Any]) -> float:
    model = draft["spec"]["model"]
    trained = model.get("train")
    share = float(draft["spec"]["data"].get("test_size", 0.3)) if trained else 1.0
    thousands = data.n / 20_000
    start = 2.0 + _START_SECONDS.get(trained or "", 0.0) * thousands
    if trained not in _GRADIENT:
        return start + _BLACK_BOX_SECONDS * min(1.0, share * thousands)
    steps = options.get("steps", usual_steps(number=_predicts_number(draft)))
    flow = 4e-10 * share * data.n * steps * 64 * (summary.width + 64)
    each = sum(_START_SECONDS[name] * max(thousands, 0.2) + flow for name in options.get("compare", ()))
    return start + flow + options.get("splits", 5) * each
