"""What explains a gap: is it still there among people alike in what may explain it?"""

from __future__ import annotations

from app.explain.choices import choose_options
from app.explain.result import show_earlier, show_result
from app.widgets.audit_page import audit_page

audit_page(
    "explain",
    needs="Choose at least one protected attribute to compare by.",
    choose=choose_options,
    show=show_result,
    show_earlier=show_earlier,
)
