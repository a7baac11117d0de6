"""The words of the decision: proposed from names, taken with one click, kept in the spec."""

from __future__ import annotations

import pytest

from app.data_model.decision_words import proposed_words
from tests.app.test_pages import bring, visit


@pytest.mark.parametrize(
    ("label", "people", "yes"),
    [
        ("hired", "applicants", "hired"),
        ("repaid", "applicants", "approved"),
        ("is_recid", "people", "rated low risk"),
    ],
)
def test_words_are_proposed_from_the_labels_name(label, people, yes) -> None:
    draft = {"source": {"name": "table.csv"}, "spec": {"data": {"label": label}, "model": {}}}
    assert proposed_words(draft, ())["people"] == people
    assert proposed_words(draft, ())["yes"] == yes
    draft["spec"]["data"]["label"] = "y"
    assert proposed_words(draft, ()) == {}


def test_words_are_taken_with_a_click_and_changed_in_their_boxes(space) -> None:
    bring(
        space,
        "sex,skill,hired\n" + "f,1,0\nm,2,1\nf,3,1\nm,4,0\n" * 20,
        label="hired",
        favorable=1,
        protected=["sex"],
    )
    at = visit(space)
    assert not at.exception
    assert "words" not in space.draft()["spec"]["data"], "a look changes nothing"
    at.button(key="use-words").click().run()
    words = space.draft()["spec"]["data"]["words"]
    assert words == {"people": "applicants", "person": "applicant", "yes": "hired", "no": "turned down"}
    at.run()
    box = next(each for each in at.text_input if str(each.key).startswith("words-people"))
    box.set_value("nurses").run()
    assert space.draft()["spec"]["data"]["words"]["person"] == "nurse"
    assert any(each.value.startswith("80 nurses, 1 input") for each in at.text)
