"""A choice among things that have names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st


def choose(label: str, options: Mapping[str, str], chosen: str | None, key: str, **more: Any) -> Any:
    """Draw a box with the names of `options`; return the one chosen, at first `chosen` if it is among them.

    What else a box takes is told with `more`; it is 320 pixels wide unless that says otherwise.
    """
    values = list(options)
    return st.selectbox(
        label,
        values,
        index=None if chosen is None or chosen not in options else values.index(chosen),
        format_func=options.__getitem__,
        key=key,
        **{"width": 320, **more},
    )
