"""The rule-set page through AppTest: the real executor on a bundled example, no mocks."""

from __future__ import annotations

import io

from app import drafts, work
from audits.runs.executors import InlineExecutor
from tests.app.test_pages import space, texts, visit  # noqa: F401  (space is a fixture)

PAGE = "views/rule_sets.py"


def test_without_data_the_page_asks_for_some(space) -> None:  # noqa: F811
    at = visit(space).switch_page(PAGE).run()
    assert not at.exception
    assert "There are no data yet." in texts(at)


def test_loans_lead_from_the_example_to_the_planted_group(space) -> None:  # noqa: F811
    at = visit(space).button(key="open-loans").click().run()
    at.switch_page(PAGE).run()
    assert not at.exception
    # the example suggests a support at which the planted group is looked at
    assert at.select_slider(key="support").value == 0.02
    at.button(key="run").click().run()
    run = work.executor().run(space.runs()[0]["id"])
    assert run is not None
    assert run.wait(90)
    at.run()
    assert not at.exception
    result = InlineExecutor().submit(space.runs()[0]["spec"], space.folder).result().audits[0].result
    assert at.container(key="finding").text[0].value == result.finding
    assert "sex = female, ethnicity = Velian, age < 30" in result.finding
    assert any(result.verdict in element.value for element in at.markdown)
    # opening the first group shows its people and what drives it
    at.selectbox(key="group").select(result.leaderboard[0].number).run()
    assert not at.exception
    assert any("decided favorably inside" in text for text in texts(at))
    # a tolerance no group exceeds leaves no evidence, at once
    at.slider(key="xi").set_value(50.0).run()
    assert not at.exception
    board = next(frame.value for frame in at.dataframe if "rule set" in frame.value)
    assert "evidence of a difference" not in set(board["verdict"])


def test_identity_terms_can_be_chosen_where_there_is_text(space) -> None:  # noqa: F811
    moods = (("nice", "fine"), ("awful", "toxic"))
    lines = [
        f"my {who} friend number {k} is {mood} today,{verdict},{k % 2}"
        for k in range(60)
        for who in ("gay", "male")
        for mood, verdict in moods
    ]
    path = space.add_file("talk.csv", io.BytesIO(("text,verdict,half\n" + "\n".join(lines)).encode()))
    draft = drafts.with_data(
        drafts.from_files([path], "upload"),
        label="verdict",
        favorable="fine",
        protected=["half"],
        features=["text"],
        kinds={"text": "text"},
    )
    draft["spec"]["model"] = {"train": "text"}
    space.save_draft(draft)
    at = visit(space).switch_page(PAGE).run()
    assert not at.exception
    at.selectbox(key="rules").select("identity terms in text").run()
    assert not at.exception
    at.button(key="run").click().run()
    run = work.executor().run(space.runs()[0]["id"])
    assert run.wait(90)
    at.run()
    assert not at.exception
    assert "texts with" in at.container(key="finding").text[0].value
