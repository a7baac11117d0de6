"""Bad input to the recourse audit: one sentence each."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import Linear, mixed, recourse_of, subject_of
from tests.refused import refused

BAD = [
    ({"actionable": ("nope",)}, ("recourse.actionable",)),
    ({"actionable": ("label",)}, ("recourse.actionable",)),
    ({"preset": "german_credit"}, ("recourse.preset",)),
    ({"limits": {"money": {"among": [1]}}}, ("recourse.limits.money.among",)),
    ({"limits": {"job": {"direction": "up"}}}, ("recourse.limits.job.direction",)),
    ({"limits": {"job": {"at_least": 1}}}, ("recourse.limits.job",)),
    ({"limits": {"job": {"among": ["king"]}}}, ("recourse.limits.job.among",)),
    ({"limits": {"age": {"at_least": 9, "at_most": 1}}}, ("recourse.limits.age",)),
    ({"limits": {"group": {"direction": "up"}}}, ("recourse.limits",)),
    ({"limits": {"age": {"up": True}}}, ("recourse.limits.age.up",)),
    ({"cost_weights": {"age": -1}}, ("recourse.cost_weights.age",)),
    ({"cost_weights": {"age": 0, "job": 0, "children": 0, "money": 0}}, ("recourse.cost_weights",)),
    ({"steps": (0, 2)}, ("recourse.steps[1]",)),
    ({"steps": ()}, ("recourse.steps",)),
    ({"by": ("age",)}, ("recourse.by",)),
]


@pytest.mark.parametrize(("options", "refusal"), BAD)
def test_bad_input_in_one_sentence(options, refusal):
    with refused(*refusal):
        recourse_of(mixed(), **options)


def test_nothing_to_do():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "group": ["a", "b", "a"]})
    with refused("recourse"):
        recourse_of(subject_of(frame, Linear(x=1.0), ("x",)))
    with refused("recourse"):
        recourse_of(subject_of(frame.assign(x=-frame["x"]), Linear(x=1.0), ("x",)))
    with refused("roles.actionable"):
        recourse_of(subject_of(frame, Linear(x=1.0), ()))
    with refused("model"):
        recourse_of(scored(crowd(30), roles={"actionable": ("x",), "mutable": (), "immutable": ()}))
