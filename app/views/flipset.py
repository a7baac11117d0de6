"""Flipsets: would the decision have been another, had the person belonged to the other group?"""

from __future__ import annotations

from app.flipset.choices import choose_options
from app.flipset.result import live_curve, show_result
from app.widgets.audit_page import audit_page

audit_page(
    "flipset",
    needs="Choose at least one protected attribute to compare by.",
    choose=choose_options,
    show=show_result,
    while_running=live_curve,
)
