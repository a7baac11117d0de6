"""Waiting for what is done outside the script thread, without blocking the page."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import TypeVar

import streamlit as st

__all__ = ["wait_for"]

T = TypeVar("T")
_PATIENCE_SECONDS = 0.7  # then the page says what it waits for


def wait_for(future: Future[T], doing: str) -> T:  # noqa: RET503  (st.stop never returns)
    """Return the future's value; if that takes long, say what is being done and look again twice a second.

    Raises
    ------
    InputError
        If that is how the work ended.
    """
    try:
        return future.result(timeout=_PATIENCE_SECONDS)
    except TimeoutError:
        if future.done():
            raise
    began = time.monotonic() - _PATIENCE_SECONDS

    @st.fragment(run_every=0.5)
    def poll() -> None:
        if future.done():
            st.rerun()
        st.text(f"{doing} … {time.monotonic() - began:.0f} s")

    poll()
    st.stop()
