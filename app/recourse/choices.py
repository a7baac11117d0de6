"""The controls of a recourse audit: what can be changed, how, and at what cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.drafts.numbers import read_number
from app.recourse.questions import SCALED, WAYS, suggest_columns, ways_of
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets import notices
from app.widgets.any_audit import options_fold, other_options
from app.widgets.audit_page import ChosenOptions
from app.widgets.choices.roles import changeable, roles_section, with_role
from audits.errors import InputError
from audits.options import option_of
from audits.recourse.options import RecourseOptions
from audits.runs.digests import digest_of

_DRAWN = {"actionable", "by", "limits", "cost_weights", "follows"}
_MAX_LISTED = 30
_MAX_NAMED = 3


def choose_options(draft: Mapping[str, Any], data: DataHandle, summary: Summary) -> ChosenOptions | None:
    """Draw the controls; None while nothing can be changed, or no attribute makes groups.

    Raises
    ------
    InputError
        If the model is a column of predictions, which cannot say what a changed person would get.
    """
    names = changeable(data)
    first, why = suggest_columns(data, names)
    actionable = st.multiselect("A person can change", names, default=first, **state.choice("actionable"))
    if why and actionable == first:
        with st.container(key="quiet-actionable"):
            st.text(why)
    unread = [name for name in with_role(data) if name not in data.features]
    if unread:
        notices.note(f"The model does not read {', '.join(unread)}: changing that cannot help.")
    groups = list(data.protected)
    by = st.multiselect("Groups by", groups, default=groups[:1], **state.choice("recourse-by"))
    roles_section(draft, data)
    if not actionable and names:
        listed = ", ".join(names[:_MAX_NAMED]) + (" …" if len(names) > _MAX_NAMED else "")
        st.button(
            f"Suppose that {notices.label(listed)} could be changed",
            key="mend-actionable",
            on_click=state.set_widget,
            args=("actionable", names),
        )
    if not actionable or not by:
        return None
    options: dict[str, Any] = {"actionable": actionable, "by": by}
    with st.expander("Limits and costs", key="recourse-limits"):
        options |= _limits(draft, actionable, data, summary)
    with st.expander("Columns that follow others", key="recourse-followers"):
        options |= _follows(actionable, data, summary)
    options |= other_options("recourse", _DRAWN, options_fold("recourse"))
    return ChosenOptions(options, "Recourse")


def _limits(
    draft: Mapping[str, Any], actionable: list[str], data: DataHandle, summary: Summary
) -> dict[str, Any]:
    ways = ways_of(draft, actionable, summary.kinds)
    table = pd.DataFrame(
        {
            "column": actionable,
            "direction": ways,
            "at least": pd.Series([None] * len(actionable), dtype=object),
            "at most": pd.Series([None] * len(actionable), dtype=object),
            "cost": "1",
        }
    )
    edited = st.data_editor(
        table,
        key=f"limits-{digest_of([actionable, ways])[:8]}",
        hide_index=True,
        disabled=["column"],
        column_config={
            "direction": st.column_config.SelectboxColumn("direction", options=list(WAYS), required=True),
            # text, as cells for numbers drop every comma without a word
            "at least": st.column_config.TextColumn("at least", alignment="right"),
            "at most": st.column_config.TextColumn("at most", alignment="right"),
            "cost": st.column_config.TextColumn(
                "cost", alignment="right", help="Cost per standard deviation, or per change of category"
            ),
        },
        alt="Limits of each column and what a change costs",
    )
    limits: dict[str, Any] = {}
    costs: dict[str, float] = {}
    for row in edited.to_dict("records"):
        found = {
            key: value
            for key, value in (
                ("direction", WAYS.get(row["direction"])),
                ("at_least", _number(row, "at least")),
                ("at_most", _number(row, "at most")),
            )
            if value is not None
        }
        if summary.kinds[row["column"]] not in SCALED and found:
            st.text(f"{row['column']} holds categories: direction and bounds do not apply.")
        elif found:
            limits[row["column"]] = found
        cost = _number(row, "cost")
        if cost is not None and cost != 1.0:
            costs[row["column"]] = cost
    for name in actionable:
        values = () if summary.kinds[name] in SCALED else data.distinct(name, _MAX_LISTED)
        if values:
            limits |= _among(name, values)
    return {key: value for key, value in (("limits", limits), ("cost_weights", costs)) if value}


def _follows(actionable: list[str], data: DataHandle, summary: Summary) -> dict[str, Any]:
    """Draw which numbers move along with others."""
    numbers = [
        name
        for name in data.features
        if summary.kinds[name] in {"continuous", "integer"} and name not in actionable
    ]
    moved = st.multiselect(
        "Columns that follow others",
        numbers,
        help=option_of(RecourseOptions, "follows").help,
        **state.choice("moves-along"),
    )
    follows = {}
    for name in moved:
        others = [other for other in data.features if other != name]
        causes = st.multiselect(f"{notices.label(name)} follows", others, **state.choice(f"follows-{name}"))
        if causes:
            follows[name] = causes
    return {"follows": follows} if follows else {}


def _among(name: str, values: Sequence[str]) -> dict[str, Any]:
    """Offer the values of a category that a person can move to; all of them where none is chosen."""
    chosen = st.multiselect(
        f"{notices.label(name)} can become", values, **state.choice(f"among-{name}"), placeholder="any value"
    )
    return {name: {"among": chosen}} if chosen else {}


def _number(row: Mapping[Any, Any], name: str) -> float | None:
    """Return the number in a cell; None where it is empty.

    Raises
    ------
    InputError
        If something else is written there.
    """
    text = row[name]
    if not isinstance(text, str) or not text.strip():
        return None
    found = read_number(text)
    if found is None or (name == "cost" and found < 0):
        what = "must be a number from 0" if name == "cost" else "must be one number"
        raise InputError(f"“{name}” of {row['column']}", what, text, "write it as 1234 or 0.5")
    return found
