"""Groups: who is treated worse, by which measure, and at which threshold?"""

from __future__ import annotations

from app.groups.choices import choose_options
from app.groups.result import show_result
from app.widgets.audit_page import audit_page

audit_page(
    "groups",
    needs="Choose at least one protected attribute to compare by.",
    choose=choose_options,
    show=show_result,
)
