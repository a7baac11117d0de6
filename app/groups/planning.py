"""The panel that says what a comparison of groups could see among so many people."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.widgets import notices
from audits.errors import InputError
from audits.groups import GroupsResult
from audits.groups.planning import plan_groups
from audits.stats import Estimate
from audits.stats.words import count

__all__ = ["planning_panel"]

_WORLDS = 40
_MOST_PEOPLE = 20_000


def planning_panel(result: GroupsResult) -> None:
    """Draw the sizes and difference to plan for, and how often the comparison would give each verdict."""
    with st.expander("What could be seen among how many people?"):
        if "cluster" in result.people:
            notices.note("Rows are not one independent person each: plan by numbers of persons instead.")
            return
        with st.form("plan", border=False):
            columns = st.columns(3)
            numbers: list[Any] = [
                columns[0].number_input(
                    "People in the first group", 2, _MOST_PEOPLE, 300, **state.choice("plan-first")
                ),
                columns[1].number_input(
                    "People in the second group", 2, _MOST_PEOPLE, 100, **state.choice("plan-second")
                ),
                columns[2].number_input(
                    "Difference (percentage points)",
                    0.5,
                    90.0,
                    10.0,
                    step=1.0,
                    format="%g",
                    **state.choice("plan-gap"),
                ),
            ]
            asked = st.form_submit_button("Simulate")
        if asked:
            state.keep("plan", (result.finding, *numbers))
        if state.get("plan") != (result.finding, *numbers):
            st.text(
                "People are drawn from those compared and dealt into two groups; in the second one so many "
                f"decisions are turned. {_WORLDS} such worlds go through this comparison."
            )
            return
        first, second, gap = numbers
        try:
            found = plan_groups(result, (int(first), int(second)), (0.0, gap / 100), worlds=_WORLDS)
        except InputError as error:
            notices.problem(str(error))
            return
        table = pd.DataFrame(
            {
                "planted": [f"{100 * row.difference:g} points" for row in found],
                "evidence of a difference": [_share(row.evidence) for row in found],
                "no material difference": [_share(row.no_material) for row in found],
                "insufficient evidence": [_share(row.insufficient) for row in found],
            }
        )
        st.dataframe(table, hide_index=True, alt="Share of simulated worlds with each verdict, by difference")
        st.caption(
            f"{count(first)} and {count(second)} people, {_WORLDS} worlds, with Wilson 95 % intervals. "
            "Evidence where 0 points were planted is a false alarm. Other audits: "
            "`python -m audits plan SPEC`, with the spec from *Export*."
        )


def _share(share: Estimate) -> str:
    value, low, high = (100 * (each or 0.0) for each in (share.value, share.low, share.high))
    return f"{value:.0f} % ({low:.0f} to {high:.0f})"
