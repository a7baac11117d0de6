"""The words of the decision, proposed from names."""

from __future__ import annotations

import pytest

from app.data_model.decision_words import proposed_words
from app.tables.columns import ColumnProfile


@pytest.mark.parametrize(
    ("label", "people", "yes"),
    [
        ("hired", "applicants", "hired"),
        ("repaid", "applicants", "approved"),
        ("is_recid", "people", "rated low risk"),
        ("y", None, None),
    ],
)
def test_words_are_proposed_from_the_labels_name(label, people, yes) -> None:
    draft = {"source": {"name": "table.csv"}, "spec": {"data": {"label": label}, "model": {}}}
    words = proposed_words(draft, ())
    assert (words.get("people"), words.get("yes")) == (people, yes)


@pytest.mark.parametrize(
    ("column", "good", "values", "yes", "no"),
    [
        ("shortlisted", "yes", ("no", "yes"), "shortlisted", "not shortlisted"),
        ("evicted", "0", ("0", "1"), "not evicted", "evicted"),
        ("decision", "Granted", ("Granted", "Refused"), "granted", "refused"),
        ("admit", "Admitted", ("Admitted", "Rejected"), "admitted", "rejected"),
        ("y", "1", ("0", "1"), None, None),
        ("y", "Yes, in full, at once", ("Yes, in full, at once", "No"), None, None),
    ],
)
def test_a_decision_without_a_model_is_worded_by_its_own_values(column, good, values, yes, no) -> None:
    profile = ColumnProfile(column, "boolean", 0, 2, "", values, False, 0)
    spec = {"data": {"favorable": good}, "model": {"predictions": {"label": column}}}
    words = proposed_words({"source": {"name": "table.csv"}, "spec": spec}, [profile])
    assert (words.get("yes"), words.get("no")) == (yes, no)
