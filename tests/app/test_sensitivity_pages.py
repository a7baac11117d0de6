"""The page Monitor: tiny real data, the real executor, no mocks."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from app import jobs
from app.drafts import drafts
from app.serving import monitor_api
from app.workspaces.workspace import Workspace
from audits.monitor.batches import Batch
from audits.monitor.bundle import MonitorBundle
from audits.monitor.profile import BatchContext
from tests.app.test_pages import MAIN, boxes, bring, prepared
from tests.sensitivity.conftest import people


def visit(space: Workspace) -> AppTest:
    at = AppTest.from_file(MAIN, default_timeout=120)
    at.query_params["w"] = space.token
    at.run()
    return prepared(at.switch_page("views/monitor.py").run())


def test_a_window_of_what_came_in_is_audited(space: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor_api.INGEST, "_monitors", None)  # they are looked for in this home
    features = ["skill", "height", "town"]
    table = people(240).to_csv(index=False)
    bring(space, table, label="hired", favorable=1, protected=["group"], features=features)
    run = jobs.submit(space, drafts.audit_spec(space.draft(), "sensitivity", {"protected": "group"}), "")
    assert run.wait(120)
    assert run.error is None, run.error
    bundle = MonitorBundle.of(jobs.result(space, space.runs()[0]["spec"]).audits[0].result)
    monitor, _ = monitor_api.INGEST.monitors.create(bundle, name="desk", owner=space.token)
    at = visit(space)
    assert "flipset" not in at.multiselect[0].value
    at.button(key="submit-window").click().run()
    assert len(boxes(at)) == 1
    assert not [run for run in space.runs() if "flipset" in run["spec"]["audits"][0]]
    at.toggle(key=f"keep-rows-{monitor.id}").set_value(True).run()
    assert not at.exception, at.exception
    assert monitor_api.INGEST.monitors.get(monitor.id).keeps_rows
    frame = people(200)
    columns = {name: frame[name].tolist() for name in bundle.reads}
    sent = BatchContext(protected={"group": tuple(frame["group"])})
    scored = bundle.score_columns(columns, len(frame))
    monitor_api.INGEST.monitors.store([Batch(monitor.id, scored, "x", sent=sent, columns=columns)])
    at = visit(space)
    at.multiselect[0].set_value(["groups"])
    at.button(key="submit-window").click().run()
    assert not at.exception, at.exception
    assert any("200" in each for each in boxes(at, "note"))
    run = jobs.executor().run(space.runs()[0]["id"])
    run.wait(60)
    assert [each.name for each in run.result().audits] == ["groups"]
    assert any("“desk”" in each for each in run.result().data["notes"])
