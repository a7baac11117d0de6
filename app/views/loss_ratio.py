"""Individual fairness: does a person's loss grow when only what should not matter is changed?"""

from __future__ import annotations

from app.loss_ratio.choices import choose_options
from app.loss_ratio.result import show_result
from app.widgets.audit_page import audit_page

audit_page(
    "loss_ratio",
    needs="Choose at least one attribute or feature that should not matter.",
    choose=choose_options,
    show=show_result,
)
