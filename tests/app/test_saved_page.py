"""The page of saved audits and the guided demo through AppTest: the real executor, no mocks."""

from __future__ import annotations

import json
import time

from app import jobs
from app.drafts import drafts
from app.latest_runs import KEY, saved_run
from app.workspaces.workspace import Workspace, issue_token
from audits.runs.storage.saved import SavedRuns
from tests.app.test_pages import boxes, open_example, prepared, texts, visit

PAGE = "views/saved.py"


def overview(at, space):
    prepared(at.switch_page("views/groups.py").run())
    at.button(key="run").click().run()
    settle(space)
    return at


def settle(space):
    """Wait until the last run is over and noted."""
    assert jobs.executor().run(space.runs()[0]["id"]).wait(120)
    for _ in range(100):
        if SavedRuns().list(owner=space.token)[0].status != "running":
            return
        time.sleep(0.1)


def test_a_run_is_listed_opened_renamed_started_again_and_deleted(space) -> None:
    at = visit(space).switch_page(PAGE).run()
    assert not at.exception
    assert not at.dataframe, "nothing has been run"
    at = overview(open_example(space, "hiring"), space)
    [run] = SavedRuns().list(owner=space.token)
    assert run.status == "done"
    assert not visit(Workspace(issue_token())).switch_page(PAGE).run().dataframe, "nobody else sees it"
    prepared(at.switch_page(PAGE).run())
    assert not at.exception
    assert at.container(key="finding").text[0].value == run.finding
    badge = SavedRuns().load(run.id).headline().leads.badge_text
    assert run.badge == badge
    assert at.dataframe[0].value["verdict"].tolist() == [badge.partition(" · ")[0]]
    columns = json.loads(at.dataframe[0].proto.columns)
    assert columns["title"]["width"] + columns["verdict"]["width"] <= 325, "a phone shows both"
    at.text_input(key=f"title-{run.id[:12]}").set_value("Hiring, first look")
    at.text_area(key=f"note-{run.id[:12]}").set_value("ask **HR** <b>")
    at.button(key="save").click().run()
    assert not at.exception
    assert SavedRuns().get(run.id).title == "Hiring, first look"
    assert SavedRuns().get(run.id).note == "ask **HR** <b>"

    for asked in (run.id, run.key):
        assert saved_run(space, asked[:KEY]).id == run.id, "by what either kind of page has in its address"
    assert saved_run(Workspace(issue_token()), run.id[:KEY]) is None

    SavedRuns().end(run.id, "interrupted")
    at.run()
    assert len(boxes(at, "note")) == 1
    at.button(key="again").click().run()
    settle(space)
    assert SavedRuns().get(run.id).status == "done"

    at.run()
    at.checkbox(key=f"sure-{run.id[:12]}").check().run()
    at.button(key="delete").click().run()
    assert not at.exception
    assert not at.dataframe, "nothing has been run"


def test_two_runs_are_compared_and_one_deleted_elsewhere_breaks_no_page(space) -> None:
    at = overview(open_example(space, "loans"), space)
    space.save_draft(drafts.with_spec(space.draft(), threshold=0.6))
    prepared(at.run()).button(key="run").click().run()
    settle(space)
    [later, first] = SavedRuns().list(owner=space.token)
    prepared(at.switch_page(PAGE).run())
    at.selectbox(key="kind").set_value("ll144").run()
    assert at.selectbox(key="law-race").value == "ethnicity"
    at.selectbox(key="against").set_value(first.id[:12]).run()
    assert not at.exception
    assert any("before" in each.value for each in at.dataframe), "every difference"
    space.save_draft(drafts.with_data(space.draft(), words={"people": "students"}))
    at.run()
    shown = [*texts(at), *(each.value.to_string() for each in [*at.dataframe, *at.table])]
    assert not any("students" in each for each in shown), "in the words of other data"
    other = prepared(visit(space).switch_page(PAGE).run())
    at.checkbox(key=f"sure-{later.id[:12]}").check().run()
    at.button(key="delete").click().run()
    assert not other.run().exception
    assert other.container(key="finding").text[0].value == first.finding
