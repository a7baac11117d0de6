"""The controls of a recourse audit: what can be changed, how, and at what cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.summary import Summary
from app.widgets.audit_page import Chosen
from audits.data import AuditData
from audits.outcomes import GERMAN_ROLES

__all__ = ["choose_options"]

_START_SECONDS = {"logistic": 1.0, "forest": 4.0, "boosting": 4.0, "mlp": 12.0}
_STEPS = [round(0.05 * k, 2) for k in range(21)]
_WAYS = {"any way": None, "up only": "up", "down only": "down"}
_SCALED = {"continuous", "integer", "boolean", "ordinal", "datetime"}


def choose_options(draft: Mapping[str, Any], data: AuditData, summary: Summary) -> Chosen | None:
    """Draw the controls; None while nothing can be changed, or no attribute makes groups."""
    names = [name for name in data.features if name not in data.protected]
    suggested = [name for name in names if data.roles.get(name) == "actionable"]
    if not suggested and all(name in data.frame for name in GERMAN_ROLES if name != "sex"):
        suggested = [name for name in names if GERMAN_ROLES.get(name) == "actionable"]
        st.text("Roles as in the paper's Table A1.")
    actionable = st.multiselect("A person can change", names, default=suggested, **state.choice("actionable"))
    groups = list(data.protected)
    by = st.multiselect("Groups by", groups, default=groups[:1], **state.choice("recourse-by"))
    if not actionable or not by:
        return None
    options: dict[str, Any] = {"actionable": actionable, "by": by, "steps": _STEPS}
    with st.expander("Limits and costs"):
        options |= _limits(actionable, summary)
    trained = draft["spec"]["model"].get("train")
    share = float(draft["spec"]["data"].get("test_size", 0.3)) if trained else 1.0
    seconds = 2.0 + _START_SECONDS.get(trained, 0.0) * summary.rows / 20_000
    return Chosen(options, "Recourse", seconds + 0.004 * min(2000, share * summary.rows))


def _limits(actionable: list[str], summary: Summary) -> dict[str, Any]:
    table = pd.DataFrame(
        {
            "column": actionable,
            "direction": "any way",
            "at least": pd.array([None] * len(actionable), dtype="Float64"),
            "at most": pd.array([None] * len(actionable), dtype="Float64"),
            "cost": 1.0,
        }
    )
    edited = st.data_editor(
        table,
        key=f"limits-{'-'.join(actionable)}",
        hide_index=True,
        disabled=["column"],
        column_config={
            "direction": st.column_config.SelectboxColumn("direction", options=list(_WAYS), required=True),
            "cost": st.column_config.NumberColumn(
                "cost", min_value=0.0, help="Of a standard deviation, or of a change of category"
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
                ("direction", _WAYS.get(row["direction"])),
                ("at_least", _number(row["at least"])),
                ("at_most", _number(row["at most"])),
            )
            if value is not None
        }
        if summary.kinds[row["column"]] not in _SCALED and found:
            st.text(f"{row['column']} holds categories: direction and bounds do not apply.")
        elif found:
            limits[row["column"]] = found
        cost = _number(row["cost"])
        if cost is not None and cost != 1.0:
            costs[row["column"]] = cost
    return {key: value for key, value in (("limits", limits), ("cost_weights", costs)) if value}


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)
