"""The individual-fairness page through AppTest: the real executor on people brought as a file, no mocks."""

from __future__ import annotations

from app import jobs
from tests.app.test_pages import bring, carry_out, open_options, texts, visit
from tests.loss_ratio.conftest import people
from tests.rule_sets.test_page import open_tab

PAGE = "views/loss_ratio.py"


def test_from_the_controls_to_one_person_and_another_tolerance(space) -> None:
    told = {"label": "hired", "favorable": "yes", "protected": ["sex"], "test_size": 0.5}
    bring(space, people(300).to_csv(index=False), **told)
    at = visit(space).switch_page(PAGE).run()
    assert not at.exception
    open_options(at, "loss_ratio")
    at.number_input(key="with-loss_ratio-steps").set_value(50).run()
    carry_out(space, at)
    result = jobs.result(space, space.runs()[0]["spec"]).audits[0].result
    assert "25%" in at.container(key="finding").text[0].value
    # another tolerance moves the verdict without another run, and stays while other tabs are open
    open_tab(at, "Limit")
    at.slider(key="delta").set_value(1.01).run()
    assert not at.exception
    assert result.at(1.01).finding in texts(at)
    assert len(space.runs()) == 1
    open_tab(at, "People")
    assert "1%" in at.container(key="finding").text[0].value
    at.selectbox(key="person").select(str(result.worst[0])).run()
    assert not at.exception


def test_without_labels_the_page_says_that_it_needs_them(space) -> None:
    frame = people(100).drop(columns="hired")
    bring(space, frame.to_csv(index=False), protected=["sex"], features=["hair", "skill"])
    at = visit(space).switch_page(PAGE).run()
    assert not at.exception
    assert not any(button.key == "run" for button in at.button)
    assert at.get("page_link"), "the way to where labels are named"
