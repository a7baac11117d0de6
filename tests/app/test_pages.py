"""Pages through AppTest: tiny real data, the real executor, no mocks."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app import jobs
from app.data_model.model_choice import WAYS
from app.drafts import drafts
from app.workspaces.workspace import Workspace, issue_token
from audits.data.samples import CATALOG
from audits.runs.executors.job import Run

ROOT = Path(__file__).resolve().parents[2]
MAIN = str(ROOT / "app" / "main.py")


def visit(space: Workspace) -> AppTest:
    at = AppTest.from_file(MAIN, default_timeout=60)
    at.query_params["w"] = space.token
    return at.run()


def open_example(space: Workspace, name: str) -> AppTest:
    """Come to the data of an example of which nothing is run yet."""
    space.save_draft(drafts.from_sample(space, CATALOG[name]))
    return visit(space)


def prepared(at: AppTest) -> AppTest:
    """Draw the page again until what it waits for is there: a trial of audits may be before it."""
    for _ in range(120):
        if not any(box.key == "waiting" for box in at.container):
            break
        time.sleep(0.5)
        at.run()
    return at


def texts(at: AppTest) -> list[str]:
    return [element.value for element in at.text]


def boxes(at: AppTest, kind: str = "problem") -> list[str]:
    """Return what the boxes of a kind say: of problems, or of notes."""
    return [box.text[0].value for box in at.container if str(box.key).startswith(f"{kind}-")]


def can_run(at: AppTest) -> bool:
    """Whether the page has its button to run."""
    return any(button.key == "run" for button in at.button)


def open_options(at: AppTest, audit: str) -> AppTest:
    """Open the fold with the other options of an audit: they are drawn once it is open."""
    at.session_state[f"options-{audit}"] = True
    return at.run()


def unfold(at: AppTest) -> AppTest:
    """Open what is folded: it is drawn once opened."""
    folds = [str(each.key) for each in at.expander if str(each.key).startswith("fold-")]
    for key in folds:
        at.session_state[key] = True
    return at.run() if folds else at


def figures(at: AppTest) -> list[dict[str, Any]]:
    """Return the figures of a page as its browser is given them, those in folds too."""
    unfold(at)
    return [json.loads(each.proto.bytes)["figure"] for each in at.get("bidi_component")]


def bring(space: Workspace, content: str, **data: object) -> None:
    path = space.add_file("people.csv", io.BytesIO(content.encode()))
    space.save_draft(drafts.with_data(drafts.from_files([path], "upload"), **data))


def carry_out(space: Workspace, at: AppTest, key: str = "run") -> Run:
    """Press Run, or another button that runs, wait until the run is over, and draw the page again."""
    at.button(key=key).click().run()
    run = jobs.executor().run(space.runs()[0]["id"])
    assert run is not None
    assert run.wait(240)
    at.run()
    assert not at.exception
    return run


@pytest.mark.parametrize("name", ["hiring", "arrests"])
def test_an_example_opens_ready_to_run(space: Workspace, name: str) -> None:
    at = open_example(space, name)
    assert not at.exception
    assert not at.button(key="next").disabled
    assert all(box.value is not None for box in at.selectbox if str(box.key).startswith("predict-"))
    prepared(at.switch_page("views/flipset.py").run())
    assert not at.exception
    assert not at.button(key="run").disabled


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"features": ["skill", "hired"]}, "'hired'"),
        ({"protected": ["hired"]}, "'hired'"),
        ({"label": "hried"}, ""),
        ({"bins": {"skill": [9, 1]}}, "'skill'"),
        ({"keep": [{"column": "skill", "at_least": 99}]}, "60"),
    ],
)
def test_a_wrong_choice_is_told_and_leaves_the_controls_that_mend_it(space, wrong, told) -> None:
    rows = "".join(f"{k % 7},{'ab'[k % 2]},{int(k % 7 > 2)}\n" for k in range(60))
    bring(space, "skill,town,hired\n" + rows, protected=["town"], label="hired", favorable=1)
    draft = space.draft() or {}
    draft["spec"]["data"] |= wrong
    space.save_draft(draft)
    at = visit(space)
    assert not at.exception
    assert len(at.tabs) == 5
    assert at.button(key="next").disabled
    said = texts(at)
    assert any(told in each for each in said), said
    assert not any("Traceback" in each for each in said)


@pytest.mark.parametrize(
    ("predictions", "threshold", "told", "ready"),
    [
        ({"score": "band"}, 0.5, ("'band'", f"“{WAYS['label']}”"), False),
        ({"score": "decile"}, 5, ("60%",), True),
        ({"label": "band"}, 0.5, ("'band'", "'high'", "'low'"), False),
    ],
)
def test_stored_predictions_are_looked_at_before_anything_is_run(space, predictions, threshold, told, ready):
    rows = [f"{k % 7},{'ab'[k % 2]},{k % 10 + 1},{('low', 'high')[k % 2]},{k // 3 % 2}\n" for k in range(60)]
    table = "skill,town,decile,band,paid\n" + "".join(rows)
    bring(space, table, protected=["town"], label="paid", favorable=1)
    draft = space.draft() or {}
    draft["spec"] |= {"model": {"predictions": predictions}, "threshold": threshold}
    space.save_draft(draft)
    at = visit(space)
    assert not at.exception
    assert at.button(key="next").disabled != ready
    said = [each.value for each in at.container(key="data-overview").text] if ready else boxes(at)
    assert any(all(word in each for word in told) for each in said), said


def test_a_threshold_that_no_probability_has_is_told_where_it_is_typed(space: Workspace) -> None:
    at = open_example(space, "hiring")
    (field,) = (field for field in at.number_input if str(field.key).startswith("threshold-"))
    at = field.set_value(4.0).run()  # what a browser makes of 0,4
    [said] = boxes(at)
    assert all(each in said for each in ("[0, 1]", "4.0"))
    assert at.button(key="next").disabled


def test_a_token_that_was_never_given_out_is_not_taken_over_and_others_data_do_not_show(space) -> None:
    at = visit(space)
    assert {button.key for button in at.button} >= {f"open-{name}" for name in CATALOG}
    assert not space.exists, "a visit that brings nothing leaves nothing"
    bring(space, "sex,skill,hired\n" + "f,1,0\nm,2,1\n" * 20)
    assert any("people.csv" in text for text in texts(visit(space)))
    assert not any("people.csv" in text for text in texts(visit(Workspace(issue_token()))))
    at = AppTest.from_file(MAIN, default_timeout=60)
    at.query_params["w"] = planted = "a" * 32
    at.run()
    assert at.query_params["w"] not in (planted, [planted])


def outcome_page() -> None:
    import streamlit as st

    from app.data_model.outcome import who_counts

    first = {"id": "d", "spec": {"data": {"path": "people.csv"}, "model": {"train": "logistic"}}}
    st.session_state["draft"] = who_counts(st.session_state.get("draft", first), ("good", "w", "area", "who"))


def test_who_counts_as_one_is_said_on_the_page() -> None:
    at = AppTest.from_function(outcome_page, default_timeout=60).run()
    at.selectbox(key="weights-d").set_value("w").run()
    assert at.session_state["draft"]["spec"]["data"]["weights"] == "w"
    at.selectbox(key="weights-kind-d").set_value("sampling").run()
    at.selectbox(key="cluster-d").set_value("area").run()
    weights = at.session_state["draft"]["spec"]["data"]["weights"]
    assert weights == {"column": "w", "kind": "sampling", "cluster": "area"}
    at.selectbox(key="weights-d").set_value(None).run()
    at.selectbox(key="person-d").set_value("who").run()
    assert not at.exception
    data = at.session_state["draft"]["spec"]["data"]
    assert (data.get("weights"), data["person"]) == (None, "who")
