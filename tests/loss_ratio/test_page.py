"""The individual-fairness page through AppTest: the real executor on people brought as a file, no mocks."""

from __future__ import annotations

import io

import numpy as np
import pytest

from app import jobs
from tests.app.test_pages import bring, carry_out, open_options, texts, visit
from tests.loss_ratio.conftest import people
from tests.rule_sets.test_page import open_tab

PAGE = "views/loss_ratio.py"


def test_from_the_controls_to_one_person_and_another_tolerance(space) -> None:
    bring(
        space,
        people(300).to_csv(index=False),
        label="hired",
        favorable="yes",
        protected=["sex"],
        test_size=0.5,
    )
    at = visit(space).switch_page(PAGE).run()
    assert not at.exception
    carry_out(space, at)
    result = jobs.result(space, space.runs()[0]["spec"]).audits[0].result
    assert "25%" in at.container(key="finding").text[0].value
    # another tolerance moves the verdict without another run, and stays while other tabs are open
    open_tab(at, "Limit")
    at.slider(key="delta").set_value(1.01).run()
    assert not at.exception
    assert result.at(1.01).finding in texts(at)
    assert "1%" in at.container(key="finding").text[0].value
    assert len(space.runs()) == 1
    open_tab(at, "People")
    assert "1%" in at.container(key="finding").text[0].value
    at.selectbox(key="person").select(str(result.worst[0])).run()
    assert not at.exception


def _ran(space, at):
    """Run what is chosen to its end, and draw the page again."""
    carry_out(space, at)
    return at


@pytest.mark.parametrize("brought", ["trained", "onnx"])
def test_without_labels_the_page_says_that_it_needs_them(space, brought) -> None:
    frame = people(100)
    bring(
        space,
        frame.drop(columns="hired").to_csv(index=False),
        protected=["sex"],
        features=["hair", "skill"],
    )
    if brought == "onnx":
        pytest.importorskip("skl2onnx")
        from skl2onnx import to_onnx
        from sklearn.linear_model import LogisticRegression

        x = frame[["hair", "skill"]].to_numpy(np.float32)
        model = to_onnx(LogisticRegression().fit(x, frame["hired"]), x[:2], options={"zipmap": False})
        path = space.add_file("model.onnx", io.BytesIO(model.SerializeToString()))
        draft = space.draft()
        draft["spec"]["model"] = {"path": str(path)}
        space.save_draft(draft)
    at = visit(space).switch_page(PAGE).run()
    assert not at.exception
    assert not any(button.key == "run" for button in at.button)
    assert at.get("page_link"), "the way to where labels are named"


def test_a_number_that_is_not_protected_may_be_what_should_not_matter(space) -> None:
    frame = people(200).assign(Age=lambda table: 40 + 3 * table["hair"])
    bring(
        space,
        frame.to_csv(index=False),
        label="hired",
        favorable="yes",
        protected=["sex"],
        features=["hair", "skill"],
    )
    at = visit(space).switch_page(PAGE).run()
    offered = at.multiselect(key="sensitive")
    assert offered.value == ["sex"]
    assert "hired" not in offered.options
    offered.set_value(["Age"]).run()
    open_options(at, "loss_ratio")
    at.number_input(key="with-loss_ratio-steps").set_value(2).run()
    _ran(space, at)
    open_tab(at, "What sets them apart?")
    assert any("Age" in text for text in texts(at)), "the column's name as it was written"


def test_what_is_wrong_is_said_without_its_place_in_a_spec(space) -> None:
    table = people(300).assign(score=lambda frame: frame.index / 300)
    bring(
        space,
        table.to_csv(index=False),
        label="hired",
        favorable="yes",
        protected=["sex"],
    )
    draft = space.draft()
    assert draft is not None
    draft["spec"]["model"] = {"predictions": {"score": "score"}}
    space.save_draft(draft)
    for page in (PAGE, "views/sensitivity.py", "views/recourse.py"):
        at = visit(space).switch_page(page).run()
        assert not at.exception
        assert not [button for button in at.button if button.key == "run"]


def test_directions_and_a_metric_of_ones_own_go_into_the_spec(space) -> None:
    frame = people(100)[["hair", "skill", "sex", "hired"]]
    bring(space, frame.to_csv(index=False), label="hired", favorable="yes", protected=["sex"])
    at = visit(space).switch_page(PAGE).run()
    at.selectbox(key="metric").select("expert").run()
    open_options(at, "loss_ratio")
    at.text_area(key="with-loss_ratio-directions").set_value("[{hair: 1, skill: -0.5}]").run()
    at.number_input(key="with-loss_ratio-steps").set_value(5).run()
    _ran(space, at)
    spec = space.runs()[0]["spec"]["audits"][0]["loss_ratio"]
    assert spec["directions"] == [{"hair": 1.0, "skill": -0.5}]
    at.text_area(key="with-loss_ratio-directions").set_value("").run()
    at.text_area(key="with-loss_ratio-matrix").set_value("[[1, 0], [0, 0]]").run()
    _ran(space, at)
    assert space.runs()[0]["spec"]["audits"][0]["loss_ratio"]["matrix"] == [[1, 0], [0, 0]]
