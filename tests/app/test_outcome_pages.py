"""The pages Transport flows and Recourse through AppTest: the real executor on bundled examples, no mocks."""

from __future__ import annotations

import pytest

from app import work
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


def test_recourse_slides_without_another_run(space) -> None:  # noqa: F811
    at = visit(space).button(key="open-loans").click().run()
    at.switch_page(RECOURSE).run()
    assert not at.exception
    if not at.multiselect(key="actionable").value:
        options = at.multiselect(key="actionable").options
        at.multiselect(key="actionable").set_value(options[:2]).run()
    result = finish(space, at)
    assert at.container(key="finding").text[0].value == result.finding
    runs = len(space.runs())
    at.select_slider(key="alpha").set_value(0.5).run()
    assert not at.exception
    assert any(text.startswith("At α = 0.5") for text in texts(at))
    at.selectbox(key="recourse-person").select(str(result.people.index[0])).run()
    assert not at.exception
    assert any("at α = 0.5: score" in text for text in texts(at))
    assert len(space.runs()) == runs
