"""Rule sets: which hidden intersection of groups does the model decide differently?"""

from __future__ import annotations

from app.rule_sets.choices import choose_options
from app.rule_sets.result import show_result
from app.widgets.audit_page import audit_page

audit_page(
    "rule_sets",
    needs="Choose at least one protected attribute, or a column of text.",
    choose=choose_options,
    show=show_result,
)
