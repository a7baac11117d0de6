"""The page of all groups at once: chosen, run in the real executor, shown down to one person."""

from __future__ import annotations

from app.workspaces.workspace import Workspace
from tests.app.test_outcome_pages import brought
from tests.app.test_pages import carry_out, open_options, prepared
from tests.barycenter.test_barycenter import crowd
from tests.flipset.test_page import open_tab


def test_all_groups_are_audited_from_the_page(space: Workspace) -> None:
    people = crowd(300, 0, lower=0.7).assign(sex=["f", "m"] * 150)
    told = {"label": "decision", "favorable": 1, "protected": ["sex", "group"], "features": ["x", "z"]}
    at = brought(space, people, model={"predictions": {"label": "decision"}}, data=told)
    prepared(at.switch_page("views/barycenter.py").run())
    assert at.multiselect(key="all-by").value == ["group"]  # the attribute with more than two values
    open_options(at, "barycenter")
    at.number_input(key="with-barycenter-permutations").set_value(19).run()
    at.number_input(key="with-barycenter-seconds").set_value(1.0).run()
    found = carry_out(space, at).result().audits[0]
    assert at.container(key="finding").text[0].value == found.headline
    options = {"by": ["group"], "permutations": 19, "seconds": 1.0}
    assert space.runs()[0]["spec"]["audits"][0]["barycenter"] == options
    assert at.selectbox(key="all-group").value == "c"
    assert any("people in “c”" in header.casefold() for header in open_tab(at, "What sets them apart?")[1:])
    assert len(open_tab(at, "Against everyone")) == 3, "below the first figure two that compare with everyone"
    open_tab(at, "People")
    flipped = found.result.people.query("group == 'c' and only_counterpart > 0")
    row = flipped.sort_values("only_counterpart", ascending=False, kind="stable").index[0]
    at.selectbox(key="person").select(str(row)).run()
    assert not at.exception
    near = found.result.counterparts.loc[[row]].sort_values("distance", kind="stable")
    tables = [frame.value for frame in at.dataframe if "of" in frame.value.columns]
    assert set(next(each["of"] for each in tables if len(each) == 2)) == set(near["of"]) == {"a", "b"}
    at.selectbox(key="all-group").select("a").run()
    assert not at.exception
