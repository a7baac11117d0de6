"""The last result of an audit in this workspace, while there is none for what is chosen now."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from app import work
from app.workspace import Workspace
from audits.errors import RunFailed

__all__ = ["earlier_result"]


def earlier_result(
    space: Workspace, spec: Mapping[str, Any], audit: str, show: Callable[[Any], None]
) -> None:
    """Show the last result of `audit` through `show`, greyed and dated, unless it is that of `spec`."""
    for record in space.runs():
        if record["spec"].get("audits", [{}])[0].keys() != {audit} or record["spec"] == spec:
            continue
        if "compare" in record["spec"]:
            continue  # its page is another one
        if record["spec"].get("data", {}).get("path") != spec.get("data", {}).get("path"):
            continue  # of other people
        try:
            result = work.result(space, record["spec"]).audits[0].result
        except (RunFailed, ValueError):
            continue  # it was cancelled, failed, or its file is gone
        when = time.strftime("%d %B %Y, %H:%M", time.localtime(record["submitted"]))
        st.divider()
        st.text(f"Earlier result, {when}, with other choices: {record['title']}")
        with st.container(key="earlier"):
            show(result)
        return
