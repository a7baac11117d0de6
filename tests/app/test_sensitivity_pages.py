"""The pages Prediction sensitivity and Monitor: tiny real data, the real executor, no mocks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app import jobs
from app.drafts import drafts
from app.serving import monitor_api
from app.workspaces.workspace import Workspace
from audits.monitor.batches import Batch
from audits.monitor.bundle import MonitorBundle
from audits.monitor.profile import BatchContext
from tests.app.test_pages import MAIN, boxes, bring, carry_out, prepared, texts
from tests.rule_sets.test_page import open_tab
from tests.sensitivity.conftest import people


def visit(space: Workspace, page: str) -> AppTest:
    at = AppTest.from_file(MAIN, default_timeout=120)
    at.query_params["w"] = space.token
    at.run()
    return prepared(at.switch_page(f"views/{page}.py").run())


def test_one_of_three_groups_says_which_it_would_have_been_and_one_person_what_if(space: Workspace) -> None:
    frame = people(200)
    frame.loc[np.random.default_rng(0).random(200) < 0.3, "group"] = "c"
    frame["other_height"] = frame["height"] + 5
    frame["other_group"] = frame["group"].map({"a": "b", "b": "c", "c": "a"})
    data = {"protected": ["group"], "features": ["skill", "height", "group"], "units": {"height": "cm"}}
    bring(space, frame.to_csv(index=False), label="hired", favorable=1, **data)
    at = visit(space, "sensitivity")
    at.multiselect(key="lives-group").set_value(["other_height"]).run()
    assert carry_out(space, at).error.where == "audits[0].sensitivity.counterfactuals.group"
    assert len(boxes(at)) == 1
    at.multiselect(key="lives-group").set_value(["other_height", "other_group"]).run()
    run = carry_out(space, at)
    asked = space.runs()[0]["spec"]["audits"][0]["sensitivity"]["counterfactuals"]
    assert asked == {"height": "other_height", "group": "other_group"}
    open_tab(at, "How well do proxies reveal it?")
    made = run.result().audits[0].result.match_set
    assert made.source == "counterfactuals"
    assert made.sentence in texts(at)
    open_tab(at, "People")
    at.selectbox(key="person").set_value(at.selectbox(key="person").options[0]).run()
    tables = [each.value for each in at.dataframe if "contribution" in each.value]
    assert "height (cm)" in tables[0].index
    at.toggle(key="what-if").set_value(True).run(timeout=120)
    [box] = until(at, lambda: [box for box in at.number_input if box.label == "height (cm)"])
    changed = (f"{box.value + 1:,.6g} cm", f"{box.value:,.6g}")
    box.set_value(box.value + 1).run(timeout=120)
    until(at, lambda: [text for text in texts(at) if all(each in text for each in changed)])


def until(at: AppTest, found: Callable[[], list[Any]]) -> list[Any]:
    """Draw the page until something is found: the model is asked in a process of its own."""
    for _ in range(60):
        if there := found():
            return there
        time.sleep(0.1)
        at.run(timeout=120)
    raise AssertionError(texts(at))


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
    at = visit(space, "monitor")
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
    at = visit(space, "monitor")
    at.multiselect[0].set_value(["groups"])
    at.button(key="submit-window").click().run()
    assert not at.exception, at.exception
    assert any("200" in each for each in boxes(at, "note"))
    run = jobs.executor().run(space.runs()[0]["id"])
    run.wait(60)
    assert [each.name for each in run.result().audits] == ["groups"]
    assert any("“desk”" in each for each in run.result().data["notes"])
