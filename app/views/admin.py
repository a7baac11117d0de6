"""Server: what runs, who uses how much, and what was done; for administrators alone."""

from __future__ import annotations

from app.admin.server_state import audit_log, memory_and_disk, runs
from app.widgets import notices
from app.widgets.frame import title
from app.workspaces import auth

title("Server")
visitor = auth.person()
if visitor is None or not visitor.administers:
    notices.problem("Only users named in EVENHAND_ADMINS can see this page.")
else:
    runs()
    memory_and_disk()
    audit_log()
