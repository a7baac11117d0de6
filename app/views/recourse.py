"""Recourse: what could rejected people change, and does one group have further to go?"""

from __future__ import annotations

from app.widgets.audit_page import audit_page
from app.widgets.recourse_options import choose_options
from app.widgets.recourse_result import show_earlier, show_result

audit_page(
    "Recourse",
    "recourse",
    question="recourse_question",
    needs="Choose at least one column that a person can change, and an attribute to compare by.",
    choose=choose_options,
    show=show_result,
    show_earlier=show_earlier,
)
