"""Exploring thresholds: presets, accuracy against the gap, and keeping what was found as a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from app import jobs, state
from app.drafts.drafts import audit_spec
from app.figure_cache import cached_figure
from app.widgets import notices
from app.widgets.audit_page import run_title
from app.widgets.results.figure_card import figure_card
from app.workspaces.workspace import Workspace
from audits.errors import InputError
from audits.groups import GroupsResult, at_threshold, text
from audits.groups.figures import curves, dots
from audits.groups.threshold_change import PRESETS, gap_and_accuracy, preset_thresholds, trade_off
from audits.runs.result import RunResult
from audits.stats.text import in_words
from audits.stats.vocabulary import vocabulary

if TYPE_CHECKING:
    import plotly.graph_objects as go

_MAX_THRESHOLDS = 12


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


def other_thresholds(found: RunResult, attribute: str, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw thresholds to try, what each comes to, and accuracy against the gap over all of them."""
    result: GroupsResult = found.audits[0].result
    moved = _threshold_controls(found, result, attribute, space, draft)
    if moved is not result:
        notices.note("With these thresholds. The saved result above is unchanged.")
        with st.container(key="moved"):
            st.text(text.headline(moved))
        figure_card(
            "group-moved",
            cached_figure(dots.rates, moved, attribute),
            lambda: moved.to_frame(),
            heading="Rates with these thresholds",
        )
    explore_trade_off(result, moved, attribute, found.model["higher_is"])


def _threshold_controls(
    found: RunResult, result: GroupsResult, attribute: str, space: Workspace, draft: Mapping[str, Any]
) -> GroupsResult:
    """Draw the thresholds, and return the comparison under them: the stored one while they are untouched."""
    sign = -1.0 if found.model["higher_is"] == "unfavorable" else 1.0
    scores = sign * result.people["score"]
    low, high = float(min(scores.min(), 0.0)), float(max(scores.max(), 1.0))
    spec = found.model["threshold"]
    values = [row.group for row in result.table if row.attribute == attribute]
    single = " × " not in attribute and len(values) <= _MAX_THRESHOLDS
    by_group = isinstance(spec, dict)
    with st.container(border=True, key="thresholds"):
        if single:
            by_group = st.toggle(
                f"A threshold for each group of {notices.label(attribute)}",
                value=isinstance(spec, dict) and attribute in spec,
                **state.choice("by-group"),
            )
        elif by_group:
            return result  # thresholds by an attribute that is not shown
        at = preset(result, attribute, values if single else [], found.model["higher_is"])
        side = "below" if sign < 0 else "at least"
        st.caption(f"They {notices.label(vocabulary().are_yes)} where the score is {side}")
        by_group = by_group or bool(at)
        asked = _by_group(attribute, values, spec, low, high, at) if by_group else _one(spec, low, high)
        moved = result
        if asked != spec:
            try:
                moved = at_threshold(result, asked, higher_is=found.model["higher_is"])
            except InputError as error:
                notices.problem(str(error))
            keep_as_run(space, draft, found, asked)
    return moved


def _one(spec: Any, low: float, high: float) -> float:
    """Draw one threshold: a slider where scores lie in [0, 1], else a number."""
    first = spec if isinstance(spec, float) else (low + high) / 2
    low, high = min(low, first), max(high, first)
    if (low, high) == (0.0, 1.0):
        return st.slider("Threshold", low, high, first, step=0.005, **state.choice("cut"))
    return st.number_input(
        "Threshold", low, high, first, step=_step(low, high), format="%.6g", **state.choice("cut")
    )


def _step(low: float, high: float) -> float:
    """Return a hundredth of the range, and no whole number: those ask for whole numbers alone."""
    step = (high - low) / 100
    return step + 0.5 if step.is_integer() else step


def _by_group(
    attribute: str, values: list[str], spec: Any, low: float, high: float, at: Mapping[str, float]
) -> Any:
    known = at or (spec.get(attribute, {}) if isinstance(spec, dict) else {})
    mark = f"-{state.widget('preset')}".replace(" ", "-") if at else ""
    common = spec if isinstance(spec, float) else (low + high) / 2
    found = {}
    with st.grid(3, min_column_width=200, border=False):
        for place, value in enumerate(values):
            first = float(known.get(value, common))
            first = min(max(first, low), high) if at else first
            found[value] = st.number_input(
                notices.label(in_words(value)),
                min(low, first),
                max(high, first),
                first,
                step=_step(low, high),
                format="%.6g",
                **state.choice(f"cut-{place}{mark}"),
            )
    return {attribute: found}


def explore_trade_off(result: GroupsResult, moved: GroupsResult, attribute: str, higher_is: Any) -> None:
    """Draw accuracy against the gap over thresholds, and where the decisions shown stand."""
    if not len(result.people) or f"group: {attribute.split(' × ')[0]}" not in result.people:
        return
    gap, level = gap_and_accuracy(moved, attribute)
    labeled = level is not None
    if level is None:
        level = float(np.average(moved.people["decision"].astype(bool), weights=moved.people["people"]))
    figure_card(
        "group-trade-off",
        cached_figure(_trade_off, result, attribute, (float(100 * gap), float(level)), higher_is=higher_is),
        lambda: trade_off(result, attribute, higher_is=higher_is),
        heading=f"{'Accuracy' if labeled else 'Favorable decisions'} against the gap",
        caption="Each dot is one threshold. Move it above to see the trade-off for these people; others may "
        "differ.",
    )


def _trade_off(
    result: GroupsResult, attribute: str, here: tuple[float, float], *, higher_is: Any
) -> go.Figure:
    return curves.trade_off(trade_off(result, attribute, higher_is=higher_is), here, attribute)


def keep_as_run(space: Workspace, draft: Mapping[str, Any], found: RunResult, threshold: Any) -> None:
    """Offer to run the comparison with the thresholds that are shown, which become the workspace's."""
    st.button(
        "Run with these thresholds",
        key="keep-thresholds",
        on_click=_keep,
        args=(space, draft, found, threshold),
        disabled=space.read_only,
        help="All audits here will use these thresholds, and this comparison runs again with them.",
    )
    notices.kept_problem("keep failed")


@state.keep_errors("keep failed")
def _keep(space: Workspace, draft: Mapping[str, Any], found: RunResult, threshold: Any) -> None:
    kept = {**draft, "spec": {**draft["spec"], "threshold": threshold}}
    given = found.spec["audits"][0]["groups"]
    compared = [name for name in given.get("by", ()) if isinstance(name, str)]
    spec = audit_spec(kept, "groups", given)
    jobs.submit(space, spec, run_title(kept, f"Groups of {', '.join(compared)}"))
    space.save_draft(dict(kept))
