"""What is deleted is gone: no byte of it is left in the home, and what one found is not handed to another."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path

import pytest

from app import jobs
from app.drafts import drafts
from app.serving.maintenance import Maintenance
from app.workspaces import deletion
from app.workspaces.shares import Shares
from app.workspaces.workspace import Workspace, issue_token
from audits.runs.storage.audit_log import AuditLog
from audits.runs.storage.saved import SavedRuns
from tests.refused import refused


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Return a home with a worker that serves all tests here; each brings rows with a mark of its own."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "_executor", None)
        patch.setenv("EVENHAND_WORKERS", "1")
        patch.setenv("EVENHAND_HOME", str(home))
        yield home
        jobs.close()


def bring(owner: str, mark: str = "Atlantean") -> Workspace:
    space = Workspace(owner)
    rows = "".join(f"{mark if k % 2 else 'Utopian'},{k % 9},{int(k % 9 > 4)}\n" for k in range(120))
    path = space.add_file("people.csv", io.BytesIO(f"nation,skill,hired\n{rows}".encode()))
    draft = drafts.from_files([path], "upload")
    space.save_draft(drafts.with_data(draft, label="hired", favorable=1, protected=["nation"]))
    return space


def run(space: Workspace, mark: str = "Atlantean") -> dict:
    spec = {**space.draft()["spec"], "audits": [{"groups": {}}]}
    made = jobs.submit(space, spec, f"About {mark}")
    assert made.wait(120)
    assert made.status == "done", made.error
    for _ in range(200):  # the result goes among the saved audits in another thread
        if (saved := SavedRuns().list(owner=space.token)) and all(each.status == "done" for each in saved):
            return spec
        time.sleep(0.05)
    raise AssertionError("the run was not saved")


def holding(base: Path, text: str) -> list[str]:
    """Return the files below `base` that hold `text`, in their bytes or their names."""
    files = [Path(where, name) for where, _, names in os.walk(base) for name in names]  # one may go meanwhile
    return [str(each) for each in files if text in each.name or text.encode() in each.read_bytes()]


def test_a_deleted_workspace_leaves_no_byte(base):
    mark = "Zanzibarensis"  # stands in rows of the table brought
    space = bring(issue_token(), mark)
    _, summary = jobs.data(space, space.draft()["spec"]).result(60)
    assert summary.rows == 120
    run(space, mark)
    Shares().make(space, 3)
    assert holding(base, mark), "or the test could not fail"
    assert holding(base, space.token)
    deletion.erase(space)
    assert not holding(base, mark)
    assert not holding(base, space.token)


def test_a_deleted_audit_leaves_the_upload_and_that_takes_the_audits_made_with_it_along(base):
    mark = "Brobdingnagian"
    space, stranger = bring(issue_token(), mark), bring(issue_token(), mark)
    spec = run(space, mark)
    assert jobs.status_of(space, spec).finished
    assert not jobs.status_of(stranger, spec).finished, "what one found is not handed to another"
    deletion.erase(stranger)
    assert jobs.result(space, spec).audits
    (saved,) = SavedRuns().list(owner=space.token)
    deletion.delete(space, saved.id)
    left = holding(base, mark)
    assert all("/files/" in name for name in left), left
    assert not jobs.status_of(space, spec).finished
    assert not space.runs()
    run(space, mark)
    (path,) = space.files()
    other = space.add_file("other.csv", io.BytesIO(b"a,b\n1,2\n"))
    assert deletion.delete_upload(space, path) == 1
    assert not holding(base, mark)
    assert (space.files(), space.draft(), SavedRuns().list(owner=space.token)) == ([other], None, [])


def test_what_nobody_opens_grows_old_unless_the_clock_has_jumped(base, monkeypatch):
    monkeypatch.setenv("EVENHAND_KEEP_DAYS", "30")
    old, used = bring(issue_token()), bring(issue_token())
    tending = Maintenance()
    now, ticks = time.time(), time.monotonic()
    for path in (old.folder, *old.folder.glob("*.json")):
        os.utime(path, (now - 31 * 86_400, now - 31 * 86_400))
    tending.tidy()  # the first look after a gap believes nothing
    assert old.exists
    monkeypatch.setattr(time, "monotonic", lambda: ticks + 86_500)
    tending.tidy()
    assert not old.exists
    assert used.exists
    assert "retention" in [entry["what"] for entry in AuditLog(base).entries()]
    monkeypatch.setattr(time, "time", lambda: now + 365 * 86_400)
    tending.tidy()
    assert used.exists, "a year at once is a clock that jumped"


def test_no_spec_reaches_files_outside_its_workspace(base):
    mine, other = bring(issue_token()), bring(issue_token())
    theirs = next(iter((other.folder / "files").glob("*/*")))
    (mine.folder / "files" / "link.csv").symlink_to(theirs)
    spec = {**mine.draft()["spec"], "audits": [{"groups": {}}]}
    climbing = f"../{other.token}/{theirs.relative_to(other.folder)}"
    for path in (climbing, str(theirs), "files/link.csv", "/etc/passwd"):
        wrong = {**spec, "data": {**spec["data"], "path": path}}
        for ask in (jobs.status_of, jobs.result, lambda space, each: jobs.submit(space, each, "")):
            with refused("data.path"):
                ask(mine, wrong)
        with refused("data.path"):
            jobs.data(mine, wrong)
