"""What a person can change: what the columns suggest, and a few questions to settle it before a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app import state
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets import notices
from app.widgets.choices.roles import actionable_by_role, changeable, is_german, with_role
from app.widgets.waiting import data_of
from app.workspaces.workspace import Workspace
from audits.data.preprocessing.column_names import named_protected
from audits.recourse import GERMAN_ROLES
from audits.recourse.record import only_grows

SCALED = {"continuous", "integer", "boolean", "ordinal", "datetime"}
WAYS = {"any way": None, "up only": "up", "down only": "down"}
"""What limits call the directions, and what a spec does."""

_ANSWERS = {"no": None, "yes": "any way", "only upwards": "up only", "only downwards": "down only"}
_FIXED = re.compile(
    r"(?:^|[^a-z])(?:age|sex|gender|race|ethnic[a-z]*|born|birth[a-z]*|nation[a-z]*|native[a-z]*|foreign[a-z]*"
    r"|disab[a-z]*|prior|previous|past|arrests?|convictions?|relationship|marital|marriage|married|family|spouse"
    r"|husband|wife|child|children|parents?|mother|father|religion|fnlwgt|weight|weights|wgt|wt|id|district"
    r"|region|state|country|zip|postcode|label|target|outcome|height|skin|colou?r|accent|veteran|pregnan[a-z]*"
    r"|geburt[a-z]*|geboren|familie[a-z]*|kinder|kinderzahl|vorstrafen?|bundesland|plz|religion|naissance"
    r"|famille|enfants?|conjoint|département|nacimiento|familia|hijos|provincia)"
    r"(?:[^a-z]|$)"
)
_OF_A_PERSON = re.compile(
    r"(?:^|[^a-z])(?:husband|wife|widow[a-z]*|divorced|married|never-married|single|spouse|male|female|man|woman"
    r"|men|women|black|white|asian|hispanic|african|caucasian|christian|muslim|jewish|hindu"
    r"|ledig|verheiratet|geschieden|verwitwet|frau|mann|männlich|weiblich|célibataire|mariée?|divorcée?|veuve"
    r"|homme|femme|solter[oa]|casad[oa]|divorciad[oa]|viud[oa]|hombre|mujer)(?:[^a-z]|$)"
)
_MAX_LISTED, _MOST_ASKED = 30, 12


def suggest_columns(data: DataHandle, names: Sequence[str]) -> tuple[list[str], str]:
    """Return the columns to start with, and where they come from.

    Roles come first; then what names and values say: nobody changes age, family, origin or a weight of a row.
    """
    by_role = [name for name in actionable_by_role(data) if name in names]
    if by_role:
        return by_role, ""
    if is_german(data):
        chosen = [name for name in names if GERMAN_ROLES.get(name) == "actionable"]
        return chosen, "Taken from Table A1 of the study that this audit follows."
    fixed = {name for name, role in data.roles.items() if role in {"immutable", "mutable"}}
    chosen = [name for name in names if name not in fixed and not _is_fixed(name, data)]
    if not chosen:
        return [], "No column looks like one that a person can change: choose some, if there are any."
    lack = "No column that the model reads has" if with_role(data) else "No column has"
    return chosen, f"{lack} the role actionable yet. Remove those that a person cannot change."


def _is_fixed(name: str, data: DataHandle) -> bool:
    if is_named_fixed(name):
        return True
    values = () if data.kinds[name] in SCALED else data.distinct(name, _MAX_LISTED)
    return any(_OF_A_PERSON.search(str(value).lower()) for value in values)


def is_named_fixed(name: str) -> bool:
    """Whether a column's name says, in English, German, French or Spanish, that nobody changes it."""
    return named_protected(name) or _FIXED.search(name.lower()) is not None


def ways_of(draft: Mapping[str, Any], actionable: Sequence[str], kinds: Mapping[str, str]) -> list[str]:
    """Return the direction of each column, as it was answered; age, years and degrees only grow."""
    answered = state.get(f"ways {draft['id']}", {})
    return [answered.get(name, _way(name, kinds)) for name in actionable]


def _way(name: str, kinds: Mapping[str, str]) -> str:
    return "up only" if kinds[name] in SCALED and only_grows(name) else "any way"


def ask_questions(space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw the question for each column that the model reads, answered as the choices at the side are."""
    data, summary = data_of(space, draft["spec"], "the data")
    names = changeable(data)
    chosen: list[str] = state.widget("actionable") or []
    ways = dict(zip(names, ways_of(draft, names, summary.kinds), strict=True))
    st.subheader("Can a person change this?", anchor=False)
    st.text("Answer before it runs. Nobody is asked to change a protected attribute.")
    listed = sorted(names, key=lambda name: name not in chosen)
    _rows(draft, listed[:_MOST_ASKED], chosen, ways, summary)
    if rest := listed[_MOST_ASKED:]:
        with st.expander(f"{len(rest)} more columns", key="recourse-more-columns"):
            _rows(draft, rest, chosen, ways, summary)


def _rows(
    draft: Mapping[str, Any],
    names: Sequence[str],
    chosen: Sequence[str],
    ways: Mapping[str, str],
    summary: Summary,
) -> None:
    with st.grid(2, min_column_width=300, border=False):
        for name in names:
            answers = list(_ANSWERS) if summary.kinds[name] in SCALED else ["no", "yes"]
            now = next(
                answer for answer, way in _ANSWERS.items() if way == (ways[name] if name in chosen else None)
            )
            key = f"can-{draft['id']}-{name}"
            state.set_widget(key, now if now in answers else "yes")
            st.segmented_control(
                notices.label(name),
                answers,
                key=key,
                required=True,
                on_change=_apply_answer,
                args=(draft, name, key),
            )


def _apply_answer(draft: Mapping[str, Any], name: str, key: str) -> None:
    """Have the choices at the side follow an answer."""
    way = _ANSWERS[state.widget(key) or "no"]
    others = [each for each in state.widget("actionable") or [] if each != name]
    state.set_widget("actionable", others if way is None else [*others, name])
    if way is not None:
        state.keep(f"ways {draft['id']}", {**state.get(f"ways {draft['id']}", {}), name: way})
