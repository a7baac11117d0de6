"""The controls of a rule-set audit, and about how long it will take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.held import DataHeld
from app.summary import Summary
from app.widgets.audit_page import Chosen
from audits.errors import InputError
from audits.mining.texts import TERMS
from audits.stats.words import count

__all__ = ["choose_options", "read_terms"]

_SUPPORTS = [0.01, 0.02, 0.05, 0.1, 0.2]
_SHAPES = {"runs": "every range of bins", "thresholds": "one-sided thresholds", "bins": "single bins"}
_ORDERS = {"score": "size of the difference", "evidence": "strength of evidence"}
_START_SECONDS = {"logistic": 1.0, "forest": 4.0, "boosting": 4.0, "mlp": 12.0, "text": 6.0}
_USUAL = {"depth": None, "intervals": "runs", "permutations": 999, "material": 0.1, "rank_by": "score"}


def choose_options(draft: Mapping[str, Any], data: DataHeld, summary: Summary) -> Chosen | None:
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
        value=_suggested_support(draft),
        format_func=lambda share: f"{100 * share:g} %",
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
    with st.expander("More options"):
        options |= _more(data, text is not None)
    return Chosen(options, title, _seconds(draft, data, summary, options))


def _terms() -> dict[str, Any]:
    """Draw the list of identity terms; return it where it is not the paper's."""
    written = "\n".join(f"{name}: {', '.join(terms)}" for name, terms in TERMS.items())
    with st.expander("Identity terms"):
        text = st.text_area(
            "One category a line, its terms separated by commas",
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
        raise InputError("the identity terms", "must hold at least one category", advice="write one a line")
    return found


def _more(data: DataHeld, on_text: bool) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    if not on_text:
        depth = st.number_input(
            "Rules in a group, at most (0: any)",
            min_value=0,
            max_value=20,
            value=0,
            key="depth",
            persist_state="session",
        )
        chosen["depth"] = int(depth) or None
        shapes = list(_SHAPES)
        chosen["intervals"] = st.selectbox(
            "Rules on numbers",
            shapes,
            format_func=_SHAPES.__getitem__,
            key="intervals",
            persist_state="session",
        )
        context = st.multiselect(
            "Narrow groups further by",
            [name for name in data.features if name not in data.protected],
            key="context",
            persist_state="session",
            help="Ordinary columns; every group still has a protected rule.",
        )
        if context:
            chosen["context"] = context
    chosen["permutations"] = int(
        st.number_input(
            "Shuffles of the decisions",
            min_value=19,
            max_value=9999,
            value=999,
            key="rule-shuffles",
            persist_state="session",
        )
    )
    points = st.number_input(
        "A difference matters from (percentage points)",
        min_value=1,
        max_value=90,
        value=10,
        key="rule-material",
        persist_state="session",
    )
    chosen["material"] = round(points / 100, 4)
    orders = ["score", "evidence"]
    chosen["rank_by"] = st.selectbox(
        "Order by", orders, format_func=_ORDERS.__getitem__, key="rank-by", persist_state="session"
    )  # fmt: skip
    return {key: value for key, value in chosen.items() if key not in _USUAL or value != _USUAL[key]}


def _suggested_support(draft: Mapping[str, Any]) -> float:
    """What the example's own rule-set audit uses, else the paper's 5 %."""
    own = (draft.get("rule_sets") or {}).get("support", 0.05)
    return own if own in _SUPPORTS else 0.05


def _seconds(draft: Mapping[str, Any], data: DataHeld, summary: Summary, options: Mapping[str, Any]) -> float:
    trained = draft["spec"]["model"].get("train")
    seconds = 1.5 + _START_SECONDS.get(trained, 0.0) * summary.rows / 20_000
    if "text" in options:
        return seconds + 6.0
    try:
        found = data.count_candidates(options)
    except InputError:
        return seconds  # the run says what is wrong
    st.text(f"{count(found)} rule sets by definition")
    family = min(found, 2_000_000) / 3
    return seconds + 2e-8 * family * options.get("permutations", 999) * 2 + min(found, 2_000_000) * 1e-6
