"""The controls of an outcome-transport audit, and about how long it will take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.summary import Summary
from app.widgets.audit_page import Chosen
from app.widgets.groups import choose_groups
from audits.data import AuditData, group_name

__all__ = ["choose_options"]

_START_SECONDS = {"logistic": 1.0, "forest": 4.0, "boosting": 4.0, "mlp": 12.0}
_LABEL, _GROUPS, _REJECTED, _EQUAL = (
    "the labels with the model",
    "two groups of people",
    "rejected with accepted people",
    "an equal-opportunity version with the model",
)
_DISTANCES = {"l2": "Euclidean", "l1": "L1", "l2_squared": "squared Euclidean", "l1_squared": "squared L1"}
_COSTS = {"euclidean": "norm (order 1, the paper's)", "squared_euclidean": "squared norm (order 2)"}
_MATCHING = {
    "exact": "exact",
    "entropic": "entropic",
    "unbalanced": "unbalanced (far outcomes stay unmatched)",
    "partial": "partial (a given share is matched)",
}
_SPLITS = {"outcome": "own outcome", "label": "label", "prediction": "model's decision", "none": "nothing"}
_USUAL = {
    "cost": "euclidean",
    "distance": "l2",
    "matching": "exact",
    "features": "all",
    "split_by": "outcome",
    "permutations": 199,
    "share": 0.9,
}


def choose_options(draft: Mapping[str, Any], data: AuditData, summary: Summary) -> Chosen | None:
    """Draw the controls; None while no protected attribute is there to make groups of."""
    if not summary.groups:
        return None
    kinds = [_GROUPS, _REJECTED] if summary.label is None else [_LABEL, _GROUPS, _REJECTED, _EQUAL]
    kind = st.selectbox("Compare the outcomes of", kinds, **state.choice("compare"))
    options: dict[str, Any] = {}
    if kind == _GROUPS:
        source, target = choose_groups(summary, draft.get("options") or {})
        if not source:
            return None
        options |= {"source": source, "target": target}
        title = f"{group_name(source)} → {group_name(target)}"
    elif kind == _REJECTED:
        options |= {"source": "rejected", "target": "accepted"}
        title = "rejected → accepted"
    else:
        options["against"] = "label" if kind == _LABEL else "equal_opportunity"
        title = "label → model" if kind == _LABEL else "equal opportunity → model"
    names = list(data.protected)
    by = st.multiselect("Subgroups by", names, default=names[:2], **state.choice("flows-by"))
    if not by:
        return None
    options["by"] = by
    with st.expander("More options"):
        options |= _more(data)
    return Chosen(options, f"Flows: {title}", _seconds(draft, summary))


def _more(data: AuditData) -> dict[str, Any]:
    roles = ["all", *dict.fromkeys(data.roles[name] for name in data.roles)]
    chosen: dict[str, Any] = {
        "features": st.selectbox(
            "Distance over features that are",
            roles,
            key="flows-features",
            persist_state="session",
            help="All, or those of one role.",
        ),
        "distance": _pick("Distance between people", _DISTANCES, "flows-distance"),
        "split_by": _pick("Subgroups also by", _SPLITS, "flows-split"),
        "cost": _pick("Cost between outcomes", _COSTS, "flows-cost"),
        "matching": _pick("Coupling", _MATCHING, "flows-matching"),
    }
    if chosen["matching"] == "partial":
        chosen["share"] = (
            st.slider("Share matched (%)", 10, 100, 90, key="flows-share", persist_state="session") / 100
        )
    chosen["permutations"] = int(
        st.number_input(
            "Shuffles for the level of chance",
            min_value=0,
            max_value=9999,
            value=199,
            key="flows-shuffles",
            persist_state="session",
        )
    )
    return {key: value for key, value in chosen.items() if value != _USUAL[key]}


def _pick(label: str, words: Mapping[str, str], key: str) -> str:
    found: str = st.selectbox(
        label, list(words), format_func=words.__getitem__, key=key, persist_state="session"
    )
    return found


def _seconds(draft: Mapping[str, Any], summary: Summary) -> float:
    trained = draft["spec"]["model"].get("train")
    share = float(draft["spec"]["data"].get("test_size", 0.3)) if trained else 1.0
    people = min(share * summary.rows, 50_000)
    start = 2.0 + _START_SECONDS.get(trained, 0.0) * summary.rows / 20_000
    return start + 3.0 + min(40.0, 1.2e-6 * people**2) + 4e-9 * people**2
