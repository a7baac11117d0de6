"""Controls of options as they are stated on their fields: default, bounds and help are read there."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.widgets.page_words import page_words
from audits.options import option_of

_NEAR = 1e-6  # what a bound that does not belong is left by


def stated_number(
    kind: type, name: str, label: str, *, value: float | None = None, step: float | None = None, **kept: Any
) -> Any:
    """Ask for the number that the option `name` of an options class states.

    Parameters
    ----------
    value
        Instead of the stated default, where that depends on something.
    kept
        Key and persistence, as Streamlit's controls take them.
    """
    stated = option_of(kind, name)
    whole = stated.kind == "integer"
    low = stated.at_least if stated.above is None else stated.above + _NEAR
    high = stated.at_most if stated.below is None else stated.below - _NEAR
    start = stated.default if value is None else value
    told: dict[str, Any] = {} if whole else {"format": "%g"}
    as_told = int if whole else float
    found = st.number_input(
        label,
        min_value=None if low is None else as_told(low),
        max_value=None if high is None else as_told(high),
        value=as_told(start),
        step=step,
        help=page_words(stated.help),
        **told,
        **kept,
    )
    return as_told(found)
