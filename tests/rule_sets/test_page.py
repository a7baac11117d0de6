"""The rule-set page through AppTest: the real executor on a bundled example, no mocks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from app import jobs
from app.drafts import drafts
from tests.app.test_pages import bring, carry_out, figures, open_example, prepared, texts, visit

PAGE = "views/rule_sets.py"


def test_loans_lead_from_the_example_to_the_planted_group(space) -> None:
    at = open_example(space, "loans")
    prepared(at.switch_page(PAGE).run())
    # the example suggests a support at which the planted group is looked at
    assert at.select_slider(key="support").value == 0.02
    carry_out(space, at)
    result = jobs.result(space, space.runs()[0]["spec"]).audits[0].result
    assert result.leaderboard[0].rule_set == "sex = female, ethnicity = Velian, age < 30"
    assert result.leaderboard[0].confirmed
    assert "Velian women under 30" in at.container(key="finding").text[0].value
    board = next(frame.value for frame in at.dataframe if "group" in frame.value)
    assert board["group"][0] == "Velian women under 30"
    assert (board["more than chance"][0], board["confirmed"][0]) == ("✓", "✓")
    # opening another group lets go of the row that was clicked
    shown = {frame.proto.id for frame in at.dataframe}
    at.selectbox(key="group").select(result.leaderboard[1].number).run()
    assert not shown & {frame.proto.id for frame in at.dataframe}, "a row clicked before can be clicked again"
    # a tolerance no group exceeds leaves no evidence, at once
    at.slider(key="xi").set_value(50.0).run()
    board = next(frame.value for frame in at.dataframe if "group" in frame.value)
    assert set(board["more than chance"]) == {""}
    for tab in ("Among all people", "How we tested", "People", "What sets them apart?"):
        open_tab(at, tab)
        assert len(figures(at)) >= 1, tab
    at.segmented_control(key="picture").set_value("neighbours").run()
    assert not at.exception
    assert len(figures(at)) == 2


def open_tab(at, title):
    """Open a tab of the result, which draws the open one alone."""
    at.query_params["tab"] = title
    at.run()
    assert not at.exception
    return at


def loan_book(space, n=600):
    """Bring people of whom young women of group b repay less often, with what the model may read."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "group": rng.choice(["a", "b"], n)})
    frame["income"], frame["debt"] = rng.normal(size=(2, n)).round(3)
    harmed = (frame["sex"] == "f") & (frame["group"] == "b")
    chance = 1 / (1 + np.exp(-(0.8 + 1.5 * frame["income"] - frame["debt"] - 3.0 * harmed)))
    frame["repaid"] = np.where(rng.random(n) < chance, "yes", "no")
    protected, features = ["sex", "group"], ["sex", "group", "income", "debt"]
    told = {"label": "repaid", "favorable": "yes", "protected": protected, "features": features}
    bring(space, frame.to_csv(index=False), **told)


def test_the_worst_rule_set_is_trained_against_from_the_page(space) -> None:
    loan_book(space)
    at = visit(space).switch_page(PAGE).run()
    carry_out(space, at)
    # what needs no choice is stated before and after; an audit that was run, as it was run, unless of
    # another model
    draft = space.draft()
    other = {**draft, "spec": {**draft["spec"], "model": {"train": "forest"}}}
    flipset = {"source": {"sex": "f"}, "target": {"sex": "m"}, "permutations": 19}
    for name, spec in (
        ("x", drafts.audit_spec(draft, "flipset", flipset)),
        ("y", drafts.audit_spec(other, "recourse", {"actionable": ["income"]})),
    ):
        space.note_run({"id": name, "key": name, "spec": spec, "title": ""})
    open_tab(at, "Train again")
    usual = ["groups", "flipset", "outcome_transport", "loss_ratio", "attribute_swap", "sensitivity"]
    assert at.multiselect(key="also").value == usual
    at.multiselect(key="also").set_value(["groups", "flipset"]).run()
    at.button(key="mitigate").click().run()
    record = space.runs()[0]
    assert jobs.executor().run(record["id"]).wait(120)
    at.run()
    assert not at.exception
    result = jobs.result(space, record["spec"]).audits[0].result
    assert at.container(key="mitigated").text[0].value == result.finding
    first, last = result.steps[0], result.steps[result.chosen]
    assert abs(last.difference.value) < abs(first.difference.value)
    assert [item.audit for item in first.also] == ["groups", "flipset"]
    assert record["spec"]["audits"][0]["mitigation"]["also"]["flipset"] == flipset
    assert all(any(item.finding in text for text in texts(at)) for item in (*first.also, *last.also))
