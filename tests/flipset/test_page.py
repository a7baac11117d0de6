"""The flipset page: run in the real executor, and one selection of people in every tab."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from app import jobs
from app.workspaces.workspace import Workspace
from tests.app.test_pages import open_example, open_options, prepared, unfold


def open_tab(at: AppTest, name: str) -> list[str]:
    """Open a tab of the result; return the headings shown."""
    at.session_state["tab"] = name
    unfold(at.run())
    assert not at.exception
    return [header.value for header in at.subheader]


def opened(space: Workspace, example: str) -> AppTest:
    """Open an example and go to the page."""
    return open_example(space, example).switch_page("views/flipset.py").run()


def submitted(at: AppTest, space: Workspace) -> dict:
    """Press Run and return the options of the audit that is carried out."""
    at.button(key="run").click().run()
    assert not at.exception
    return space.runs()[0]["spec"]["audits"][0]["flipset"]


def test_strata_bars_and_pairs_lead_to_the_same_people(space):
    at = opened(space, "hiring")
    prepared(at)
    at.selectbox(key="condition").select("(the true label)").run()
    open_options(at, "flipset").number_input(key="with-flipset-permutations").set_value(0).run()
    submitted(at, space)
    run = jobs.executor().run(space.runs()[0]["id"])
    assert run.wait(240)
    at.run()
    assert not at.exception
    result = run.result().audits[0].result
    assert at.selectbox(key="within").options == ["(everyone)", *result.within]
    at.selectbox(key="within").select(result.within[0]).run()
    part = at.selectbox(key="part").value
    flipset, n = result.flipset(part, result.within[0])
    feature = flipset.marginals[0]
    label, everyone, inside = max(feature.bars, key=lambda bar: bar[2])
    at.multiselect(key="features-shown").set_value([feature.feature]).run()
    listed = at.selectbox(key="select-flipset-marginals")
    listed.select(listed.options[[name for name, _, _ in feature.bars].index(label)]).run()
    assert not at.exception
    assert at.button(key="selection-chip").label.endswith(f": {everyone:,.0f} people ×")
    headings = open_tab(at, "People")
    assert any(heading.startswith(f"{inside:,.0f} of {everyone:,.0f} selected") for heading in headings)
    people = next(frame.value for frame in at.dataframe if "flips" in frame.value.columns)
    assert len(people) == everyone
    at.button(key="selection-chip").click().run()
    assert not [button for button in at.button if button.key == "selection-chip"]
    people = next(frame.value for frame in at.dataframe if "flips" in frame.value.columns)
    assert round(people["flips"].sum()) == round(flipset.size)
    assert n < result.n_source
    open_tab(at, "What sets them apart?")
    at.segmented_control(key="ranking").set_value("sign").run()
    assert not at.exception
