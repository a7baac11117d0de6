"""The page of explain: chosen, run in the real executor, shown; roles decide what is offered."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from app.workspaces.workspace import Workspace
from tests.app.test_outcome_pages import brought
from tests.app.test_pages import carry_out, open_options, prepared, texts
from tests.explain.test_explain import crowd


def opened(space: Workspace, page: str, **data: object) -> AppTest:
    """Open a page on people of two groups in three departments, whose decisions are given."""
    columns = {
        "label": "decision",
        "features": ["department", "noise0"],
        "kinds": {"department": "categorical"},
    }
    model = {"predictions": {"label": "decision"}}
    at = brought(space, crowd(900, 0), model=model, data={**columns, **data})
    return prepared(at.switch_page(f"views/{page}.py").run())


def test_a_gap_is_explained_from_the_page(space: Workspace) -> None:
    features = ["department", "noise0", "noise1"]
    at = opened(space, "explain", features=features, roles={"immutable": ["noise1"]})
    assert at.multiselect(key="explainers").value == ["department", "noise0"]
    open_options(at, "explain")
    at.number_input(key="with-explain-draws").set_value(300).run()
    run = carry_out(space, at).result()
    assert at.container(key="finding").text[0].value == run.audits[0].headline
    assert "department" in at.subheader[1].value
    at.session_state["tab"] = "How we tested"
    at.run()
    assert run.audits[0].result.finding in texts(at)
    assert space.runs()[0]["spec"]["audits"][0]["explain"]["draws"] == 300


def test_the_overview_shows_what_is_left_of_the_gap(space: Workspace) -> None:
    at = opened(space, "groups")
    carry_out(space, at)
    at.session_state["tab"] = "Like for like?"
    audited = carry_out(space, prepared(at.run()), key="look-within").result().audits[0]
    assert audited.name == "explain"
    assert audited.headline in texts(at)
    gap = audited.result.gap.value
    changes = [abs(gap - each.unexplained.value) for each in audited.result.each]
    assert changes == sorted(changes, reverse=True), "the one that changes the gap most first"
