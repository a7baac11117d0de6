"""What the model decides: the label, and which of its values are good for the person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from app import state
from app.drafts.drafts import with_data
from app.tables.columns import ColumnProfile
from audits.checks import choices

__all__ = ["outcome_section", "says_more"]

_NUMBERS = {"continuous", "integer"}
_MOST_LEVELS = 20
_CUTS = {"at least": "at_least", "above": "above", "at most": "at_most", "below": "below"}


def outcome_section(draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:
    """Draw the choice of label, of favourable values, and of who counts as one; return the draft."""
    data = draft["spec"]["data"]
    names = [item.name for item in profiles]
    old = data.get("label")
    column = old["column"] if isinstance(old, dict) else old
    told = draft["spec"]["model"].get("predictions") or {}
    likely = [name for name in _likely(profiles) if name not in told.values()]  # these were predicted
    offered = list(dict.fromkeys([*likely, *names]))
    left, middle, right = st.columns(3)
    label = left.selectbox(
        "Label (the true outcome)",
        offered,
        index=offered.index(column) if column in names else None,
        key=f"label-{draft['id']}",
        placeholder="No label",
        help="What the model predicts, as it turned out. Needed to train a model here.",
    )
    with right:
        draft = _who_counts(draft, names)
    if label is None:
        if likely:
            left.text(f"Perhaps {choices(likely[:3])}.")
        with middle:
            return _favorable_alone(with_data(draft, label=None), profiles)
    item = profiles[names.index(label)]
    if item.kind in _NUMBERS and item.distinct > _MOST_LEVELS:
        with middle:
            return _cut(draft, item, old if isinstance(old, dict) and column == label else {})
    kept = _list(data.get("favorable")) if column == label else []
    chosen = middle.multiselect(
        "Good for the person",
        list(dict.fromkeys([*item.values, *kept])),
        default=kept,
        key=f"favorable-{draft['id']}-{label}",
        placeholder="Choose the favorable value",
    )
    favorable = data["favorable"] if kept and chosen == kept else _one(chosen)
    return with_data(draft, label=label, favorable=favorable)


def _who_counts(draft: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Draw which column weighs, whether it counts people or stands for a sample, and who rows are of."""
    data, key = draft["spec"]["data"], draft["id"]
    given = data.get("weights")
    before: dict[str, Any] = dict(given) if isinstance(given, dict) else {"column": given}

    def column(label: str, name: str, value: Any, nothing: str, told: str) -> Any:
        place = f"{name}-{key}"
        if value in names and not state.drawn(place):
            state.set_widget(place, value)  # with an index it could not be cleared again
        return st.selectbox(label, names, index=None, key=place, placeholder=nothing, help=told)

    weights: Any = column(
        "Weights",
        "weights",
        before["column"],
        "One person a row",
        "A column that says what a row weighs.",
    )
    if weights is not None:
        kinds = {"counts": "People that a row stands for", "sampling": "Sampling weights"}
        kind = st.selectbox(
            "They are",
            list(kinds),
            index=list(kinds).index(before["kind"]) if before.get("kind") else None,
            placeholder="Counts or sampling weights?",
            format_func=kinds.__getitem__,
            key=f"weights-kind-{key}",
            help="A sampling weight says how many people a row speaks for: it makes no more of them.",
        )
        if kind == "counts":
            weights = {"column": weights, "kind": kind}
        elif kind == "sampling":
            told = "Of the survey's design, where it drew by them."
            parts = {
                name: column(name.capitalize(), name, before.get(name), "None", told)
                for name in ("strata", "cluster")
            }
            named = {name: value for name, value in parts.items() if value is not None}
            weights = {"column": weights, "kind": kind, **named}
    told = "A column that repeats for one person: that person's rows are no evidence of their own."
    person = column("Rows of one person share", "person", data.get("person"), "One row a person", told)
    return with_data(draft, weights=weights, person=person)


def says_more(draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> bool:
    """Whether the label is more than favourable or not: cut from a number, or of several values."""
    label = draft["spec"]["data"].get("label")
    if isinstance(label, dict):
        return True
    return any(item.name == label and item.distinct > 2 for item in profiles)


def _likely(profiles: Sequence[ColumnProfile]) -> list[str]:
    """Names of the columns that look like the label, the likeliest first."""
    ranked = [(item.likely_label, item.name) for item in profiles if item.likely_label is not None]
    return [name for _, name in sorted(ranked)]


def _favorable_alone(draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:
    """Without a label, the favourable value is one of the predicted labels."""
    if "label" not in (draft["spec"]["model"].get("predictions") or {}):
        return with_data(draft, favorable=None)
    column = draft["spec"]["model"]["predictions"]["label"]
    values = next((item.values for item in profiles if item.name == column), ())
    kept = _list(draft["spec"]["data"].get("favorable"))
    chosen = st.multiselect(
        "Predicted label that is good for the person",
        list(dict.fromkeys([*values, *kept])),
        default=kept,
        key=f"favorable-{draft['id']}-predicted",
        placeholder="Choose the favorable value",
    )
    favorable = draft["spec"]["data"].get("favorable") if kept and chosen == kept else _one(chosen)
    return with_data(draft, favorable=favorable)


def _cut(draft: dict[str, Any], item: ColumnProfile, old: dict[str, Any]) -> dict[str, Any]:
    """Cut a number into a favourable and an unfavourable side."""
    sign = next((words for words, key in _CUTS.items() if key in old), "at least")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.selectbox(
            "Favorable is", list(_CUTS), index=list(_CUTS).index(sign), key=f"cut-{draft['id']}", width=130
        )
        bound = st.number_input(
            "this number",
            value=old.get(_CUTS[sign]),
            key=f"bound-{draft['id']}-{item.name}",
            placeholder="Number",
            format="%g",
            width=150,
        )
    if bound is None:
        return with_data(draft, label=item.name, favorable=None)
    return with_data(draft, label={"column": item.name, _CUTS[words]: bound}, favorable=None)


def _list(value: Any) -> list[str]:
    return (
        []
        if value is None
        else [str(part) for part in (value if isinstance(value, (list, tuple)) else [value])]
    )


def _one(values: list[str]) -> Any:
    return None if not values else values[0] if len(values) == 1 else values
