"""Bad input to the outcome-transport audit: one sentence each."""

from __future__ import annotations

import pytest

from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import A, B, flows_of
from tests.refused import refused

BAD = [
    ({"source": A}, ("outcome_transport.target",)),
    ({"source": A, "target": B, "against": "label"}, ("outcome_transport",)),
    ({"source": A, "target": A}, ("outcome_transport.target",)),
    ({"source": {"group": "z"}, "target": B}, ("group.group", "'group'")),
    ({"against": "label", "outcome": "score"}, ("outcome_transport.outcome",)),
    ({"against": {"score": "nope"}}, ("outcome_transport.against.score",)),
    ({"against": {"score": "score", "label": "label"}}, ("outcome_transport.against",)),
    ({"against": {"train": "logistic"}}, ("outcome_transport.against.train",)),
    ({"against": {"path": "nope.onnx"}}, ("outcome_transport.against.path",)),
    ({"against": {"path": "model.pkl"}}, ("outcome_transport.against.path",)),
    ({"against": {"label": "label", "higher_is": "favorable"}}, ("outcome_transport.against.higher_is",)),
    ({"against": "truth"}, ("outcome_transport.against",)),
    ({"source": A, "target": B, "outcome": "classes"}, ("outcome_transport.outcome",)),
    ({"source": A, "target": B, "features": "mutable"}, ("outcome_transport.features",)),
    ({"by": ("x",)}, ("outcome_transport.by",)),
    ({"level": 2}, ("outcome_transport.level",)),
]


@pytest.mark.parametrize(("options", "refusal"), BAD)
def test_bad_input_in_one_sentence(options, refusal):
    with refused(*refusal):
        flows_of(scored(crowd(30)), **options)


def test_outcomes_that_cannot_be_measured_or_compared():
    people = crowd(30, ties=False)
    three, huge = (people.assign(score=people["score"] * times) for times in (3, 1e200))
    with refused("outcome_transport.outcome"):
        flows_of(scored(three), source=A, target=B, outcome="probability")
    with refused("outcome_transport", "1e+100"):
        flows_of(scored(huge), source=A, target=B)
    with refused("outcome_transport.source", "'rejected'"):
        flows_of(scored(crowd(30), threshold=-1), source="rejected", target="accepted")
    with refused("outcome_transport.against"):
        flows_of(scored(crowd(30).drop(columns="label")), against="label")
