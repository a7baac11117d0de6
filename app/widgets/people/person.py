"""The card of one person, which comes into view when somebody is chosen."""

from __future__ import annotations

import html
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.serving.headers import INTO_VIEW

__all__ = ["card_of", "in_units"]


def card_of(row: Hashable, key: str = "person-card") -> DeltaGenerator:
    """Return the container of what is said of the person in `row`; it scrolls into view once."""
    card = st.container(border=True, key=key)
    # another row is another element, which the browser runs anew; the same one stays where it is
    card.html(
        f'<span data-row="{html.escape(str(row))}"></span><script>{INTO_VIEW}</script>',
        unsafe_allow_javascript=True,
    )
    return card


def in_units(table: pd.DataFrame, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table with a row a column of the data, its unit behind its name where one is given."""
    units: Mapping[str, str] = spec["data"].get("units") or {}
    return table.rename(index=lambda name: f"{name} ({units[name]})" if name in units else name)
