"""The page of all groups at once: chosen, run in the real executor, shown down to one person."""

from __future__ import annotations

import io
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

from app.drafts import drafts
from app.workspaces.workspace import Workspace
from tests.app.test_pages import carry_out, open_options
from tests.barycenter.test_barycenter import crowd
from tests.flipset.test_page import open_tab

ROOT = Path(__file__).resolve().parents[2]


def test_all_groups_are_audited_from_the_page(space: Workspace) -> None:
    people = crowd(300, 0, lower=0.7)
    people["sex"] = ["f", "m"] * 150
    path = space.add_file("people.csv", io.BytesIO(people.to_csv(index=False).encode()))
    data = {"label": "decision", "favorable": 1, "protected": ["sex", "group"], "features": ["x", "z"]}
    draft = drafts.with_data(drafts.from_files([path], "upload"), **data)
    draft["spec"]["model"] = {"predictions": {"label": "decision"}}
    space.save_draft(draft)
    at = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60)
    at.query_params["w"] = space.token
    at.run().switch_page("views/barycenter.py").run()
    for _ in range(60):
        if not any(text.value.startswith("Preparing") for text in at.text):
            break
        time.sleep(0.5)
        at.run()
    assert at.multiselect(key="all-by").value == ["group"]  # the attribute with more than two values
    open_options(at, "barycenter")
    at.number_input(key="with-barycenter-permutations").set_value(39).run()
    at.number_input(key="with-barycenter-seconds").set_value(1.0).run()
    run = carry_out(space, at)
    found = run.result().audits[0]
    assert at.container(key="finding").text[0].value == found.headline
    assert space.runs()[0]["spec"]["audits"][0]["barycenter"] == {
        "by": ["group"],
        "permutations": 39,
        "seconds": 1.0,
    }
    assert at.selectbox(key="all-group").value == "c"
    for tab in ("Who are they?", "What sets them apart?"):
        assert any("people in “c”" in header.casefold() for header in open_tab(at, tab)[1:]), tab
    at.segmented_control(key="all-ranking").set_value("sign").run()
    assert not at.exception
    assert len(open_tab(at, "Against everyone")) == 3, "below the first figure two that compare with everyone"
    open_tab(at, "How we tested")
    assert found.result.finding in [text.value for text in at.text]
    open_tab(at, "People")
    flipped = found.result.people.query("group == 'c' and only_counterpart > 0")
    row = flipped.sort_values("only_counterpart", ascending=False, kind="stable").index[0]
    at.selectbox(key="person").select(str(row)).run()
    assert not at.exception
    near = found.result.counterparts.loc[[row]].sort_values("distance", kind="stable")
    first = near["counterpart"].iloc[0]
    headings = [header.value for header in at.subheader]
    assert (
        f"Person {row} does not get the favorable decision. The closest match, person {first}, "
        f"{'gets' if near['counterpart_decision'].iloc[0] else 'does not get'} the favorable decision."
    ) in headings
    others = next(
        frame.value for frame in at.dataframe if "of" in frame.value.columns and len(frame.value) == 2
    )
    assert set(others["of"]) == set(near["of"]) == {"a", "b"}
    assert "what-if" not in [toggle.key for toggle in at.toggle]
    at.selectbox(key="all-group").select("a").run()
    assert not at.exception
