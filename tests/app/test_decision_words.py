"""The words of the decision: proposed from names, taken with one click, kept in the spec."""

from __future__ import annotations

import pytest

from app.data_model.decision_words import proposed_words
from app.tables.columns import ColumnProfile
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
    assert any("80 nurses" in each.value for each in at.text)


@pytest.mark.parametrize(
    ("column", "good", "values", "yes", "no"),
    [
        ("shortlisted", "yes", ("no", "yes"), "shortlisted", "not shortlisted"),
        ("evicted", "0", ("0", "1"), "not evicted", "evicted"),
        ("decision", "Granted", ("Granted", "Refused"), "granted", "refused"),
        ("admit", "Admitted", ("Admitted", "Rejected"), "admitted", "rejected"),
        ("y", "1", ("0", "1"), None, None),
    ],
)
def test_a_decision_without_a_model_is_worded_by_its_own_values(column, good, values, yes, no) -> None:
    profile = ColumnProfile(column, "boolean", 0, 2, "", values, False, 0)
    spec = {"data": {"favorable": good}, "model": {"predictions": {"label": column}}}
    words = proposed_words({"source": {"name": "table.csv"}, "spec": spec}, [profile])
    assert (words.get("yes"), words.get("no")) == (yes, no)
