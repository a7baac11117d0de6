"""How a run stands while it ends: whoever looks sees it going on or finished, never neither."""

from __future__ import annotations

import pytest

from app import jobs
from app.workspaces.workspace import Workspace
from audits.runs.storage.store import RunStore
from tests.app.test_pages import bring


def test_a_run_that_ends_while_it_is_looked_at_is_not_lost(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f"{'fm'[k % 2]},{k % 7},{int((k + k // 2) % 3 > 0)}\n" for k in range(60))
    bring(space, "sex,skill,hired\n" + rows, label="hired", favorable=1, protected=["sex"])
    draft = space.draft()
    assert draft is not None
    spec = {**draft["spec"], "audits": [{"groups": {}}]}
    run = jobs.submit(space, spec, "groups")

    class Slow(RunStore):
        def finished(self, key: str, owner: str | None = None) -> bool:
            there = super().finished(key, owner)
            assert run.wait(120)  # it ends after the store was asked and before the answer is used
            return there

    monkeypatch.setattr(jobs, "RunStore", Slow)
    seen = jobs.status_of(space, spec)
    assert run.status == "done", run.error
    assert seen.going or seen.finished, "a page would show neither progress nor result, and stay so"
    assert jobs.status_of(space, spec).finished
