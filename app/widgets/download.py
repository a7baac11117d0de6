"""A button that gives a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from app import state


def download(
    label: str, name: str, mime: str, make: Callable[[], Any], *, what: str = "", **more: Any
) -> None:
    """Draw a button for the file `name`, whose content `make` gives when it is clicked.

    The audit log notes that it was taken, as `what` or by its name; what else a button takes is in `more`.
    """
    content = state.exporting(make, what or name)
    st.download_button(label, data=content, file_name=name, mime=mime, on_click="ignore", **more)
