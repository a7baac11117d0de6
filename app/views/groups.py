"""Overview: how do the groups compare at all, and what did the other audits find?"""

from __future__ import annotations

from app.groups.choices import choose_options
from app.groups.result import show_result
from app.widgets.audit_page import audit_page
from app.widgets.results.verdict_cards import verdict_cards

audit_page(
    "groups",
    needs="Choose at least one protected attribute to compare by.",
    choose=choose_options,
    show=show_result,
    below=verdict_cards,
)
