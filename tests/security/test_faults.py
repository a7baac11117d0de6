"""A database that is away when a run ends: the result returns to the list once it is back."""

from __future__ import annotations

import contextlib
import time

from sqlalchemy.exc import OperationalError

from audits.errors import RunFailed
from audits.runs import saved as module
from audits.runs.inline import InlineExecutor
from audits.runs.saved import SavedRuns


def test_a_result_returns_to_the_list_once_the_database_is_back(tmp_path, monkeypatch):
    rows = "".join(f"{'fm'[k % 2]},{k % 7},{int(k % 7 > 3)}\n" for k in range(80))
    (tmp_path / "people.csv").write_text("sex,skill,hired\n" + rows)
    data = {"path": "people.csv", "label": "hired", "favorable": 1, "protected": ["sex"]}
    spec = {"data": data, "model": {"train": "logistic"}, "seed": 0, "audits": [{"groups": {}}]}
    monkeypatch.setattr(module, "_WAITS", (0.1,))
    kept = SavedRuns(tmp_path / "home")
    identity = kept.begin(spec, tmp_path, owner="somebody")
    run = InlineExecutor().submit(spec, tmp_path, "somebody")
    assert run.status == "done", run.error
    away = [True]
    writing = kept._database.writing

    @contextlib.contextmanager
    def sometimes():
        if away[0]:
            raise RunFailed("away") from OperationalError("", {}, Exception("away"))
        with writing() as connection:
            yield connection

    monkeypatch.setattr(kept._database, "writing", sometimes)
    kept.follow(identity, run)
    assert kept.get(identity).status == "running", "nothing could be noted"
    away[0] = False
    for _ in range(100):
        if kept.get(identity).status == "done":
            break
        time.sleep(0.05)
    assert kept.load(identity).audits[0].name == "groups"


def test_another_fault_is_not_tried_again(tmp_path):
    kept = SavedRuns(tmp_path / "home")

    class Broken:
        status = "done"

        def result(self):
            raise RunFailed("The result is damaged.")

    assert kept._noted("nobody", Broken())
