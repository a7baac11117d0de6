"""Transport flows: whose outcomes are mapped onto whose, and how unlike are the people?"""

from __future__ import annotations

from app.outcome_transport.choices import choose_options
from app.outcome_transport.result import show_result
from app.widgets.audit_page import audit_page

audit_page(
    "outcome_transport",
    needs="Choose what to compare, and at least one protected attribute to make subgroups of.",
    choose=choose_options,
    show=show_result,
)
