"""What is good for the person, and who counts as one: label, favorable values, weights, person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from app import state
from app.data_model.amounts import amount_section, distribution, is_amount
from app.data_model.named import choose
from app.drafts.drafts import as_list, label_column, with_data
from app.tables.columns import ColumnProfile
from app.widgets import notices
from audits.text import join_names

NUMBERS = {"continuous", "integer"}
_MAX_LEVELS = 20
_TAKEN = {"numeric": "taken as it is", "cut": "cut into favorable and not"}
_CUTS = {"at least": "at_least", "above": "above", "at most": "at_most", "below": "below"}


def outcome_section(
    draft: dict[str, Any], profiles: Sequence[ColumnProfile], *, truth: bool = False
) -> dict[str, Any]:
    """Draw the choice of label and of the values that are good for the person; return the draft.

    Of a decision the good values are not asked with the `truth` alone.
    """
    data = draft["spec"]["data"]
    names = [item.name for item in profiles]
    old, column = data.get("label"), label_column(data)
    told = draft["spec"]["model"].get("predictions") or {}
    likely = [name for name in _likely(profiles) if name not in told.values()]  # these were predicted
    offered = list(dict.fromkeys([*likely, *names]))
    left, right = st.columns(2)
    place = f"label-{draft['id']}"
    if column in names:
        state.preset(place, column)  # with an index it could not be cleared again
    label = left.selectbox(
        "Label (the true outcome)",
        offered,
        index=None,
        key=place,
        placeholder="No label",
        help="What actually happened. Needed to train a model here.",
    )
    with right:
        if label is None:
            draft = with_data(draft, label=None)
            if likely:
                left.text(f"Perhaps {join_names(likely[:3], 'or')}.")
            if {"path", "endpoint"} & set(draft["spec"]["model"]):
                return _good_class(draft)
            if "label" not in told:
                return with_data(draft, favorable=None)
            return draft if truth else good_answer(draft, profiles, told["label"])
        item = profiles[names.index(label)]
        if item.kind in NUMBERS and item.distinct > _MAX_LEVELS:
            return _number(draft, item, old if isinstance(old, dict) and column == label else {})
        if is_amount(draft):
            draft = with_data(draft, outcome=None, favorable=None)
        if "label" in told and (other := _other_values(profiles, label, told["label"])):
            return _match_values(with_data(draft, label=label), item, *other)
        if column != label and "label" not in told:
            draft = with_data(draft, favorable=None)
        return good_answer(with_data(draft, label=label), profiles, label)


def _number(draft: dict[str, Any], item: ColumnProfile, old: dict[str, Any]) -> dict[str, Any]:
    """Ask whether a number is taken as it is, or cut; return the draft."""
    taken = st.segmented_control(
        "The number is",
        list(_TAKEN),
        format_func=_TAKEN.__getitem__,
        default="cut" if old or not is_amount(draft) else "numeric",
        required=True,
        key=f"taken-{draft['id']}-{item.name}",
    )
    if taken == "numeric":
        return amount_section(with_data(draft, label=item.name), item)
    draft = with_data(draft, outcome=None, favorable=None) if is_amount(draft) else draft
    edited = _cut(draft, item, old)
    label = edited["spec"]["data"].get("label")
    bound = (
        next(iter(label[key] for key in _CUTS.values() if key in label)) if isinstance(label, dict) else None
    )
    distribution(item, f"{draft['id']}-{item.name}", bound)
    return edited


def good_answer(draft: dict[str, Any], profiles: Sequence[ColumnProfile], column: str) -> dict[str, Any]:
    """Draw which values of the label, or of the decision, are good for the person; return the draft."""
    kept = _list(draft["spec"]["data"].get("favorable"))
    values = next((item.values for item in profiles if item.name == column), ())
    chosen = st.multiselect(
        "Good for the person",
        list(dict.fromkeys([*values, *kept])),
        default=kept,
        key=f"favorable-{draft['id']}-{column}",
        placeholder="Choose the favorable value",
    )
    if len(values) == 1:
        said = f"Everyone has “{values[0]}” in “{column}”: nothing to compare. Choose another column."
        st.caption(notices.label(said, 300))
    return draft if kept and chosen == kept else with_data(draft, favorable=_one(chosen))


def _good_class(draft: dict[str, Any]) -> dict[str, Any]:
    """Ask which of a model's own answers is good, where no label has them; return the draft."""
    said = st.text_input(
        "Good for the person",
        ", ".join(_list(draft["spec"]["data"].get("favorable"))),
        key=f"good-class-{draft['id']}",
        placeholder="The model's favorable answer",
        help="Only for a model that names its answers, such as yes and no. Leave it empty for one that "
        "gives the probability of the favorable outcome.",
    )
    return with_data(draft, favorable=said.strip() or None)


