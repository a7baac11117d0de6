"""A choice among things, with names or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st


def choose(label: str, options: Mapping[Any, str] | Sequence[str], chosen: Any, key: str, **more: Any) -> Any:
    """Draw a box with `options`, by their names if they have some; return the one chosen, at first `chosen`.

    Nothing is chosen at first if it is not among them. What else a box takes is told with `more`; it is 320
    pixels wide unless that says otherwise.
    """
    values = list(options)
    named = options.__getitem__ if isinstance(options, Mapping) else str
    index = values.index(chosen) if chosen in values else None
    return st.selectbox(label, values, index=index, format_func=named, key=key, **{"width": 320, **more})
