"""Bad input to the recourse audit: one sentence each."""

from __future__ import annotations

import pandas as pd
import pytest

from audits.errors import InputError
from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import Linear, mixed, recourse_of, subject_of

BAD = [
    ({"actionable": ("nope",)}, "must be a column of the data"),
    ({"actionable": ("label",)}, "must not name the label"),
    ({"preset": "german_credit"}, "no column"),
    ({"limits": {"money": {"among": [1]}}}, "is for categories"),
    ({"limits": {"job": {"direction": "up"}}}, "needs a number, a date or ranks"),
    ({"limits": {"job": {"at_least": 1}}}, "can bound numbers only"),
    ({"limits": {"job": {"among": ["king"]}}}, "must be a value of the column"),
    ({"limits": {"age": {"at_least": 9, "at_most": 1}}}, "no larger than"),
    ({"limits": {"group": {"direction": "up"}}}, "must be an actionable column"),
    ({"limits": {"age": {"up": True}}}, "not a known key"),
    ({"cost_weights": {"age": -1}}, "greater than or equal to 0"),
    ({"cost_weights": {"age": 0, "job": 0, "children": 0, "money": 0}}, "some change a cost above 0"),
    ({"steps": (0, 2)}, "less than or equal to 1"),
    ({"steps": ()}, "at least 1"),
    ({"by": ("age",)}, "must be a protected attribute"),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_bad_input_in_one_sentence(options, words):
    with pytest.raises(InputError, match=words):
        recourse_of(mixed(), **options)


def test_nothing_to_do():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "group": ["a", "b", "a"]})
    with pytest.raises(InputError, match="the model accepts everyone"):
        recourse_of(subject_of(frame, Linear(x=1.0), ("x",)))
    with pytest.raises(InputError, match="the model accepts nobody"):
        recourse_of(subject_of(frame.assign(x=-frame["x"]), Linear(x=1.0), ("x",)))
    with pytest.raises(InputError, match=r"roles\.actionable must name at least one column"):
        recourse_of(subject_of(frame, Linear(x=1.0), ()))
    with pytest.raises(InputError, match="a column of predictions"):
        recourse_of(scored(crowd(30), roles={"actionable": ("x",), "mutable": (), "immutable": ()}))
