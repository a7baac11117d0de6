"""The questions about a new table, one at a time, each with a proposal and its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from secrets import token_hex
from typing import Any

import streamlit as st

from app import state
from app.data_model.amounts import is_amount
from app.data_model.columns import bins_section
from app.data_model.decision_words import proposed_words, with_group_words, with_words, words_section
from app.data_model.model_choice import model_section, way_of
from app.data_model.outcome import NUMBERS, good_answer, outcome_section
from app.drafts.drafts import label_column, made_groups, with_data, with_spec
from app.tables.columns import MAX_GROUPS, ColumnProfile
from app.widgets import notices
from app.widgets.subject import model_words
from app.workspaces.workspace import Workspace
from audits.data.role_guesses import (
    guess_good_answer,
    guess_good_end,
    guess_outcome,
    guess_verb,
    is_consequence,
)
from audits.data.role_guesses import is_amount as is_amount_name
from audits.options import MEASURE_WORDS
from audits.text import join_names

FIRST_QUESTION = "decision"
_QUESTIONS = {
    FIRST_QUESTION: "What was decided, and which answer is good?",
    "compared": "Who is compared?",
    "truth": "What actually happened?",
    "measure": "Which measure fits?",
    "words": "What do you call them?",
}
_NO_GROUPS = {"identifier", "text", "datetime"}


def questions(
    space: Workspace, draft: dict[str, Any], profiles: Sequence[ColumnProfile], rows: int
) -> dict[str, Any]:
    """Draw the answers so far and the question that is next; return the draft, without one after the last."""
    if draft["question"] == FIRST_QUESTION:
        draft = _propose_decision(draft, profiles, rows)
    # the truth is asked first where it is what is learned, or what is audited
    known = (
        "train" in draft["spec"]["model"] or way_of(draft["spec"]["model"], draft["spec"]["data"]) == "number"
    )
    untold = {"truth"} if known else set()
    untold |= set() if _has_truth(draft) else {"measure"}  # of decisions alone there are only rates
    order = [name for name in _QUESTIONS if name not in untold]
    now = draft["question"] if draft["question"] in order else order[-1]
    place = order.index(now)
    for name in order[:place]:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(_answer(name, draft), width="stretch")
            if st.button("Change", type="tertiary", key=f"change-{name}"):
                return {**draft, "question": name}
    st.caption(f"Question {place + 1} of {len(order)}")
    st.header(_QUESTIONS[now], anchor=False)
    edited = _ASKED[now](space, draft, profiles)
    last = now == order[-1]
    unanswered = not _is_answered(now, edited)
    if not st.button("Finish" if last else "Next", type="primary", key="answer", disabled=unanswered):
        return edited
    return without_questions(edited) if last else {**edited, "question": order[place + 1]}


def asked_anew(draft: dict[str, Any]) -> dict[str, Any]:
    """Return the draft of a table that is read otherwise before the first answer: it begins anew."""
    if draft["question"] != FIRST_QUESTION:
        return draft
    data = {name: value for name, value in draft["spec"]["data"].items() if name in {"path", "read"}}
    begun = {name: draft[name] for name in ("source", "spec", "options", "question")}
    # what the page's controls remember belongs to the table as it was: a new mark draws them afresh
    return {**with_spec(begun, data=data, model={"train": "logistic"}), "id": token_hex(4)}


def without_questions(draft: dict[str, Any]) -> dict[str, Any]:
    """Return a draft of which nothing more is asked."""
    return {name: value for name, value in draft.items() if name != "question"}


def _propose_decision(draft: dict[str, Any], profiles: Sequence[ColumnProfile], rows: int) -> dict[str, Any]:
    """Return the draft with a decision proposed, once, and why; where two are as likely, with none."""
    if "proposal" in draft:
        return draft
    if "predictions" in draft["spec"]["model"]:
        named = next(iter(draft["spec"]["model"]["predictions"].values()), "")
        return {**draft, "proposal": f"“{named}” is named like stored predictions."}
    columns = [
        {"name": each.name, "kind": each.kind, "distinct": each.distinct, "examples": each.values[:5]}
        for each in profiles
    ]
    guess = guess_outcome(columns, rows=rows)
    name, why = guess.column, guess.why
    if name is None and guess.candidates and is_amount_name(guess.candidates[0]):
        name = guess.candidates[0]
        why = (
            f"“{name}” is a number, so groups are compared by amount. If there was a yes-or-no decision, "
            "choose that instead."
        )
        words = {"verb": verb} if (verb := guess_verb(name)) else None
        good = guess_good_end(name)
        amounts = with_data(draft, label=name, outcome="numeric", favorable=good, words=words)
        return {**with_spec(amounts, model={"predictions": {"score": name}}), "proposal": why}
    if name is None:
        others = f" Perhaps {join_names(guess.candidates[:3], 'or')}." if guess.candidates else ""
        return {
            **with_spec(draft, model={"predictions": {}}),
            "proposal": f"{why[0].upper()}{why[1:]}.{others}",
        }
    if is_consequence(name):
        why = (
            f"“{name}” sounds like an outcome that a model can predict. If it is a decision, keep it; if "
            "not, choose the decision."
        )
        return {**with_data(draft, label=name), "proposal": why}
    why = f"“{name}” is proposed by its name and values."
    return {**with_spec(draft, model={"predictions": {"label": name}}), "proposal": why}


def _decision(space: Workspace, draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:
    if draft["proposal"]:
        st.caption(notices.label(draft["proposal"], 300))
    turned = _with_column(draft, state.widget(f"way-{draft['id']}"))
    edited = model_section(space, turned, profiles, brief=True)
    if edited["spec"]["model"] != draft["spec"]["model"]:
        edited = {**edited, "proposal": ""}  # another answer than the proposed one was chosen
    if "train" in edited["spec"]["model"]:
        if not is_amount(edited):
            edited = _with_good(edited, profiles, edited["spec"]["data"].get("label"))
        return outcome_section(edited, profiles)
    column = (edited["spec"]["model"].get("predictions") or {}).get("label")
    if column is None:
        return edited
    return good_answer(_with_good(edited, profiles, column), profiles, column)


def _groups(space: Workspace, draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:  # noqa: ARG001
    data = draft["spec"]["data"]
    decides = (draft["spec"]["model"].get("predictions") or {}).values()
    names = [
        each.name
        for each in profiles
        if each.kind not in _NO_GROUPS and each.name not in {data.get("label"), *decides}
    ]
    alone = [each.name for each in profiles if each.name in names and each.distinct + bool(each.missing) < 2]
    names = [name for name in names if name not in alone]
    likely = [each.name for each in profiles if each.likely_protected and each.name in names]
    if likely:
        proposed = notices.label(", ".join(likely), 300)
        st.caption(f"Proposed by name: {proposed}. Numbers such as age are cut into ranges.")
    else:
        st.caption("No column name suggests a group of people. Numbers such as age are cut into ranges.")
    if alone:
        st.caption(
            notices.label(f"Everyone has the same value in {join_names(alone)}: no groups to compare.", 300)
        )
    now = data.get("protected") or []
    chosen = st.multiselect(
        "Compare people by",
        [*likely, *(name for name in names if name not in likely)],
        default=[name for name in now if name in names],
        key=f"compared-{draft['id']}",
        placeholder="Choose at least one column",
    )
    made = [name for name in made_groups(data) if name in now]
    bins = dict(data.get("bins") or {})
    for each in profiles:
        if each.name not in chosen or each.name in bins or each.kind not in NUMBERS:
            continue
        if each.distinct > MAX_GROUPS:
            bins[each.name] = sorted({float(text) for text in each.examples.split(", ")})  # at the median
    return bins_section(with_data(draft, protected=[*chosen, *made], bins=bins or None), profiles)


def _truth(space: Workspace, draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:  # noqa: ARG001
    st.caption("Optional. With it, errors are compared, too. Leave it empty if it is not known.")
    return outcome_section(draft, profiles, truth=True)


def _has_truth(draft: dict[str, Any]) -> bool:
    """Whether errors can be compared: there are decisions, and what happened in truth."""
    return bool(draft["spec"]["data"].get("label")) and not is_amount(draft)


def _measure(space: Workspace, draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:  # noqa: ARG001
    st.caption(
        "It leads the headline and the report; the others are still shown. The page Groups helps you choose."
    )
    known = [name for name in MEASURE_WORDS if name != "amounts"]
    now = draft["spec"].get("measure")
    chosen = st.radio(
        "The measure that leads",
        [None, *known],
        index=known.index(now) + 1 if now in known else 0,
        format_func=lambda name: MEASURE_WORDS.get(name or "", "whatever differs most"),
        key=f"measure-{draft['id']}",
    )
    return with_spec(draft, measure=chosen)


def _words(space: Workspace, draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:  # noqa: ARG001
    st.caption("Optional. Sentences and figures use these words.")
    if not set(draft["spec"]["data"].get("words") or {}) - {"verb"} and not draft.get("named"):
        proposed = proposed_words(draft, profiles)
        if is_amount(draft):
            proposed = {name: each for name, each in proposed.items() if name == "people"}
        draft = {**with_group_words(with_words(draft, proposed), profiles), "named": True}
    for name, said in ((draft["spec"]["data"].get("words") or {}).get("groups") or {}).items():
        named = ", ".join(f"“{value}” are {words}" for value, words in said.items())
        st.caption(notices.label(f"{name}: {named}.", 300))
    return words_section(draft, profiles)


_ASKED: dict[str, Callable[[Workspace, dict[str, Any], Sequence[ColumnProfile]], dict[str, Any]]] = {
    FIRST_QUESTION: _decision,
    "compared": _groups,
    "truth": _truth,
    "measure": _measure,
    "words": _words,
}


def _with_column(draft: dict[str, Any], way: str | None) -> dict[str, Any]:
    """Return the draft with its column of decisions as label, or its label as that, as `way` is chosen."""
    label = draft["spec"]["data"].get("label")
    decides = (draft["spec"]["model"].get("predictions") or {}).get("label")
    if way == "label" and "train" in draft["spec"]["model"] and isinstance(label, str):
        return with_data(with_spec(draft, model={"predictions": {"label": label}}), label=None)
    if way not in {None, "label"} and decides and not label:
        return with_data(draft, label=decides)
    return draft


def _with_good(draft: dict[str, Any], profiles: Sequence[ColumnProfile], column: Any) -> dict[str, Any]:
    """Return the draft with a good answer proposed, once for each column."""
    if not isinstance(column, str) or draft.get("good of") == column:
        return draft
    values = next((each.values for each in profiles if each.name == column), ())
    return {**with_data(draft, favorable=guess_good_answer(values, column).value), "good of": column}


def _is_answered(name: str, draft: dict[str, Any]) -> bool:
    data, model = draft["spec"]["data"], draft["spec"]["model"]
    if name == "compared":
        return bool(data.get("protected"))
    if name != FIRST_QUESTION:
        return True
    way = way_of(model, data)
    if way == "number" or (way == "train" and is_amount(draft)):
        return bool(data.get("label") and data.get("favorable"))
    if way == "train":
        return isinstance(data.get("label"), dict) or bool(data.get("label") and data.get("favorable"))
    if way == "label":
        return bool(model["predictions"] and data.get("favorable"))
    return bool(model["predictions"] if way == "score" else model[way])


def _answer(name: str, draft: dict[str, Any]) -> str:
    data, model = draft["spec"]["data"], draft["spec"]["model"]
    if name == "compared":
        return f"Compared by {', '.join(data.get('protected') or ())}"
    if name == "measure":
        return f"Measure: {MEASURE_WORDS.get(draft['spec'].get('measure'), 'whatever differs most')}"
    if name == "truth":
        return f"Truth: {label_column(data) or 'not known'}"
    way, good, label = way_of(model, data), data.get("favorable"), data.get("label")
    if way == "number":
        return f"Amount: {label}, {good} is good"
    decides = model["predictions"].get("label", "") if way == "label" else model_words(model)
    said = f"Decision: {decides}" + (f", learned from {label}" if way == "train" and label else "")
    return f"{said}, good is {' or '.join(good) if isinstance(good, list) else good}" if good else said
