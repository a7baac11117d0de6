"""Exploring thresholds: presets, accuracy against the gap, and keeping what was found as a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from app import state, work
from app.drafts.drafts import audit_spec
from app.drawn import drawn
from app.widgets import notices
from app.widgets.audit_page import run_title
from app.widgets.results.figure_card import figure_card
from app.workspaces.workspace import Workspace
from audits.errors import InputError, RunFailed
from audits.groups import GroupsResult
from audits.groups.changing import PRESETS, gap_and_accuracy, preset_thresholds, trade_off
from audits.groups.figures import curves
from audits.runs.result import RunResult

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["explored", "keep_as_run", "preset"]


def preset(result: GroupsResult, attribute: str, values: Sequence[str], higher_is: Any) -> dict[str, float]:
    """Draw the presets; return the thresholds by group that the one chosen means, none without."""
    if len(values) < 2:
        return {}
    chosen = st.segmented_control(
        "Thresholds that give every group",
        list(PRESETS),
        format_func=str.capitalize,
        help=". ".join(
            f"{name.capitalize()}: {told[:1].lower()}{told[1:]}" for name, told in PRESETS.items()
        ),
        **state.choice("preset"),
    )
    if chosen is None:
        return {}
    try:
        return preset_thresholds(result, attribute, chosen, higher_is=higher_is)
    except InputError as error:
        notices.problem(str(error))
        return {}


def explored(result: GroupsResult, moved: GroupsResult, attribute: str, higher_is: Any) -> None:
    """Draw accuracy against the gap over thresholds, and where the decisions shown stand."""
    if not len(result.people) or f"group: {attribute.split(' × ')[0]}" not in result.people:
        return
    gap, level = gap_and_accuracy(moved, attribute)
    labelled = level is not None
    if level is None:
        level = float(np.average(moved.people["decision"].astype(bool), weights=moved.people["people"]))
    st.subheader(f"{'Accuracy' if labelled else 'Favorable decisions'} against the gap", anchor=False)
    st.text(
        "Each dot is one threshold for everybody; move the thresholds above to see where they lead. This "
        "describes the people audited and promises nothing for others."
    )
    figure_card(
        "group-trade-off",
        drawn(_trade_off, result, attribute, (float(100 * gap), float(level)), higher_is=higher_is),
        lambda: trade_off(result, attribute, higher_is=higher_is),
    )


def _trade_off(
    result: GroupsResult, attribute: str, here: tuple[float, float], *, higher_is: Any
) -> go.Figure:
    return curves.trade_off(trade_off(result, attribute, higher_is=higher_is), here, attribute)


def keep_as_run(space: Workspace, draft: Mapping[str, Any], found: RunResult, threshold: Any) -> None:
    """Offer to run the comparison with the thresholds that are shown, which become the workspace's."""
    st.button(
        "Keep as a run",
        key="keep-thresholds",
        on_click=_keep,
        args=(space, draft, found, threshold),
        disabled=space.read_only,
        help="The thresholds shown become those of all audits here, and this comparison is run with them.",
    )
    if failed := state.get("keep failed"):
        state.forget("keep failed")
        notices.problem(failed)


@state.told
def _keep(space: Workspace, draft: Mapping[str, Any], found: RunResult, threshold: Any) -> None:
    kept = {**draft, "spec": {**draft["spec"], "threshold": threshold}}
    given = found.spec["audits"][0]["groups"]
    compared = [name for name in given.get("by", ()) if isinstance(name, str)]
    try:
        spec = audit_spec(kept, "groups", given)
        work.submit(space, spec, run_title(kept, f"Groups of {', '.join(compared)}"))
    except (InputError, RunFailed) as error:
        state.keep("keep failed", str(error))
        return
    space.save_draft(dict(kept))
