"""The controls of a barycenter audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets.audit_page import ChosenOptions
from app.widgets.choices.stated import stated_number
from audits.barycenter import BarycenterOptions
from audits.options import option_of

__all__ = ["choose_options"]

_WEIGHTS = {"people": "by its people", "equal": "the same as any other"}


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
    with st.expander("More options"):
        options |= _more()
    return ChosenOptions(options, f"All groups of {' and '.join(by)}")


def _more() -> dict[str, Any]:
    chosen: dict[str, Any] = {
        "weights": st.selectbox(
            "Weight of a group",
            list(_WEIGHTS),
            format_func=_WEIGHTS.__getitem__,
            help=option_of(BarycenterOptions, "weights").help,
            **state.choice("all-weights"),
        )
    }
    for name, label in (
        ("fewest", "Smallest group (people)"),
        ("rounds", "Maximum rounds of moving the barycenter"),
        ("level", "Error rate"),
        ("material", "Smallest difference that matters (share)"),
        ("permutations", "Permutations"),
        ("seconds", "Time limit for measuring chance (seconds)"),
    ):
        chosen[name] = stated_number(BarycenterOptions, name, label, **state.choice(f"all-{name}"))
    return {key: value for key, value in chosen.items() if value != option_of(BarycenterOptions, key).default}
