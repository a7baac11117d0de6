"""The controls of a barycenter audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets.any_audit import options_fold, other_options
from app.widgets.audit_page import ChosenOptions
from audits.barycenter import BarycenterOptions
from audits.options import option_of

_DRAWN = {"by"}


def choose_options(_: Mapping[str, Any], data: DataHandle, summary: Summary) -> ChosenOptions | None:
    """Draw the controls; None while no attribute is chosen."""
    if not summary.groups:
        return None
    names = list(data.protected)
    most = max(names, key=lambda name: len(summary.groups.get(name, ())))
    by = st.multiselect(
        "Groups by",
        names,
        default=[most],
        help=option_of(BarycenterOptions, "by").help,
        **state.choice("all-by"),
    )
    if not by:
        return None
    options: dict[str, Any] = {} if by == names[:1] else {"by": by}
    options |= other_options("barycenter", _DRAWN, options_fold("barycenter"))
    return ChosenOptions(options, f"All groups of {' and '.join(by)}")
