"""What visitors remove: a saved audit, a file that they brought, or all of a workspace."""

from __future__ import annotations

from pathlib import Path

from app import jobs
from app.drafts.files import files_of
from app.serving.ingestion import INGEST
from app.state import note
from app.workspaces.shares import Shares
from app.workspaces.workspace import Workspace
from audits.runs.storage.saved import SavedRuns


def delete(space: Workspace, identity: str) -> None:
    """Delete a saved audit: its entry, its files, its result in the store, and what is remembered of it."""
    space.check_writable()
    saved = SavedRuns()
    found = saved.get(identity, space.token)
    saved.delete(found.id, space.token)
    Shares().forget(space.token, found.id)
    note("deleted", space, found.id)
    if any(other.key == found.key for other in saved.list(owner=space.token)):
        return  # the same run is kept under another title
    jobs.forget_run(space, found.key)


def delete_upload(space: Workspace, path: Path) -> int:
    """Delete a file that was brought, and the audits made with it, which hold its rows; return how many."""
    space.check_writable()
    written = path.as_posix()
    saved = SavedRuns()
    made = [run for run in saved.list(owner=space.token) if written in files_of(run.spec)]
    for record in space.runs():
        if written in files_of(record["spec"]):
            jobs.forget_run(space, record["key"])
    for run in made:
        jobs.executor().forget(space.token, run.key)
        saved.delete(run.id, space.token)
        Shares().forget(space.token, run.id)
    draft = space.draft()
    if draft is not None and written in files_of(draft["spec"]):
        space.save_draft(None)
    space.remove_file(path)
    jobs.forget(space)
    note("deleted", space, path.parent.name)
    return len(made)


def erase(space: Workspace) -> None:
    """Remove every byte of a workspace: uploads, runs, saved audits, monitors, what is remembered."""
    space.check_writable()
    note("erased", space)
    jobs.executor().forget(space.token)
    for monitor in INGEST.monitors.of_owner(space.token):
        INGEST.remove(monitor.id)
    saved = SavedRuns()
    for run in saved.list(owner=space.token):
        saved.delete(run.id, space.token)
    Shares().forget(space.token)
    jobs.forget(space)
    space.forget()
