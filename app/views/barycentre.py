"""All groups at once: who is decided otherwise than the counterparts in all the other groups?"""

from __future__ import annotations

from app.barycentre.choices import choose_options
from app.barycentre.result import show_result
from app.widgets.audit_page import audit_page

audit_page(
    "barycentre",
    needs="Choose at least one protected attribute whose values make the groups.",
    choose=choose_options,
    show=show_result,
)
