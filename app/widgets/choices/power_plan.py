"""The panel that says what an audit could see among so many people, by simulation through its own test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import jobs, state
from app.widgets import notices
from app.widgets.run_bar import ended_badly, progress
from app.workspaces.workspace import Workspace
from audits.checks import adapter
from audits.errors import InputError, RunFailed
from audits.runs.plans.power import PowerRow
from audits.runs.registry import AUDITS
from audits.stats.text import count

_MIN, _MOST = 2, 20_000


def planning_panel(space: Workspace, spec: Mapping[str, Any], audit: str) -> None:
    """Draw sizes and a difference to plan for, and how often the audit would give each verdict."""
    kept, title = state.get(f"plan {audit}"), "How many people does this audit need?"
    panel = st.expander(title, expanded=kept is not None, key=f"planning-{audit}", on_change="rerun")
    if not panel.open:  # each view of each page would pay for its controls
        return
    with panel:
        if AUDITS[audit].unplanned:
            st.text(AUDITS[audit].unplanned)
            return
        asked = _plan_controls(space)
        if asked is not None:
            try:
                kept = (jobs.plan(space, spec, asked), asked, spec)
            except (InputError, RunFailed) as error:
                notices.problem(str(error))
                return
            state.keep(f"plan {audit}", kept)
        if kept is None:
            st.text(
                "Each simulated world samples your people and assigns groups at random, so that any "
                "difference is luck. Then a set share of decisions is changed in one group. The audit "
                "runs on every world with the options chosen, and its verdicts are counted."
            )
            return
        run, asked, about = kept
        if about != spec:
            notices.note("Data, model or options have changed since; simulate again for these.")
        if not run.finished:
            progress(run, key="plan-", stop="Stop")
        elif run.status == "done":
            _show(adapter(list[PowerRow]).validate_python(run.answer), asked["worlds"])
        else:
            ended_badly(run)


def _plan_controls(space: Workspace) -> dict[str, Any] | None:
    """Draw what is planned for; return it once it is asked for."""
    with st.form("plan", border=False):
        columns = st.columns(4)
        people = columns[0].number_input(
            "People in the group that differs", _MIN, _MOST, 100, **state.choice("plan-people")
        )
        others = columns[1].number_input(
            "People in each other group", _MIN, _MOST, 300, **state.choice("plan-others")
        )
        gap = columns[2].number_input(
            "Difference (percentage points)",
            0.5,
            90.0,
            10.0,
            step=0.5,
            format="%g",
            **state.choice("plan-gap"),
        )
        worlds = columns[3].number_input(
            "Simulated worlds",
            5,
            500,
            20,
            help="As many worlds with the difference as without. Each runs a whole audit.",
            **state.choice("plan-worlds"),
        )
        if not st.form_submit_button("Simulate", key="simulate", disabled=space.read_only):
            return None
    return {
        "sizes": [int(people)],
        "others": int(others),
        "differences": [0.0, gap / 100],
        "worlds": int(worlds),
    }


def _show(found: list[PowerRow], worlds: int) -> None:
    first = found[0]
    if first.reason:
        notices.note(f"It cannot be planned here: {first.reason}")
        return
    table = pd.DataFrame([row.words for row in found])
    st.dataframe(table, hide_index=True, alt="Share of simulated worlds with each verdict, by difference")
    st.caption(
        f"{count(first.people)} people in the group that differs, {count(first.others)} in each other group; "
        f"{count(worlds)} worlds per row, with Wilson 95% intervals. Evidence where 0 points were planted is "
        "a false alarm."
    )
