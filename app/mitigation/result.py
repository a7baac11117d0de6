"""Training the model again for its worst rule set, and what that does to every other audit's finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state, work
from app.drafts.drafts import audit_spec
from app.drawn import drawn
from app.tables.held import DataHeld
from app.tables.summary import audited_size
from app.widgets import notices
from app.widgets.frame import page_text
from app.widgets.results.figure_card import figure_card
from app.widgets.results.verdict_cards import title_of
from app.widgets.run_bar import ended_badly, progress, run_button
from app.widgets.waiting import wait_for
from app.workspaces.workspace import Workspace
from audits.checks import build
from audits.errors import InputError
from audits.mitigation import figures
from audits.mitigation.options import MitigationOptions
from audits.mitigation.record import AUDIT
from audits.mitigation.result import MitigationResult
from audits.records import Size
from audits.runs.registry import AUDITS
from audits.stats.words import percent

__all__ = ["mitigation_options", "mitigation_section"]

_SHARED = ("protected", "support", "bins", "depth", "text", "terms")


def mitigation_section(space: Workspace, draft: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Draw the section below a rule-set result: the offer, the run, or what it found."""
    trained = draft["spec"]["model"].get("train")
    st.subheader("Train the model again for the worst rule set", anchor=False)
    if trained is None:
        st.text("Only a model that was trained here can be trained again.")
        return
    if (trained == "text") != ("text" in options):
        st.text(
            "A model of words can be trained again for identity terms: choose them as the rules."
            if trained == "text"
            else "A model that reads no text can be trained again for protected attributes: choose them."
        )
        return
    data, summary = wait_for(
        work.data(space, draft["spec"]["data"], draft["spec"].get("seed", 0)), "Preparing the people"
    )
    offered = mitigation_options(space, draft, options, data)
    names = list(offered["also"])
    kept = names
    if names:
        kept = st.multiselect(
            "Stated before and after",
            names,
            default=names,
            format_func=title_of,
            help="Every audit that needs no choice on these data, and those you ran, as you ran them.",
            **state.choice("also"),
        )
    chosen = offered | {"also": {name: offered["also"][name] for name in names if name in kept}}
    spec = audit_spec(draft, "mitigation", chosen)
    try:
        standing = work.standing(space, spec)
    except InputError as error:
        notices.problem(str(error))
        return
    if standing.finished:
        _show(work.result(space, spec).audits[0].result)
        return
    st.markdown(page_text("mitigation"))
    with st.container(width=320, key="mitigation"):
        seconds = _seconds(chosen, audited_size(draft, summary))
        run_button(
            space, spec, "Rule sets: trained again", standing, seconds, "mitigate", label="Train again"
        )
    if standing.going and standing.run is not None:
        progress(standing.run)
    else:
        ended_badly(standing.run)


def _seconds(options: Mapping[str, Any], size: Size) -> float:
    """About how long it takes to train again, and to run every other audit before and after."""
    seconds = AUDITS["mitigation"].expected_seconds(build(MitigationOptions, options, "mitigation"), size)
    for name, given in options["also"].items():
        audit = AUDITS[name]
        seconds += 2 * audit.expected_seconds(build(audit.options, given, name), size)
    return seconds


def mitigation_options(
    space: Workspace,
    draft: Mapping[str, Any],
    options: Mapping[str, Any],
    data: DataHeld,
) -> dict[str, Any]:
    """Return the options of the mitigation that belongs to a rule-set audit.

    The audits stated before and after are all that need no choice, and those that were run on these data and
    this model, with the options of their last run.
    """
    own = {AUDIT.name, *AUDIT.states}
    also: dict[str, Any] = {}
    for record in space.runs():  # the last run first
        spec = record["spec"]
        if any(spec.get(part) != draft["spec"].get(part) for part in ("data", "model", "threshold")):
            continue
        for audit in spec.get("audits", ()):
            (name, given), *_ = audit.items()
            if name not in own:
                also.setdefault(name, dict(given))
    shared = {name: options[name] for name in _SHARED if name in options}
    return shared | {"also": data.usual_audits(draft["spec"]["model"].get("train")) | also}


def _show(result: MitigationResult) -> None:
    with st.container(key="mitigated"):
        st.text(result.finding)
    with st.container(horizontal=True, vertical_alignment="center", key="mitigation-verdict"):
        st.badge(result.judged.badge_text, color="gray")
        st.text("of what is left of the difference")
    notices.notes(result.warnings)
    figure_card("mitigation-left", drawn(figures.left, result), result.to_frame)
    figure_card("mitigation", drawn(figures.amounts, result), result.to_frame)
    if result.frontier:
        figure_card("mitigation-frontier", drawn(figures.frontier, result), result.frontier_frame)
    first, last = result.steps[0], result.steps[result.chosen]
    st.text(f"Every finding before, and after training with {last.added:,} more samples")
    with st.container(border=True):
        people = first.accuracy.n
        _before_after(
            "accuracy",
            f"{percent(first.accuracy.value, people)} of those held out decided as they turned out",
            f"{percent(last.accuracy.value, people)}",
        )
        for before, after in zip(first.also, last.also, strict=True):
            _before_after(
                before.audit.replace("_", " "),
                f"{before.finding} ({before.verdict})",
                f"{after.finding} ({after.verdict})",
            )


def _before_after(name: str, before: str, after: str) -> None:
    st.markdown(f"**{name.capitalize()}**")
    st.text(f"Before: {before}")
    st.text(f"After: {after}")
