"""Controls of options as they are stated on their fields: default, bounds and help are read there."""

from __future__ import annotations

from typing import Any

import streamlit as st

from audits.options import Option

NOTHING = "(automatic)"
"""What stands where nothing is chosen, for an option that then follows from others."""
_NEAR = 1e-6  # what a bound that does not belong is left by


def number_control(stated: Option, label: str, *, step: float | None = None, **kept: Any) -> Any:
    """Ask for the number that an option states; return None where there is none yet, and none is needed.

    Parameters
    ----------
    kept
        Help, key and persistence, as Streamlit's controls take them.
    """
    whole = stated.kind == "integer"
    as_told: Any = int if whole else float
    low = stated.at_least if stated.above is None else stated.above + _NEAR
    high = stated.at_most if stated.below is None else stated.below - _NEAR
    first = (low or 0) if stated.default is None and stated.required else stated.default
    found = st.number_input(
        label,
        min_value=None if low is None else as_told(low),
        max_value=None if high is None else as_told(high),
        value=None if first is None else as_told(first),
        step=1 if whole and step is None else step,
        format=None if whole else "%g",
        placeholder=NOTHING,
        **kept,
    )
    return None if found is None else as_told(found)
