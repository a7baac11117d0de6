"""Bad input to the outcome-transport audit: one sentence each."""

from __future__ import annotations

import pytest

from audits.errors import InputError
from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import A, B, flows_of

BAD = [
    ({"source": A}, r"outcome_transport\.target is missing"),
    ({"source": A, "target": B, "against": "label"}, "not both"),
    ({"source": A, "target": A}, "must not share people with the source"),
    ({"source": {"group": "z"}, "target": B}, "must be a value of 'group'"),
    ({"against": "label", "outcome": "score"}, "another scale"),
    ({"against": {"score": "nope"}}, "must be a column"),
    ({"against": {"score": "score", "label": "label"}}, "exactly one"),
    ({"against": {"train": "logistic"}}, "needs rows to train on"),
    ({"against": {"path": "nope.onnx"}}, r"against\.path must name an existing file"),
    ({"against": {"path": "model.pkl"}}, "can run code"),
    ({"against": {"label": "label", "higher_is": "favorable"}}, "is for a column of scores"),
    ({"against": "truth"}, "against"),
    ({"source": A, "target": B, "outcome": "classes"}, "one number a person"),
    ({"source": A, "target": B, "features": "mutable"}, "no column in the data has that role"),
    ({"by": ("x",)}, "must be a protected attribute"),
    ({"level": 2}, r"outcome_transport\.level"),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_bad_input_in_one_sentence(options, words):
    with pytest.raises(InputError, match=words):
        flows_of(scored(crowd(30)), **options)


def test_probabilities_outside_their_range():
    frame = crowd(30).assign(score=lambda table: table["score"] * 3)
    with pytest.raises(InputError, match=r"must lie in \[0, 1\], but .* people another number"):
        flows_of(scored(frame), source=A, target=B, outcome="probability")


def test_outcomes_too_large_to_measure():
    frame = crowd(30, ties=False).assign(score=lambda table: table["score"] * 1e200)
    with pytest.raises(InputError, match=r"at most 1e\+100 in size, but a has larger ones"):
        flows_of(scored(frame), source=A, target=B)


def test_everyone_accepted_has_no_rejected_group():
    with pytest.raises(InputError, match="nobody in the audited data is in 'rejected'"):
        flows_of(scored(crowd(30), threshold=-1), source="rejected", target="accepted")


def test_no_label():
    with pytest.raises(InputError, match="the data have none"):
        flows_of(scored(crowd(30).drop(columns="label")), against="label")
