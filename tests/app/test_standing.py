"""How a run stands while it ends: whoever looks sees it going on or finished, never neither."""

from __future__ import annotations

import pytest

from app import jobs, state
from app.workspaces.workspace import Workspace
from audits.errors import InputError
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


def test_what_one_callback_could_not_do_outlives_another_that_succeeds() -> None:
    def fail() -> None:
        raise InputError("limits", "must be known")

    state.report_errors(fail)()
    state.report_errors(lambda: None)()
    assert "limits" in state.get(state.NOT_DONE)
    state.forget(state.NOT_DONE)
