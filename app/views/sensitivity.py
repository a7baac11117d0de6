"""Prediction sensitivity: is this very prediction driven by protected status?"""

from __future__ import annotations

from app.widgets.audit_page import audit_page
from app.widgets.sensitivity_options import choose_options
from app.widgets.sensitivity_result import show_earlier, show_result

audit_page(
    "Prediction sensitivity",
    "sensitivity",
    question="sensitivity_question",
    needs="Choose at least one protected attribute.",
    choose=choose_options,
    show=show_result,
    show_earlier=show_earlier,
)
