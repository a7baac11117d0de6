"""The controls of a rule-set audit, and about how long it will take."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets.any_audit import options_fold, other_options
from app.widgets.audit_page import ChosenOptions
from audits.errors import InputError
from audits.options import options_of
from audits.rule_sets.measures.values import WORDS
from audits.rule_sets.options import MEASURES, RuleSetsOptions
from audits.stats.text import count
from audits.subgroups.texts import TERMS

_SUPPORTS = [0.01, 0.02, 0.05, 0.1, 0.2]
_DRAWN = {"protected", "support", "text", "terms", "measures", "context"}
_OF_COLUMNS = {"depth", "intervals", "bins", "binning", "categories"}
_STATED = {each.name: each for each in options_of(RuleSetsOptions)}
_HARD = ("false_positive_rate", "false_negative_rate", "precision")  # of any decision, without probabilities


def choose_options(draft: Mapping[str, Any], data: DataHandle, summary: Summary) -> ChosenOptions | None:
    """Draw the controls; None while nothing is chosen to make rules of."""
    texts = [name for name, kind in summary.kinds.items() if kind == "text"]
    text = None
    if texts:
        protected = [f"identity terms in {name}" for name in texts]
        first = int(draft["spec"]["model"].get("train") == "text" or not data.protected)
        kind = st.selectbox(
            "Rules on", ["protected attributes", *protected], index=first, **state.choice("rules")
        )
        text = texts[protected.index(kind)] if kind in protected else None
    support = st.select_slider(
        "Smallest group (share of people)",
        _SUPPORTS,
        help=_STATED["support"].help,
        value=_suggested_support(draft),
        format_func=lambda share: f"{100 * share:g}%",
        **state.choice("support"),
    )
    options: dict[str, Any] = {"support": support}
    if text is not None:
        options["text"] = text
        options |= _terms()
        title = f"Rule sets: terms in {text}"
    else:
        names = list(data.protected)
        chosen = st.multiselect("Attributes", names, default=names, **state.choice("attributes"))
        if not chosen:
            return None
        options["protected"] = chosen
        title = f"Rule sets: {', '.join(chosen)}"
    if data.label is not None:
        names = [
            name for name in MEASURES if draft["spec"]["model"].get("predictions") is None or name in _HARD
        ]
        measures = st.multiselect(
            "Errors to compare, too",
            names,
            format_func=lambda name: WORDS[name].name,
            help=_STATED["measures"].help,
            **state.choice("measures"),
        )
        if measures:
            options["measures"] = measures
    fold = options_fold("rule_sets")
    with fold:
        options |= {} if text is not None else _context(data)
    options |= other_options("rule_sets", _DRAWN | (_OF_COLUMNS if text is not None else set()), fold)
    if "text" not in options:
        with contextlib.suppress(InputError):  # the run says what is wrong
            candidates = data.asked("rule_sets", "candidates", options=dict(options))
            st.text(f"{count(candidates)} groups can be looked at")
    return ChosenOptions(options, title)


def _terms() -> dict[str, Any]:
    """Draw the list of identity terms; return it where it is not the paper's."""
    written = "\n".join(f"{name}: {', '.join(terms)}" for name, terms in TERMS.items())
    with st.expander("Identity terms", key="identity-terms"):
        text = st.text_area(
            "One category per line, its terms separated by commas",
            written,
            height=260,
            key="terms",
            persist_state="session",
            help="Whole words in any case, in the plural too. A term belongs to one category.",
        )
    terms = read_terms(text)
    return {} if terms == {name: list(group) for name, group in TERMS.items()} else {"terms": terms}


def read_terms(text: str) -> dict[str, list[str]]:
    r"""Read ``category: term, term``, one category a line; a category named twice has the terms of both.

    Raises
    ------
    InputError
        For a line without a category or without terms, or a list without a line.

    Examples
    --------
    >>> read_terms("age: old, young\n\nfaith: sikh,")
    {'age': ['old', 'young'], 'faith': ['sikh']}
    """
    found: dict[str, list[str]] = {}
    for place, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, colon, rest = line.partition(":")
        terms = [term.strip() for term in rest.split(",") if term.strip()]
        if not colon or not name.strip() or not terms:
            raise InputError(
                f"line {place} of the identity terms", "must be a category, a colon and terms", line.strip()
            )
        found.setdefault(name.strip(), []).extend(terms)
    if not found:
        raise InputError("the identity terms", "must hold at least one category", advice="write one per line")
    return found


def _context(data: DataHandle) -> dict[str, Any]:
    context = st.multiselect(
        "Narrow groups further by",
        [name for name in data.features if name not in data.protected],
        help=_STATED["context"].help,
        **state.choice("context"),
    )
    return {"context": context} if context else {}


def _suggested_support(draft: Mapping[str, Any]) -> float:
    """What the example's own rule-set audit uses, else the paper's 5%."""
    own = (draft.get("rule_sets") or {}).get("support")
    return own if own in _SUPPORTS else _STATED["support"].default
