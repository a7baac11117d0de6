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
    assert not at.exception
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
    assert not at.exception
    assert not shown & {frame.proto.id for frame in at.dataframe}, "a row clicked before can be clicked again"
    # a tolerance no group exceeds leaves no evidence, at once
    at.slider(key="xi").set_value(50.0).run()
    assert not at.exception
    board = next(frame.value for frame in at.dataframe if "group" in frame.value)
    assert set(board["more than chance"]) == {""}
    for tab in ("What sets them apart?", "Among all people", "How we tested", "People"):
        open_tab(at, tab)
        assert len(figures(at)) >= 1, tab
    open_tab(at, "What sets them apart?")
    for picture in ("conditions", "neighbours", "lattice", "profile"):
        at.segmented_control(key="picture").set_value(picture).run()
        assert not at.exception
        assert len(figures(at)) == 2


def open_tab(at, title):
    """Open a tab of the result, which draws the open one alone."""
    at.query_params["tab"] = title
    at.run()
    assert not at.exception
    return at


def loan_book(space, n=1500):
    """Bring people of whom young women of group b repay less often, with what the model may read."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "group": rng.choice(["a", "b"], n),
            "income": rng.normal(size=n).round(3),
            "debt": rng.normal(size=n).round(3),
        }
    )
    harmed = (frame["sex"] == "f") & (frame["group"] == "b")
    chance = 1 / (1 + np.exp(-(0.8 + 1.5 * frame["income"] - frame["debt"] - 2.0 * harmed)))
    frame["repaid"] = np.where(rng.random(n) < chance, "yes", "no")
    section = {
        "label": "repaid",
        "favorable": "yes",
        "protected": ["sex", "group"],
        "features": ["sex", "group", "income", "debt"],
    }
    bring(space, frame.to_csv(index=False), **section)


def finish(space, at, spec_name):
    """Wait for the last run, which is of the audit named, and draw the page again."""
    record = space.runs()[0]
    assert set(record["spec"]["audits"][0]) == {spec_name}
    assert jobs.executor().run(record["id"]).wait(120)
    at.run()
    assert not at.exception


def test_the_worst_rule_set_is_trained_against_from_the_page(space) -> None:
    loan_book(space)
    at = visit(space).switch_page(PAGE).run()
    assert not at.exception
    carry_out(space, at)
    draft = space.draft()
    # what needs no choice is stated before and after; an audit that was run, as it was run, unless of
    # another model
    flipset = {"source": {"sex": "f"}, "target": {"sex": "m"}, "permutations": 19}
    space.note_run({"id": "x", "key": "x", "spec": drafts.audit_spec(draft, "flipset", flipset), "title": ""})
    other = {**draft, "spec": {**draft["spec"], "model": {"train": "forest"}}}
    recourse = {"actionable": ["income"]}
    space.note_run(
        {"id": "y", "key": "y", "spec": drafts.audit_spec(other, "recourse", recourse), "title": ""}
    )
    open_tab(at, "Train again")
    usual = ["groups", "flipset", "outcome_transport", "loss_ratio", "attribute_swap", "sensitivity"]
    assert at.multiselect(key="also").value == usual
    at.multiselect(key="also").set_value(["groups", "flipset"]).run()
    at.button(key="mitigate").click().run()
    finish(space, at, "mitigation")
    spec = space.runs()[0]["spec"]
    result = jobs.result(space, spec).audits[0].result
    assert at.container(key="mitigated").text[0].value == result.finding
    first, last = result.steps[0], result.steps[result.chosen]
    assert "sex" in result.rule_set
    assert abs(last.difference.value) < abs(first.difference.value)
    assert [item.audit for item in first.also] == ["groups", "flipset"]
    assert spec["audits"][0]["mitigation"]["also"]["flipset"] == flipset
    for item in (*first.also, *last.also):
        assert any(item.finding in text for text in texts(at))


def test_a_model_from_a_file_is_not_trained_again(space) -> None:
    at = open_example(space, "loans")
    options = {"protected": ["sex"], "support": 0.02}
    spec = drafts.audit_spec(space.draft(), "rule_sets", options)
    jobs.submit(space, spec, "").wait(90)
    prepared(at.switch_page(PAGE).run())
    at.multiselect(key="attributes").set_value(["sex"]).run()
    open_tab(at, "Train again")
    assert not at.exception
    assert "also" not in [box.key for box in at.multiselect], "nothing to retrain with"


def talk(space):
    """Bring texts of which those with "gay" are called toxic; no column is protected."""
    moods = (("nice", "fine"), ("awful", "toxic"))
    lines = [
        f"my {who} friend number {k} is {mood} today,{'toxic' if who == 'gay' and k % 2 else verdict}"
        for k in range(100)
        for who in ("gay", "male", "brave")
        for mood, verdict in moods
    ]
    content = "words,verdict\n" + "\n".join(lines)
    bring(space, content, label="verdict", favorable="fine", protected=[])


def test_a_model_of_words_is_chosen_on_the_data_page_and_terms_are_edited(space) -> None:
    talk(space)
    at = visit(space)
    assert not at.exception
    box = at.selectbox(key=f"train-{space.draft()['id']}")
    box.select("text").run()
    assert not at.exception
    assert space.draft()["spec"]["model"] == {"train": "text"}
    assert space.draft()["spec"]["data"]["features"] == ["words"]
    assert not at.button(key="next").disabled, texts(at)
    prepared(at.switch_page(PAGE).run())
    assert not at.exception
    assert at.selectbox(key="rules").value == "identity terms in words"
    at.text_area(key="terms").set_value("gender: gay, male\nmood brave").run()
    assert not at.exception
    assert any("Line 2" in item for item in texts(at))
    at.text_area(key="terms").set_value("gender: gay, male\nmood: brave").run()
    carry_out(space, at)
    options = space.runs()[0]["spec"]["audits"][0]["rule_sets"]
    assert options["terms"] == {"gender": ["gay", "male"], "mood": ["brave"]}
    # back to a model of columns: the features are those of the table again
    prepared(at.switch_page("views/data_model.py").run())
    at.selectbox(key=f"train-{space.draft()['id']}").select("logistic").run()
    assert not at.exception
    assert "features" not in space.draft()["spec"]["data"]
