"""The steps of the guided demo: what is asked, what was found, how to read it, and where to go on."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app import state
from app.drafts import drafts
from app.drawn import presented
from app.widgets import notices
from app.widgets.frame import page_text
from app.widgets.results.figure_card import figure_card
from app.widgets.results.result_frame import headline
from app.workspaces.workspace import Workspace
from audits.data.samples import CATALOGUE
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult

__all__ = ["STEPS", "show_step", "tour_spec"]

STEPS = {
    1: "1. Groups",
    2: "2. Hidden groups",
    3: "3. Counterparts",
    4: "4. Change one word",
    5: "5. Ways out",
}
_DECISIONS = {
    "use": "Use it as it is",
    "hold": "Do not use it before it is trained anew",
    "guard": "Use it, and have people look at that group's cases",
}
_FOLLOWS = {
    "use": (
        "Then somebody must be able to say why this group may be approved so much less often. The report "
        "holds the evidence that they will be asked about."
    ),
    "hold": (
        "Then run these audits again on the next model: the comparison of two runs says, person by person, "
        "whether the gap has become smaller."
    ),
    "guard": (
        "Then watch it: the monitor counts decisions as they are made, and gives notice when a gap returns."
    ),
}
_YOUNG = {"ethnicity": "Velian", "age": "[18, 30)"}
_AUDITS: list[dict[str, Any]] = [
    {"groups": {"by": ["ethnicity", "sex"]}},
    {"rule_sets": {"protected": ["sex", "ethnicity", "age"], "support": 0.02}},
    {
        "flipset": {
            "source": {"sex": "female", **_YOUNG},
            "target": {"sex": "male", **_YOUNG},
            "permutations": 99,
        }
    },
    {"attribute_swap": {"attribute": ["sex"]}},
    {"recourse": {"steps": [0, 0.25, 0.5, 0.75, 1], "by": ["age"], "permutations": 199}},
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
    headline(audit.headline, audit.result.judged)
    exhibit = presented(record, audit.result).exhibits[0]
    st.text(exhibit.caption)
    figure_card(f"tour-{step}", exhibit.figure(), exhibit.table, wide=exhibit.wide, selects=False)
    with st.expander("What it cannot tell you"):
        st.text(record.limits)
    if step < max(STEPS):
        st.button(f"Next: {STEPS[step + 1]}", key="next", type="primary", on_click=_go_to, args=(step + 1,))
        return
    st.subheader("Your decision", anchor=False)
    st.markdown(page_text("tour_decision"))
    notices.bullets([audit.headline for audit in found.audits])
    decided = st.radio(
        "What would you do?",
        list(_DECISIONS),
        index=None,
        format_func=_DECISIONS.__getitem__,
        label_visibility="collapsed",
        **state.choice("decision"),
    )
    if decided is not None:
        st.text(_FOLLOWS[decided])
    with st.container(horizontal=True):
        for view, title, label in (
            ("saved.py", "Report & saved audits", "Take the report of all five with you"),
            ("data_model.py", "Data & model", "Open an example, or bring your own data"),
        ):
            st.page_link(f"views/{view}", label=label, query_params=state.address(title))


def _go_to(step: int) -> None:
    state.set_widget("step", step)
