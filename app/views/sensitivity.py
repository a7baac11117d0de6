"""Prediction sensitivity: is this very prediction driven by protected status?"""

from __future__ import annotations

from app.sensitivity.choices import choose_options
from app.sensitivity.result import show_earlier, show_result
from app.widgets.audit_page import audit_page

audit_page(
    "sensitivity",
    needs="Choose at least one protected attribute.",
    choose=choose_options,
    show=show_result,
    show_earlier=show_earlier,
)
