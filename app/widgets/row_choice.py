"""A table of people of whom one can be opened: by a click on the row, or by its number."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.widgets.figure_card import csv_bytes, number_columns

__all__ = ["choose_row"]

_MOST_SHOWN = 1000


def choose_row(
    table: pd.DataFrame,
    key: str,
    person: str,
    *,
    alt: str,
    formats: Mapping[str, Any] | None = None,
) -> Hashable | None:
    """Draw `table`, whose index is the user's row number, and return the row chosen, if one is.

    Parameters
    ----------
    key : str
        Of the table; names the file to download, too.
    person : str
        Key of the choice, kept in the address.
    formats : mapping, optional
        Column configuration beyond that of numbers.
    """
    table.index.name = "row"
    shown = table.head(_MOST_SHOWN)
    rows = [str(row) for row in table.index]
    st.dataframe(
        shown,
        key=key,
        height=min(38 + 35 * len(shown), 388),
        column_config={**number_columns(shown), **(formats or {})},
        on_select=lambda: _open(key, person, rows),
        selection_mode="single-row",
        alt=alt,
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            "One person, by row number",
            rows,
            index=None,
            placeholder="Click a row above, or choose one here",
            width=320,
            **state.choice(person),
        )
        st.download_button(
            "People (CSV)",
            data=lambda: csv_bytes(table),
            file_name=f"{key}.csv",
            mime="text/csv",
            on_click="ignore",
            key=f"csv-{key}",
        )
    return None if chosen is None else table.index[rows.index(chosen)]


def _open(key: str, person: str, rows: list[str]) -> None:
    selected = state.widget(key)["selection"]["rows"]
    state.set_widget(person, rows[selected[0]] if selected and selected[0] < len(rows) else None)