def _other_values(
    profiles: Sequence[ColumnProfile], label: str, decision: str
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the values of label and decision, two each, where the label has others than the decision."""
    told, decided = (next(i.values for i in profiles if i.name == name) for name in (label, decision))
    return (told, decided) if len(told) == len(decided) == 2 and set(told) != set(decided) else None


def _match_values(
    draft: dict[str, Any], item: ColumnProfile, told: Sequence[str], decided: Sequence[str]
) -> dict[str, Any]:
    """Ask which value of the label is good, and write it as the decision writes its own."""
    recode = dict(draft["spec"]["data"].get("recode") or {})
    good = next((each for each in decided if each in _list(draft["spec"]["data"].get("favorable"))), None)
    made = (recode.get(item.name) or {}).get("map") or {}
    now = next((each for each in told if good and made.get(each) == good), None)
    key, more = f"truth-{draft['id']}-{item.name}", {"placeholder": "Choose the value", "width": "stretch"}
    chosen = choose("Favorable true outcome", told, now, key, **more)
    if chosen is None or good is None:
        return draft
    bad = next(each for each in decided if each != good)
    return with_data(
        draft, recode={**recode, item.name: {"map": {each: good if each == chosen else bad for each in told}}}
    )


def who_counts(draft: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Draw which column weighs, whether it counts people or stands for a sample, and who rows are of."""
    data, key = draft["spec"]["data"], draft["id"]
    given = data.get("weights")
    before: dict[str, Any] = dict(given) if isinstance(given, dict) else {"column": given}

    def column(label: str, name: str, value: Any, nothing: str, told: str) -> Any:
        place = f"{name}-{key}"
        if value in names:
            state.preset(place, value)  # with an index it could not be cleared again
        return st.selectbox(label, names, index=None, key=place, placeholder=nothing, help=told)

    weights: Any = column(
        "Weights", "weights", before["column"], "One person per row", "A column with the weight of each row."
    )
    if weights is not None:
        kinds = {"counts": "Counts of people", "sampling": "Sampling weights"}
        kind = choose(
            "They are",
            kinds,
            before.get("kind"),
            f"weights-kind-{key}",
            placeholder="Counts or sampling weights?",
            width="stretch",
            help="A sampling weight says how many people a row represents. It does not add people to the "
            "sample.",
        )
        if kind == "counts":
            weights = {"column": weights, "kind": kind}
        elif kind == "sampling":
            told = "Only if the survey sampled by strata or clusters."
            parts = {
                name: column(name.capitalize(), name, before.get(name), "None", told)
                for name in ("strata", "cluster")
            }
            named = {name: value for name, value in parts.items() if value is not None}
            weights = {"column": weights, "kind": kind, **named}
    told = (
        "A column that repeats for one person. Rows of the same person then do not count as "
        "independent evidence."
    )
    person = column("Person ID", "person", data.get("person"), "One row per person", told)
    return with_data(draft, weights=weights, person=person)


def says_more(draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> bool:
    """Whether the label is more than favorable or not: cut from a number, or of several values."""
    label = draft["spec"]["data"].get("label")
    if isinstance(label, dict):
        return True
    return any(item.name == label and item.distinct > 2 for item in profiles)


def _likely(profiles: Sequence[ColumnProfile]) -> list[str]:
    """Names of the columns that look like the label, the likeliest first."""
    ranked = [(item.likely_label, item.name) for item in profiles if item.likely_label is not None]
    return [name for _, name in sorted(ranked)]


def _cut(draft: dict[str, Any], item: ColumnProfile, old: dict[str, Any]) -> dict[str, Any]:
    """Cut a number into a favorable and an unfavorable side."""
    sign = next((words for words, key in _CUTS.items() if key in old), "at least")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = choose("Favorable is", list(_CUTS), sign, f"cut-{draft['id']}", width=130)
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
    return list(map(str, as_list(value)))


def _one(values: list[str]) -> Any:
    return None if not values else values[0] if len(values) == 1 else values
