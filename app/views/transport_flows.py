"""Transport flows: whose outcomes are mapped onto whose, and how unlike are the people?"""

from __future__ import annotations

from app.widgets.audit_page import audit_page
from app.widgets.outcome_options import choose_options
from app.widgets.outcome_result import show_earlier, show_result

audit_page(
    "Transport flows",
    "outcome_transport",
    question="flows_question",
    needs="Choose what to compare, and at least one protected attribute to make subgroups of.",
    choose=choose_options,
    show=show_result,
    show_earlier=show_earlier,
)
