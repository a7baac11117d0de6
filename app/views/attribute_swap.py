"""Change one word: whose decision changes when nothing but a protected attribute does?"""

from __future__ import annotations

from app.widgets.any_audit import any_audit_page

any_audit_page("attribute_swap")
