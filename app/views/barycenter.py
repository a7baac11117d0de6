"""All groups at once: who is decided otherwise than the counterparts in all the other groups?"""

from __future__ import annotations

from app.barycenter.choices import choose_options
from app.barycenter.result import show_result
from app.widgets.audit_page import audit_page

audit_page(
    "barycenter",
    needs="Choose at least one protected attribute whose values make the groups.",
    choose=choose_options,
    show=show_result,
)
