"""What people and the decision are called: asked once, said everywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.drafts.drafts import label_column, with_data
from app.tables.columns import ColumnProfile
from app.widgets import notices
from audits.data.role_guesses import YES, guess_group_words, says_which
from audits.stats.vocabulary import singular

_FIELDS = {"people": "The people are", "yes": "Those with the favorable decision are", "no": "The others are"}
_GENERIC = {"people": "people", "yes": "favored", "no": "not favored"}
_MAX_LENGTH = 40
_KNOWN: tuple[tuple[str, tuple[str, str, str]], ...] = (
    (r"call_?(ed_?)?back|^call(ed)?$", ("applicants", "called back", "not called back")),
    (r"hir|employ|recruit|interview|eingestellt|embauch|contratad", ("applicants", "hired", "turned down")),
    (r"admi|enrol|accept", ("applicants", "admitted", "rejected")),
    (r"loan|credit|repaid|repay|default|approv|lend|mortgage", ("applicants", "approved", "declined")),
    (r"recid|arrest|bail|parole|violen", ("people", "rated low risk", "rated high risk")),
    (r"promot", ("employees", "promoted", "passed over")),
    (r"grad|pass|exam|gpa|dropout|pupil|student", ("students", "predicted to pass", "predicted to fail")),
    (r"claim|insur", ("claimants", "paid", "refused")),
    (r"readmi|diabet|disease|patient|treat|triage", ("patients", "selected", "not selected")),
    (r"stop|frisk|search", ("people", "let go", "searched")),
)
"""What a column's name tells of a decision: people, yes, no."""


def proposed_words(draft: Mapping[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, str]:
    """Return words for people and decision that the label's, the decision's or the table's name suggests.

    Returns
    -------
    dict
        ``people``, ``yes`` and ``no``; empty where no name tells.
    """
    first = label_column(draft["spec"]["data"])
    predicted = (draft["spec"]["model"].get("predictions") or {}).values()
    own = _own_words(draft, profiles, *predicted)
    for name in filter(None, [first, *predicted, draft["source"].get("name")]):
        for pattern, words in _KNOWN:
            if re.search(pattern, str(name).lower()):
                return dict(zip(_FIELDS, words, strict=True)) | own
    own = own or _verb_words(draft, *predicted)
    return {"people": _GENERIC["people"], **own} if own else {}


def _own_words(
    draft: Mapping[str, Any], profiles: Sequence[ColumnProfile], column: str = "", *_: str
) -> dict[str, str]:
    """Return the two values of a decision as its words, where they are words: granted, refused."""
    good = draft["spec"]["data"].get("favorable")
    values = next((each.values for each in profiles if each.name == column), ())
    bad = [value for value in values if value != good]
    if good in values and len(bad) > 1 and re.fullmatch(r"[a-z]+ed", str(good).lower()):
        return {"yes": str(good).lower(), "no": f"not {str(good).lower()}"}
    if good not in values or len(bad) != 1 or not all(_is_word(value) for value in values):
        return {}
    return {"yes": str(good).lower(), "no": bad[0].lower()}


def _verb_words(draft: Mapping[str, Any], column: str = "", *_: str) -> dict[str, str]:
    """Return a verb that names a decision as its words: shortlisted, not shortlisted."""
    verb = column.lower()
    if not re.fullmatch(r"[a-z]+ed", verb) or not says_which(verb):
        return {}
    words = {True: verb, False: f"not {verb}"}
    good = str(draft["spec"]["data"].get("favorable")).lower() in YES
    return {"yes": words[good], "no": words[not good]}


def _is_word(value: str) -> bool:
    short = len(value) <= _MAX_LENGTH and len(value.split()) <= 3  # longer ones are no word in a sentence
    return short and says_which(value) and not re.search(r"\d", value)


def words_section(draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:
    """Draw three boxes for the decision's words, and a button that takes those proposed; return the draft."""
    known: dict[str, Any] = dict(draft["spec"]["data"].get("words") or {})
    proposed = proposed_words(draft, profiles)
    given = {name: known.get(name, "") for name in _FIELDS}
    numeric = draft["spec"]["data"].get("outcome") == "numeric"
    asked = {name: label for name, label in _FIELDS.items() if name == "people" or not numeric}
    for column, (name, label) in zip(st.columns(3), asked.items(), strict=False):
        given[name] = column.text_input(
            label,
            known.get(name, ""),
            key=f"words-{name}-{draft['id']}-{known.get(name, '')}",
            max_chars=_MAX_LENGTH,
            placeholder=proposed.get(name, _GENERIC[name]),
            help="Sentences and figures use these words.",
        ).strip()
    if proposed and not numeric and not any(known.get(name) for name in _FIELDS):
        people, yes, no = proposed.values()
        if st.button(notices.label(f"Use “{people}”, “{yes}” and “{no}”", 100), key="use-words"):
            given = proposed
    return draft if all(given[name] == known.get(name, "") for name in _FIELDS) else with_words(draft, given)


def with_words(draft: dict[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the draft with words for people and decision; "" takes one away."""
    known: dict[str, Any] = dict(draft["spec"]["data"].get("words") or {})
    told = {name: value for name, value in (known | dict(given)).items() if value}
    if given.get("people", "") != known.get("people", ""):
        told.pop("person", None)
        if given.get("people"):
            told["person"] = singular(given["people"])
    return with_data(draft, words=told or None)


def with_group_words(draft: dict[str, Any], profiles: Sequence[ColumnProfile]) -> dict[str, Any]:
    """Return the draft with women and men called so, unless their values stand for other groups, too."""
    data = draft["spec"]["data"]
    compared = {each.name: each.values for each in profiles if each.name in (data.get("protected") or ())}
    said = {name: guess_group_words(name, values) for name, values in compared.items()}
    others = {name: {v for each, has in compared.items() if each != name for v in has} for name in compared}
    groups = {name: words for name, words in said.items() if words and not others[name] & set(words)}
    return with_data(draft, words={**(data.get("words") or {}), "groups": groups}) if groups else draft
