"""The pages Transport flows and Recourse through AppTest: the real executor on bundled examples, no mocks."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd

from app.drafts.drafts import from_files, with_data
from app.outcome_transport.choices import _OTHER
from app.recourse.questions import _ANSWERS
from tests.app.test_pages import boxes, can_run, carry_out, open_example, open_options, prepared, texts, visit

FLOWS, RECOURSE = "views/outcome_transport.py", "views/recourse.py"


def finish(space, at):
    return carry_out(space, at).result().audits[0].result


def test_another_model_or_a_decision_column_is_compared_and_blurred_options_show(space) -> None:
    at = open_example(space, "hiring")
    prepared(at.switch_page(FLOWS).run())
    at.selectbox(key="compare").set_value(_OTHER).run()
    assert not at.exception
    assert at.selectbox(key="other").value == "path"  # nothing was trained here
    assert not can_run(at)
    at.selectbox(key="other").set_value("label").run()
    at.selectbox(key="other-label").set_value("qualified").run()
    open_options(at, "outcome_transport")
    at.selectbox(key="with-outcome_transport-matching").set_value("unbalanced").run()
    assert at.number_input(key="with-outcome_transport-price").value == 1.0
    assert at.number_input(key="with-outcome_transport-epsilon").value == 0.02
    at.number_input(key="with-outcome_transport-draws").set_value(20)
    result = finish(space, at.number_input(key="with-outcome_transport-permutations").set_value(19).run())
    assert "qualified" in result.source
    assert result.wasserstein.low is not None


def test_recourse_starts_with_something_to_change_or_says_that_nothing_is_chosen(space) -> None:
    at = open_example(space, "hiring")
    prepared(at.switch_page(RECOURSE).run())
    assert not at.exception
    assert sorted(at.multiselect(key="actionable").value) == ["hair_length", "work_years"]
    assert not at.button(key="run").disabled
    assert any(box.key == "quiet-actionable" for box in at.container), "it is guessed"
    at.multiselect(key="actionable").set_value([]).run()
    assert not at.exception
    assert len(boxes(at, "note")) == 1
    assert not can_run(at)


def test_recourse_asks_what_a_person_can_change_and_never_proposes_what_nobody_does(space) -> None:
    """Columns as in Adult: a weight of the row, a family whose name does not say so, years that only grow."""
    family = ["Husband", "Wife", "Unmarried", "Own-child"] * 30
    whole = {name: range(120) for name in ("fnlwgt", "age", "hours", "education_num")}
    names = ["x", "z", "fnlwgt", "position", "age", "hours", "education_num"]
    frame = people(position=family, **whole)
    at = brought(space, frame, data={"features": names}).switch_page(RECOURSE).run()
    assert not at.exception
    assert at.multiselect(key="actionable").value == ["x", "z", "hours", "education_num"]
    asked = {each.label.replace("\\", ""): each for each in at.segmented_control}
    assert {name: _ANSWERS[each.value] for name, each in asked.items()} == {
        "x": "any way", "z": "any way", "hours": "any way", "education_num": "up only",
        "fnlwgt": None, "position": None, "age": None,
    }  # fmt: skip
    assert len(asked["position"].options) == 2, "a category has no direction"
    answers = {way: answer for answer, way in _ANSWERS.items()}
    asked["age"].set_value(answers["up only"]).run()
    asked = {each.label.replace("\\", ""): each for each in at.segmented_control}
    asked["z"].set_value(answers[None]).run()
    assert not at.exception
    assert at.multiselect(key="actionable").value == ["x", "hours", "education_num", "age"]
    at.button(key="run").click().run()
    chosen = space.runs()[0]["spec"]["audits"][0]["recourse"]
    assert chosen["limits"] == {"education_num": {"direction": "up"}, "age": {"direction": "up"}}


def brought(space, frame, *, model=None, data=None, threshold=0.5):
    """Load `frame` as a visitor would have, with a model trained on it or another one."""
    path = space.add_file("people.csv", io.BytesIO(frame.to_csv(index=False).encode()))
    draft = from_files([path], "upload")
    columns = {"label": "good", "favorable": 1, "protected": ["group"], "features": ["x", "z"]}
    draft = with_data(draft, **{**columns, **(data or {})})
    draft["spec"]["model"] = model or {"train": "logistic"}
    draft["spec"]["threshold"] = threshold
    space.save_draft(draft)
    return visit(space)


def people(n=120, **columns):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    frame = pd.DataFrame({"x": x, "z": rng.normal(size=n), "group": np.tile(["a", "b"], n // 2)})
    frame["good"] = (x + rng.normal(size=n) > 0).astype(int)
    return frame.assign(**columns)


def test_a_model_that_reads_the_outcome_is_told_from_a_good_one_once_it_was_run(space) -> None:
    frame = people()
    frame["closed"] = frame["good"]
    at = brought(space, frame, data={"features": ["x", "z", "closed"]}).switch_page("views/groups.py").run()
    carry_out(space, at)
    assert any("36" in each for each in boxes(at, "note"))
    prepared(at.switch_page("views/data_model.py").run())
    at.query_params["part"] = "Quality"
    at.run()
    assert not at.exception
    assert any("closed (1.00)" in text for text in texts(at))
    at.button(key="mend-unlikely-performance-0").click().run()
    assert space.draft()["spec"]["data"]["features"] == ["x", "z"]
    keys = [str(button.key) for button in at.button]
    assert "unmend" in keys
    assert not any("unlikely" in key for key in keys), "that was with other features"
