"""A model trained here in place of one that cannot be asked, or not be trained again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.drafts.drafts import made_groups
from app.tables.handles import DataHandle
from app.widgets import notices
from app.widgets.subject import model_words
from app.workspaces.workspace import Workspace

_BEFORE = "before stand-in"
_KIND = "mlp"  # bends as decisions do, and has the gradients that individual fairness asks for


def offer_stand_in(space: Workspace, draft: Mapping[str, Any], data: DataHandle) -> None:
    """Offer to train a model on the stored decisions, or on the label, and to audit that, with one click."""
    made = with_stand_in(draft, data.features, data.protected)
    if made is None:
        return
    if "predictions" in draft["spec"]["model"]:
        told = "Or train a small network to reproduce the stored decisions, and audit that instead."
        label = "Audit a stand-in for these decisions"
    else:
        label = made["spec"]["data"]["label"]
        column = label["column"] if isinstance(label, dict) else label
        told = f"Or train a logistic regression on {column!r}, and audit that instead."
        label = "Audit a model trained here"
    st.text(f"{told} Findings then apply to that model, which gets some people wrong.")
    st.button(label, key="stand-in", type="primary", on_click=_change, args=(space, made))


def stand_in_note(space: Workspace, draft: Mapping[str, Any]) -> None:
    """Say that a stand-in is audited where one is, with the way back to the model it stands for."""
    if _BEFORE not in draft:
        return
    stored = "predictions" in draft[_BEFORE]["model"]
    what = "a network trained to reproduce the stored decisions" if stored else "a model trained here"
    notices.note(f"This audits a stand-in: {what}. Its accuracy, on the page Groups, says how well it does.")
    st.button(
        notices.label(
            f"Back to {'the stored decisions' if stored else model_words(draft[_BEFORE]['model'])}"
        ),
        key="stand-in-back",
        on_click=_change,
        args=(space, without_stand_in(draft)),
    )


def with_stand_in(
    draft: Mapping[str, Any], features: tuple[str, ...], protected: tuple[str, ...]
) -> dict[str, Any] | None:
    """Return the draft whose label is the stored decision, or its own, and whose model is trained on it.

    It reads protected attributes too where it repeats decisions: what decided may have known them. None where
    decisions follow from thresholds that differ by group, which no single label says, or there is no label.
    """
    spec = draft["spec"]
    kept = {key: spec[key] for key in ("data", "model", "threshold") if key in spec}
    if "predictions" not in spec["model"]:
        if spec["data"].get("label") is None or "train" in spec["model"]:
            return None
        return {**draft, "spec": {**spec, "model": {"train": "logistic"}, "threshold": 0.5}, _BEFORE: kept}
    told, threshold = spec["model"].get("predictions") or {}, spec.get("threshold", 0.5)
    data = {key: value for key, value in spec["data"].items() if key not in {"label", "favorable"}}
    if "label" in told and spec["data"].get("favorable") is not None:
        data |= {"label": told["label"], "favorable": spec["data"]["favorable"]}
    elif "score" in told and not isinstance(threshold, dict):
        way = "at_least" if told.get("higher_is", "favorable") == "favorable" else "below"
        data["label"] = {"column": told["score"], way: threshold}
    else:
        return None
    stored = told.get("label") or told.get("score")
    apart = {stored, *made_groups(spec["data"])}
    data["features"] = [name for name in dict.fromkeys((*features, *protected)) if name not in apart]
    made = {**spec, "data": data, "model": {"train": _KIND}, "threshold": 0.5}
    return {**draft, "spec": made, _BEFORE: kept}


def without_stand_in(draft: Mapping[str, Any]) -> dict[str, Any]:
    """Return the draft as it was before its stand-in."""
    found = {key: value for key, value in draft.items() if key != _BEFORE}
    return {**found, "spec": {**draft["spec"], **draft[_BEFORE]}}


@state.report_errors
def _change(space: Workspace, draft: dict[str, Any]) -> None:
    state.forget_addresses()
    space.save_draft(draft)
