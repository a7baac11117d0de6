"""The page that sets a second model beside the first: chosen, run in the real executor, shown, taken away."""

from __future__ import annotations

from typing import Any

from app import work
from app.workspaces.workspace import Workspace
from audits.reports.html import render_report
from audits.stats.badges import interval_text
from tests.app.test_pages import open_example, texts, visit

PAGE = "views/compare.py"


def test_without_data_the_page_asks_for_some(space: Workspace) -> None:
    at = visit(space).switch_page(PAGE).run()
    assert not at.exception
    assert "There are no data yet." in texts(at)


def test_a_second_model_is_chosen_run_and_shown_beside_the_first(space: Workspace) -> None:
    at: Any = open_example(space, "hiring")
    first = dict(space.draft()["spec"])  # type: ignore[index]
    at.switch_page(PAGE).run()
    assert not at.exception
    identity = space.draft()["id"]  # type: ignore[index]
    at.selectbox(key=f"train-{identity}-second").select("logistic").run()
    assert at.multiselect(key="compared").value == ["groups"]
    assert space.draft()["spec"] == first  # type: ignore[index]
    at.button(key="run").click().run()
    record = space.runs()[0]
    assert record["spec"]["compare"] == {"model": {"train": "logistic"}, "threshold": first.get("threshold")}
    run = work.executor().run(record["id"])
    assert run is not None
    assert run.wait(90)
    at.run()
    assert not at.exception
    found = work.result(space, record["spec"])
    assert found.compared is not None
    changes = found.compared.changes
    assert at.container(key="finding").text[0].value == changes.audits[0].headline
    assert len(changes.audits[0].headline.split()) <= 30
    assert at.container(key="certainty").text[0].value == interval_text(changes.across()[0].judged)
    assert [header.value for header in at.subheader][-1] == f"Changed decisions ({len(changes.people)})"
    people = next(frame.value for frame in at.dataframe if "second decision" in frame.value)
    assert len(people) == min(len(changes.people), 1000) > 0
    assert changes.finding in render_report(found, template="comparison")


def test_without_a_label_a_stand_in_is_offered_with_one_click(space: Workspace) -> None:
    at: Any = open_example(space, "arrests")
    at.switch_page(PAGE).run()
    assert not at.exception
    assert not [button for button in at.button if button.key == "run"], "a press could only fail"
    at.button(key="stand-in").click().run()
    assert not at.exception
    assert space.draft()["spec"]["model"] == {"train": "mlp"}  # type: ignore[index]
    assert not at.button(key="run").disabled
    at.button(key="stand-in-back").click().run()
    assert "predictions" in space.draft()["spec"]["model"]  # type: ignore[index]
    at.switch_page("views/data_model.py").run()
    assert not any(text.startswith("Perhaps") for text in texts(at)), "what was predicted is no true outcome"


def test_the_first_model_treated_is_chosen_on_the_page(space: Workspace) -> None:
    at: Any = open_example(space, "hiring")
    identity = space.draft()["id"]  # type: ignore[index]
    space.save_draft({**space.draft(), "spec": {**space.draft()["spec"], "model": {"train": "logistic"}}})  # type: ignore[dict-item,index]
    at.switch_page(PAGE).run()
    at.segmented_control(key=f"second-{identity}").set_value("treated").run()
    assert not at.exception
    assert space.draft()["compare"] == {"treated": {}}  # type: ignore[index]
    assert f"train-{identity}-second" not in {box.key for box in at.selectbox}
    assert at.button(key="run").label == "Compare"
    at.segmented_control(key=f"second-{identity}").set_value("another").run()
    assert not at.exception
    assert space.draft()["compare"]["model"] == {"train": "boosting"}  # type: ignore[index]


def test_what_is_wrong_with_the_second_model_is_told_on_the_page(space: Workspace) -> None:
    at: Any = open_example(space, "hiring")
    at.switch_page(PAGE).run()
    identity = space.draft()["id"]  # type: ignore[index]
    at.segmented_control(key=f"way-{identity}-second").set_value("label").run()
    assert not at.exception
    assert any("needs the column that holds the predictions" in error.value for error in at.error) or any(
        "needs the column that holds the predictions" in text for text in texts(at)
    )
    at.segmented_control(key=f"way-{identity}-second").set_value("train").run()
    at.number_input(key=f"threshold-{identity}-second").set_value(3.0).run()
    at.button(key="run").click().run()
    run = work.executor().run(space.runs()[0]["id"])
    assert run is not None
    assert run.wait(90)
    at.run()
    assert any("threshold" in text for text in texts(at))
