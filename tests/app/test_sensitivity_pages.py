"""The pages Prediction sensitivity and Monitor: tiny real data, the real executor, no mocks."""

from __future__ import annotations

import io
import time

import pytest
from streamlit.testing.v1 import AppTest

from app import jobs
from app.drafts import drafts
from app.serving import monitor_api
from app.workspaces.workspace import Workspace
from audits.monitor.batches import Batch
from audits.monitor.bundle import MonitorBundle
from audits.monitor.profile import BatchContext
from tests.app.test_pages import MAIN, boxes, prepared, texts
from tests.rule_sets.test_page import open_tab
from tests.sensitivity.conftest import people

SENSITIVITY, MONITOR = "views/sensitivity.py", "views/monitor.py"


@pytest.fixture
def space(space: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace with data in it; monitors are looked for in its home."""
    monkeypatch.setattr(monitor_api.INGEST, "_monitors", None)
    path = space.add_file("people.csv", io.BytesIO(people(240).to_csv(index=False).encode()))
    chosen = {
        "label": "hired",
        "favorable": 1,
        "protected": ["group"],
        "features": ["skill", "height", "town"],
    }
    space.save_draft(drafts.with_data(drafts.from_files([path], "upload"), **chosen))
    return space


def visit(space: Workspace, page: str) -> AppTest:
    at = AppTest.from_file(MAIN, default_timeout=120)
    at.query_params["w"] = space.token
    at.run()
    return prepared(at.switch_page(page).run())


def audit(space: Workspace) -> None:
    spec = drafts.audit_spec(space.draft(), "sensitivity", {"protected": "group"})
    run = jobs.submit(space, spec, "Sensitivity: group")
    assert run.wait(120)
    assert run.error is None, run.error


def test_units_stand_beside_one_persons_values_and_in_what_if(space: Workspace) -> None:
    space.save_draft(drafts.with_data(space.draft(), units={"height": "cm"}))
    audit(space)
    at = open_tab(visit(space, SENSITIVITY), "People")
    at.selectbox(key="person").set_value(at.selectbox(key="person").options[0]).run()
    tables = [each.value for each in at.dataframe if "contribution" in each.value]
    assert sorted(tables[0].index) == ["height (cm)", "skill", "town"]
    at = at.toggle(key="what-if").set_value(True).run(timeout=120)

    def until(found) -> None:
        for _ in range(60):  # the model is asked in a process of its own
            if found():
                return
            time.sleep(0.1)
            at.run(timeout=120)
        raise AssertionError(texts(at))

    until(lambda: any(box.label == "height (cm)" for box in at.number_input))
    [box] = [box for box in at.number_input if box.label == "height (cm)"]
    changed = (f"{box.value + 1:,.6g} cm", f"{box.value:,.6g}")
    box.set_value(box.value + 1).run(timeout=120)
    until(lambda: any(all(each in text for each in changed) for text in texts(at)))


def test_a_window_of_what_came_in_is_audited(space: Workspace) -> None:
    audit(space)
    bundle = MonitorBundle.of(jobs.result(space, space.runs()[0]["spec"]).audits[0].result)
    monitor, _ = monitor_api.INGEST.monitors.create(bundle, name="desk", owner=space.token)
    at = visit(space, MONITOR)
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
    at = visit(space, MONITOR)
    at.multiselect[0].set_value(["groups"])
    at.button(key="submit-window").click().run()
    assert not at.exception, at.exception
    assert any("200" in each for each in boxes(at, "note"))
    run = jobs.executor().run(space.runs()[0]["id"])
    run.wait(60)
    assert [each.name for each in run.result().audits] == ["groups"]
    assert any("“desk”" in each for each in run.result().data["notes"])
