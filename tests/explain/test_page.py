"""The page of explain: chosen, run in the real executor, shown; roles decide what is offered."""

from __future__ import annotations

import io
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

from app import jobs
from app.drafts import drafts
from app.workspaces.workspace import Workspace
from tests.app.test_pages import carry_out, open_options
from tests.explain.test_explain import crowd

ROOT = Path(__file__).resolve().parents[2]


def test_a_gap_is_explained_from_the_page(space: Workspace) -> None:
    path = space.add_file("people.csv", io.BytesIO(crowd(900, 0).to_csv(index=False).encode()))
    data = {
        "label": "decision",
        "favorable": 1,
        "protected": ["group"],
        "features": ["department", "noise0", "noise1"],
        "kinds": {"department": "categorical"},
        "roles": {"immutable": ["noise1"]},
    }
    draft = drafts.with_data(drafts.from_files([path], "upload"), **data)
    draft["spec"]["model"] = {"predictions": {"label": "decision"}}
    space.save_draft(draft)
    at = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60)
    at.query_params["w"] = space.token
    at.run().switch_page("views/explain.py").run()
    for _ in range(60):
        if not any(text.value.startswith("Preparing") for text in at.text):
            break
        time.sleep(0.5)
        at.run()
    assert at.multiselect(key="explainers").value == ["department", "noise0"]
    open_options(at, "explain")
    at.number_input(key="with-draws").set_value(300).run()
    run = carry_out(space, at)
    result = run.result().audits[0].result
    assert at.container(key="finding").text[0].value == run.result().audits[0].headline
    headers = [header.value for header in at.subheader]
    assert "department" in headers[1]
    at.session_state["tab"] = "How we tested"
    at.run()
    assert result.finding in [text.value for text in at.text]
    assert space.runs()[0]["spec"]["audits"][0]["explain"]["draws"] == 300


def test_the_overview_shows_what_is_left_of_the_gap(space: Workspace) -> None:
    path = space.add_file("people.csv", io.BytesIO(crowd(900, 0).to_csv(index=False).encode()))
    data = {
        "label": "decision",
        "favorable": 1,
        "protected": ["group"],
        "features": ["department", "noise0"],
        "kinds": {"department": "categorical"},
    }
    draft = drafts.with_data(drafts.from_files([path], "upload"), **data)
    draft["spec"]["model"] = {"predictions": {"label": "decision"}}
    space.save_draft(draft)
    at = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60)
    at.query_params["w"] = space.token
    at.run().switch_page("views/groups.py").run()
    for key in ("run", "look-within"):
        for _ in range(60):
            if not any(text.value.startswith("Preparing") for text in at.text):
                break
            time.sleep(0.5)
            at.run()
        if key == "look-within":
            at.session_state["tab"] = "Like for like?"
            at.run()
        at.button(key=key).click().run()
        run = jobs.executor().run(space.runs()[0]["id"])
        assert run is not None
        assert run.wait(120)
        at.run()
        assert not at.exception
    audited = run.result().audits[0]
    assert audited.name == "explain"
    told = [text.value for text in at.text]
    assert audited.headline in told
    gap = audited.result.gap.value
    changes = [abs(gap - each.unexplained.value) for each in audited.result.each]
    assert changes == sorted(changes, reverse=True), "the one that changes the gap most first"
