"""The pages Transport flows and Recourse through AppTest: the real executor on bundled examples, no mocks."""

from __future__ import annotations

import json

import pytest

from app import work
from app.widgets.export import portable
from tests.app.test_pages import space, texts, visit  # noqa: F401  (space is a fixture)

FLOWS, RECOURSE = "views/transport_flows.py", "views/recourse.py"


def finish(space, at):  # noqa: F811
    at.button(key="run").click().run()
    run = work.executor().run(space.runs()[0]["id"])
    assert run is not None
    assert run.wait(90)
    at.run()
    assert not at.exception
    return work.result(space, space.runs()[0]["spec"]).audits[0].result


@pytest.mark.parametrize("page", [FLOWS, RECOURSE])
def test_without_data_the_page_asks_for_some(space, page) -> None:  # noqa: F811
    at = visit(space).switch_page(page).run()
    assert not at.exception
    assert "There are no data yet." in texts(at)


def test_flows_from_the_example_to_a_person_beside_a_counterpart(space) -> None:  # noqa: F811
    at = visit(space).button(key="open-loans").click().run()
    at.switch_page(FLOWS).run()
    assert not at.exception
    at.multiselect(key="flows-by").set_value(["sex"]).run()
    result = finish(space, at)
    assert at.container(key="finding").text[0].value == result.finding
    assert any(result.verdict in element.value for element in at.markdown)
    at.selectbox(key="flow-from").select(result.flows.rows[0]).run()
    at.selectbox(key="flow-to").select(result.flows.columns[0]).run()
    assert not at.exception
    row = str(result.cell(result.flows.rows[0], result.flows.columns[0]).index[0])
    at.selectbox(key="flow-person").select(row).run()
    assert not at.exception
    assert any("statistical match" in text for text in texts(at))
    # the simulation answers at once
    at.slider(key="college-years").set_value(10).run()
    assert not at.exception


def test_two_models_are_compared_and_two_files_too(space) -> None:  # noqa: F811
    at = visit(space).button(key="open-hiring").click().run()
    at.switch_page(FLOWS).run()
    at.selectbox(key="compare").set_value("another model with the model").run()
    assert not at.exception
    assert at.selectbox(key="other").options[0] == "an ONNX file"  # nothing was trained here
    assert any("Choose what to compare" in text for text in texts(at))
    draft = space.draft()
    at.session_state["_kept other model"] = draft["spec"]["model"]["path"]
    at.run()
    result = finish(space, at)
    assert result.source == result.target == "ONNX model hiring.onnx"
    assert result.wasserstein.value == 0
    shown = portable(space.runs()[0]["spec"])
    assert shown["audits"][0]["outcome_transport"]["against"] == {"path": "hiring.onnx"}


def test_a_decision_column_is_another_model_and_blurred_options_show(space) -> None:  # noqa: F811
    at = visit(space).button(key="open-hiring").click().run()
    at.switch_page(FLOWS).run()
    at.selectbox(key="compare").set_value("another model with the model").run()
    at.selectbox(key="other").set_value("decisions in a column").run()
    at.selectbox(key="other-label").set_value("qualified").run()
    at.selectbox(key="flows-matching").set_value("unbalanced (far outcomes stay unmatched)").run()
    assert at.number_input(key="flows-price").value == 1.0
    assert at.number_input(key="flows-blur").value == 0.02
    result = finish(space, at)
    assert result.source == "column qualified"
    assert result.wasserstein.low is not None


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("hiring", ["work_years", "hair_length"]),
        ("loans", ["employment_years", "debt", "savings", "amount"]),
        ("law_school", ["lsat", "gpa"]),
    ],
)
def test_recourse_starts_with_something_to_change(space, name, columns) -> None:  # noqa: F811
    at = visit(space).button(key=f"open-{name}").click().run()
    at.switch_page(RECOURSE).run()
    assert not at.exception
    assert sorted(at.multiselect(key="actionable").value) == sorted(columns)
    assert not at.button(key="run").disabled
    guessed = any("No column has the role actionable yet" in text for text in texts(at))
    assert guessed == (name != "loans")


def test_recourse_slides_in_the_browser_without_another_run(space) -> None:  # noqa: F811
    at = visit(space).button(key="open-hiring").click().run()
    at.switch_page(RECOURSE).run()
    result = finish(space, at)
    assert at.container(key="finding").text[0].value == result.finding
    runs = len(space.runs())
    drawn = [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]
    slid = next(figure for figure in drawn if figure.get("frames"))
    assert [frame["name"] for frame in slid["frames"]] == [f"{step:g}" for step in result.steps]
    at.selectbox(key="recourse-person").select(str(result.people.index[0])).run()
    assert not at.exception
    at.select_slider(key="alpha-person").set_value(0.5).run()
    assert any("at α = 0.5: score" in text for text in texts(at))
    assert len(space.runs()) == runs
