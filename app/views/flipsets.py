"""Flipsets: would the decision have been another, had the person belonged to the other group?"""

from __future__ import annotations

from app.widgets.audit_page import audit_page
from app.widgets.flipset_options import choose_options
from app.widgets.flipset_result import live_curve, show_earlier, show_result

audit_page(
    "Flipsets",
    "flipset",
    question="flipsets_question",
    needs="Choose at least one protected attribute to compare by.",
    choose=choose_options,
    show=show_result,
    show_earlier=show_earlier,
    while_running=live_curve,
)
