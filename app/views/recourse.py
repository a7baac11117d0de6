"""Recourse: what could rejected people change, and does one group have further to go?"""

from __future__ import annotations

from app.recourse.choices import choose_options
from app.recourse.questions import ask_questions
from app.recourse.result import show_result
from app.widgets.audit_page import audit_page

audit_page(
    "recourse",
    needs="Choose at least one column that a person can change, and an attribute to compare by.",
    choose=choose_options,
    show=show_result,
    below=ask_questions,
)
