"""The page of saved audits and the guided demo through AppTest: the real executor, no mocks."""

from __future__ import annotations

import time

from app import work
from app.widgets.tour_step import STEPS
from app.workspace import Workspace, issue_token
from audits.runs.saved import SavedRuns
from tests.app.test_pages import space, texts, visit  # noqa: F401  (space is a fixture)

PAGE = "views/saved.py"


def flipset(at, space):  # noqa: F811
    at.switch_page("views/flipset.py").run()
    at.button(key="run").click().run()
    settle(space)
    return at


def settle(space):  # noqa: F811
    """Wait until the last run is over and noted."""
    assert work.executor().run(space.runs()[0]["id"]).wait(120)
    for _ in range(100):
        if SavedRuns().list(owner=space.token)[0].status != "running":
            return
        time.sleep(0.1)


def test_before_any_run_the_page_says_so(space) -> None:  # noqa: F811
    at = visit(space).switch_page(PAGE).run()
    assert not at.exception
    assert "Nothing has been run yet." in texts(at)


def test_a_run_is_listed_opened_renamed_and_deleted(space) -> None:  # noqa: F811
    at = flipset(visit(space).button(key="open-hiring").click().run(), space)
    [run] = SavedRuns().list(owner=space.token)
    assert run.status == "done"
    at.switch_page(PAGE).run()
    assert not at.exception
    assert at.container(key="finding").text[0].value == run.finding
    at.text_input(key=f"title-{run.id[:12]}").set_value("Hiring, first look")
    at.text_area(key=f"note-{run.id[:12]}").set_value("ask **HR** <b>")
    next(button for button in at.button if button.label == "Keep").click().run()
    assert not at.exception
    assert SavedRuns().get(run.id).title == "Hiring, first look"
    assert SavedRuns().get(run.id).note == "ask **HR** <b>"
    at.checkbox(key=f"sure-{run.id[:12]}").check().run()
    at.button(key="delete").click().run()
    assert not at.exception
    assert "Nothing has been run yet." in texts(at)


def test_a_run_deleted_elsewhere_is_one_sentence(space) -> None:  # noqa: F811
    at = flipset(visit(space).button(key="open-hiring").click().run(), space)
    [run] = SavedRuns().list(owner=space.token)
    at.switch_page(PAGE).run()
    at.checkbox(key=f"sure-{run.id[:12]}").check().run()
    SavedRuns().delete(run.id)
    at.run()
    assert not at.exception
    assert "Nothing has been run yet." in texts(at)


def test_an_interrupted_run_starts_again(space) -> None:  # noqa: F811
    at = flipset(visit(space).button(key="open-hiring").click().run(), space)
    [run] = SavedRuns().list(owner=space.token)
    SavedRuns().end(run.id, "interrupted")
    at.switch_page(PAGE).run()
    assert any("It was interrupted" in text for text in texts(at))
    at.button(key="again").click().run()
    settle(space)
    assert SavedRuns().get(run.id).status == "done"


def test_another_workspace_sees_nothing(space) -> None:  # noqa: F811
    flipset(visit(space).button(key="open-hiring").click().run(), space)
    other = visit(Workspace(issue_token())).switch_page(PAGE).run()
    assert "Nothing has been run yet." in texts(other)


def test_what_somebody_else_has_run_is_not_handed_out_for_the_same_file_and_choices(space) -> None:  # noqa: F811
    flipset(visit(space).button(key="open-hiring").click().run(), space)
    other = Workspace(issue_token())
    at = visit(other).button(key="open-hiring").click().run()
    at.switch_page("views/flipset.py").run()
    assert not at.exception
    assert not at.button(key="run").disabled, "it is yet to be run here"
    assert SavedRuns().list(owner=other.token) == []
    assert len(SavedRuns().list(owner=space.token)) == 1


def test_the_demo_walks_through_five_findings(space) -> None:  # noqa: F811
    at = visit(space).switch_page("views/tour.py").run()
    assert not at.exception
    at.button(key="run").click().run()
    settle(space)
    findings = set()
    expected = SavedRuns().load(SavedRuns().list(owner=space.token)[0].id)
    at.run()
    for step in STEPS:
        at.segmented_control(key="step").set_value(step).run()
        assert not at.exception
        found = at.container(key="numbers").text[0].value
        assert found == expected.audits[step - 1].result.finding
        findings.add(found)
    assert len(findings) == 5
