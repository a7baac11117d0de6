"""What explains a gap: does it remain among people with the same values in what may explain it?"""

from __future__ import annotations

from app.explain.choices import choose_options
from app.widgets.audit_page import audit_page
from app.widgets.results.result_page import result_page

audit_page(
    "explain",
    needs="Choose at least one protected attribute to compare by.",
    choose=choose_options,
    show=lambda found, _, draft: result_page(
        found, draft, settings={"people compared": found.audits[0].result.rows}
    ),
)
