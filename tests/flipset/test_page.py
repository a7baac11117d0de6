"""The flipset page with a learned map: chosen, run in the real executor, shown with its checks."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from app import jobs
from app.workspaces.workspace import Workspace
from audits.flipset.text import DISTRUST
from tests.app.test_pages import carry_out, open_example, prepared, unfold


def run_with(space: Workspace, method: str, **numbers: int) -> tuple[AppTest, object]:
    """Open the hiring example, choose a method, run it, and return the page and the result."""
    at = open_example(space, "hiring")
    prepared(at.switch_page("views/flipset.py").run())
    at.selectbox(key="method").select(method).run()
    for key, value in {"shuffles": 9, **numbers}.items():
        at.number_input(key=key.replace("_", "-")).set_value(value).run()
    run = carry_out(space, at)
    return at, run.result().audits[0].result


def open_tab(at: AppTest, name: str) -> list[str]:
    """Open a tab of the result; return the headings shown."""
    at.session_state["tab"] = name
    unfold(at.run())
    assert not at.exception
    return [header.value for header in at.subheader]


def test_a_map_that_fails_says_so_before_anything_else(space: Workspace) -> None:
    at, result = run_with(space, "gan", gan_iterations=100)
    assert not result.validation.trusted
    said = [element.value for element in at.text]
    headline = at.container(key="finding").text[0].value
    assert said.index(result.warnings[0]) < said.index(headline)
    assert result.warnings[0].startswith(DISTRUST)
    assert result.training


def opened(space: Workspace, example: str) -> AppTest:
    """Open an example and go to the page."""
    return open_example(space, example).switch_page("views/flipset.py").run()


def submitted(at: AppTest, space: Workspace) -> dict:
    """Press Run and return the options of the audit that is carried out."""
    at.button(key="run").click().run()
    assert not at.exception
    return space.runs()[0]["spec"]["audits"][0]["flipset"]


def test_the_law_school_is_compared_with_its_other_lives_in_one_click(space: Workspace) -> None:
    at = opened(space, "law_school")
    at.number_input(key="shuffles").set_value(0).run()
    ask = submitted(at, space)
    assert ask["counterfactuals"] == {"lsat": "lsat_other_race", "gpa": "gpa_other_race"}
    run = jobs.executor().run(space.runs()[0]["id"])
    assert run.wait(240)
    at.run()
    open_tab(at, "What sets them apart?")
    causal = run.result().audits[0].result.causal
    assert any(f"{causal.agreement.value:.0%}" in text.value for text in at.text)


def test_other_lives_of_one_race_are_not_suggested_for_the_sexes(space: Workspace) -> None:
    at = opened(space, "law_school")
    at.multiselect(key="by").set_value(["sex"]).run()
    assert at.multiselect(key="truth-sex").value == []
    assert "counterfactuals" not in submitted(at, space)


def test_everyone_is_offered_with_time_and_memory_where_a_sample_would_be_drawn(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = opened(space, "hiring")
    assert "everyone" not in [toggle.key for toggle in at.toggle]
    monkeypatch.setattr("audits.flipset.options.MAX_SECONDS", 0.0)
    at.run()
    assert any("1,000" in text.value and "GB" in text.value for text in at.text)
    at.toggle(key="everyone").set_value(True).run()
    assert submitted(at, space)["max_people"] > 1000


def test_weights_and_map_options_go_into_the_spec(space: Workspace) -> None:
    at = opened(space, "hiring")
    at.selectbox(key="method").select("unbalanced").run()
    at.selectbox(key="relaxation").select("partial").run()
    at.number_input(key="matched-share").set_value(70).run()
    at.multiselect(key="weighed").set_value(["hair_length"]).run()
    at.number_input(key="weight-hair_length").set_value(0.5).run()
    ask = submitted(at, space)
    assert ask["map"] == {"relaxation": "partial", "share": 0.7}
    assert ask["feature_weights"] == {"hair_length": 0.5}


def test_strata_bars_and_pairs_lead_to_the_same_people(space):
    at = opened(space, "hiring")
    prepared(at)
    at.selectbox(key="condition").select("(the true label)").run()
    at.number_input(key="shuffles").set_value(0).run()
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
