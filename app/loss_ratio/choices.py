"""The controls of a loss-ratio audit, and about how long it will take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets.any_audit import options_fold, other_options
from app.widgets.audit_page import ChosenOptions

_METRICS = {
    "learned": "proxies for a group",
    "expert": "features or directions I name",
    "factor": "what comparable people differ in",
    "explore": "pairs of comparable people",
}
_DRAWN = {"metric", "sensitive", "free_features", "comparable"}
_EXPERT = ("directions", "matrix")  # what may be named instead of features
_FAIR = {"compare", "splits", "odds_slack"}  # baselines, which learn favorable or not


def choose_options(draft: Mapping[str, Any], data: DataHandle, summary: Summary) -> ChosenOptions | None:
    """Draw the controls; None while nothing is chosen that should not matter.

    Raises
    ------
    InputError
        If the data have no label, or one outcome only: there is no loss then; or if the model is a column of
        predictions, which cannot say what a changed person would get.
    """
    data.asked("loss_ratio", "labels")
    metrics = list(_METRICS)
    usual = data.usual_audits(draft["spec"]["model"]).get("loss_ratio", {})
    metric = st.selectbox(
        "What should not matter",
        metrics,
        index=metrics.index(usual.get("metric", "learned")),
        format_func=_METRICS.__getitem__,
        help="People who differ only in this should be treated alike.",
        **state.choice("metric"),
    )
    options: dict[str, Any] = {} if metric == "learned" else {"metric": metric}
    if metric == "learned":
        chosen = _sensitive(data, usual)
        options["sensitive"] = chosen
    elif metric == "expert":
        chosen = st.multiselect(
            "Features", list(data.features), default=usual.get("free_features", []), **state.choice("free")
        )
        options |= {"free_features": chosen} if chosen else {}
    else:
        kinds = {"categorical", "ordinal", "integer"}
        columns = [name for name, kind in summary.kinds.items() if kind in kinds]
        column = st.selectbox("People are comparable if they share", columns, **state.choice("comparable"))
        chosen = [column] if column else []
        options["comparable"] = column
    number = "predict" in draft["spec"]["model"]
    left_out = _DRAWN | (_FAIR if number else set())
    options |= other_options("loss_ratio", left_out, options_fold("loss_ratio"))
    chosen = [*chosen, *(f"custom {name}" for name in _EXPERT if name in options)]
    if not chosen:
        return None
    return ChosenOptions(options, f"Individual fairness: {', '.join(chosen)}")


def _sensitive(data: DataHandle, usual: Mapping[str, Any]) -> list[str]:
    """Choose the attributes whose traces should not matter."""
    left_out = [name for name in data.protected if name not in usual.get("sensitive", data.protected)]
    chosen = st.multiselect(
        "Attributes",
        data.asked("loss_ratio", "sensitive"),
        default=usual.get("sensitive", list(data.protected)),
        help="Protected attributes and columns of numbers. A number cut into groups counts as the number.",
        **state.choice("sensitive"),
    )
    if left_out and chosen == usual["sensitive"]:
        with st.container(key="quiet-left-out"):
            st.text(
                f"If {', '.join(left_out)} should not matter either, nothing is left: the model reads only "
                f"{', '.join(data.features)}."
            )
    return chosen
