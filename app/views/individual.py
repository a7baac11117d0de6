"""Individual fairness: does a person's loss grow when only what should not matter is changed?"""

from __future__ import annotations

from app.widgets.audit_page import audit_page
from app.widgets.loss_ratio_options import choose_options
from app.widgets.loss_ratio_result import show_earlier, show_result

audit_page(
    "Individual fairness",
    "loss_ratio",
    question="individual_question",
    needs="Choose at least one attribute or feature that should not matter.",
    choose=choose_options,
    show=show_result,
    show_earlier=show_earlier,
)
