"""The steps of the guided demo: what is asked, what was found, how to read it, and where to go on."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app import drafts, state
from app.widgets.figure_card import figure_card
from app.widgets.frame import page_text
from app.widgets.result_frame import headline
from app.workspace import Workspace
from audits.data.samples import CATALOGUE
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult

__all__ = ["STEPS", "show_step", "tour_spec"]

STEPS = {
    1: "1. Groups",
    2: "2. Hidden groups",
    3: "3. Counterparts",
    4: "4. Flows",
    5: "5. Ways out",
}
_YOUNG = {"ethnicity": "Velian", "age": "[18, 30)"}
_AUDITS: list[dict[str, Any]] = [
    {"groups": {"by": ["sex", "ethnicity"]}},
    {"rule_sets": {"protected": ["sex", "ethnicity", "age"], "support": 0.02}},
    {
        "flipset": {
            "source": {"sex": "female", **_YOUNG},
            "target": {"sex": "male", **_YOUNG},
            "permutations": 99,
        }
    },
    {"outcome_transport": {"by": ["sex"], "against": "label", "permutations": 99, "draws": 50}},
    {"recourse": {"steps": [0, 0.25, 0.5, 0.75, 1], "by": ["sex"], "permutations": 199, "max_people": 400}},
]


def tour_spec(space: Workspace) -> dict[str, Any]:
    """Copy the example's files into the workspace and return the spec of all five audits."""
    draft = drafts.from_sample(space, CATALOGUE["loans"])
    return {**draft["spec"], "audits": _AUDITS}


def show_step(found: RunResult, step: int) -> None:
    """Draw one finding: the question, the sentence, the figure, how to read it."""
    audit = found.audits[step - 1]
    record = AUDITS[audit.name]
    st.markdown(page_text(f"tour_{audit.name}"))
    headline(audit.headline, audit.result.verdict, audit.result.finding)
    exhibit = record.section(audit.result).exhibits[0]
    st.text(exhibit.caption)
    figure_card(f"tour-{step}", exhibit.figure(), exhibit.table, wide=True)
    st.caption(record.limits)
    if step < max(STEPS):
        st.button(f"Next: {STEPS[step + 1]}", key="next", type="primary", on_click=_go_to, args=(step + 1,))
        return
    with st.container(horizontal=True):
        for view, title, label in (
            ("saved.py", "Report & saved audits", "Take the report of all five with you"),
            ("data_model.py", "Data & model", "Open an example, or bring your own data"),
        ):
            st.page_link(f"views/{view}", label=label, query_params=state.address(title))


def _go_to(step: int) -> None:
    state.set_widget("step", step)
