"""Mitigation: does training with more examples of the worst group help it, and whom does it cost?"""

from __future__ import annotations

from app.drafts.drafts import check_trained
from app.widgets.any_audit import any_audit_page

any_audit_page("mitigation", check=check_trained)
