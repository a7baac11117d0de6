"""Training the model again for its worst rule set, and what that does to every other audit's finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import jobs, state
from app.drafts.drafts import audit_spec
from app.figure_cache import cached_section
from app.tables.handles import DataHandle
from app.tables.summary import audited_size
from app.widgets import notices
from app.widgets.frame import page_text
from app.widgets.results.exhibits import show_facts, show_section
from app.widgets.results.verdict_cards import title_of
from app.widgets.run_bar import run_button, show_standing, status_shown
from app.widgets.waiting import data_of
from app.workspaces.workspace import Workspace
from audits.checks import build
from audits.mitigation.options import MitigationOptions
from audits.mitigation.record import AUDIT
from audits.mitigation.result import MitigationResult

_SHARED = ("protected", "support", "bins", "depth", "text", "terms")


def mitigation_section(space: Workspace, draft: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Draw the section below a rule-set result: the offer, the run, or what it found."""
    trained = draft["spec"]["model"].get("train")
    st.subheader("Retrain the model for the worst rule set", anchor=False)
    if trained is None:
        st.text("Only a model trained here can be retrained.")
        return
    if (trained == "text") != ("text" in options):
        st.text(
            "A text model can be retrained for identity terms: choose them as the rules."
            if trained == "text"
            else "A model without text can be retrained for protected attributes: choose them."
        )
        return
    data, summary = data_of(space, draft["spec"])
    offered = mitigation_options(space, draft, options, data)
    names = list(offered["also"])
    kept = names
    if names:
        kept = st.multiselect(
            "Audits before and after",
            names,
            default=names,
            format_func=title_of,
            help="All audits that need no choices on these data, and those you ran, with your options.",
            **state.choice("also"),
        )
    chosen = offered | {"also": {name: offered["also"][name] for name in names if name in kept}}
    spec = audit_spec(draft, "mitigation", chosen)
    if (standing := status_shown(space, spec)) is None:
        return
    if standing.finished:
        _show(jobs.result(space, spec).audits[0].result)
        return
    st.markdown(page_text("mitigation"))
    with st.container(width=320, key="mitigation"):
        options_chosen = build(MitigationOptions, chosen, "mitigation")
        seconds = AUDIT.expected_seconds(options_chosen, audited_size(draft, summary))
        run_button(
            space, spec, "Rule sets: trained again", standing, seconds, "mitigate", label="Train again"
        )
    show_standing(standing)


def mitigation_options(
    space: Workspace, draft: Mapping[str, Any], options: Mapping[str, Any], data: DataHandle
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
    return shared | {"also": data.usual_audits(draft["spec"]["model"]) | also}


def _show(result: MitigationResult) -> None:
    with st.container(key="mitigated"):
        st.text(result.finding)
    with st.container(horizontal=True, vertical_alignment="center", key="mitigation-verdict"):
        st.badge(notices.label(result.judged.badge_text, 200), color="gray")
        st.text("of what is left of the difference")
    notices.notes(result.warnings)
    section = cached_section(AUDIT, result)
    show_section(section, prefix="mitigation-")
    show_facts(section)
