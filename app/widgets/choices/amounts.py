"""The smallest difference of numbers that matters, in their unit or in per cent."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app import state
from audits.options import option_of


def amount_limit(kind: type) -> dict[str, Any]:
    """Draw the smallest difference of numbers that matters; return the option where it is not the usual."""
    stated = option_of(kind, "material_amount")
    given = st.text_input(
        "Smallest difference that matters",
        str(stated.default),
        help=f"{stated.help} Write 5% or 0.50.",
        **state.choice("material-amount"),
    ).strip()
    return {} if given in {"", stated.default} else {"material_amount": given}
