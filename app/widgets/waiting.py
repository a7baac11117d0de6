"""Waiting for what is done outside the script thread, without blocking the page."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import wait as futures_done
from typing import Any, TypeVar

import streamlit as st

from app import jobs
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.workspaces.workspace import Workspace

T = TypeVar("T")
_PATIENCE_SECONDS = 0.7  # then the page says what it waits for


def wait_for(future: Future[T], doing: str) -> T:  # noqa: RET503  (st.stop never returns)
    """Return the future's value; if that takes long, say what is being done and look again twice a second.

    Raises
    ------
    InputError
        If that is how the work ended.
    """
    if not futures_done([future], timeout=_PATIENCE_SECONDS).not_done:
        if (error := future.exception()) is not None:
            raise error.with_traceback(None)  # it is remembered: each view would add its own frames to it
        return future.result()
    began = time.monotonic() - _PATIENCE_SECONDS

    @st.fragment(run_every=0.5)
    def poll() -> None:
        if future.done():
            st.rerun()
        with st.container(key="waiting"):
            st.text(f"{doing} … {time.monotonic() - began:.0f} s")

    poll()
    st.stop()


def data_of(
    space: Workspace, spec: Mapping[str, Any], what: str = "the people"
) -> tuple[DataHandle, Summary]:
    """Return the data that a spec names, and their summary, as `wait_for` does."""
    return wait_for(jobs.data(space, spec), f"Preparing {what}")
