"""What if: the model's answer for one person with other values, and what it says where it cannot answer."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.data.values import text_of
from audits.models import ModelSpec, Predictions, make_subject
from audits.models.what_if import what_if
from tests.refused import refused


@pytest.fixture(scope="module")
def subject():
    rng = np.random.default_rng(2)
    n = 400
    numbers = {"income": rng.normal(40.0, 10.0, n), "children": rng.integers(0, 4, n)}
    words = {"job": rng.choice(["cook", "judge"], n), "owner": rng.choice([True, False], n)}
    frame = pd.DataFrame({**numbers, **words, "age": rng.integers(20, 60, n)})
    frame.loc[frame.index[::9], "job"] = None
    score = 0.2 * (frame["income"] - 40) + (frame["job"] == "judge") - 0.5 * frame["children"]
    frame["y"] = (score + rng.normal(0, 1, n) > 0).astype(int)
    section = {"label": "y", "favorable": 1, "protected": ["age"], "bins": {"age": [20, 40, 60]}}
    data = build_data(frame, data_spec({**section, "features": [*numbers, *words]}))
    threshold = {"age": {"[20, 40)": 0.3, "[40, 60]": 0.7}}
    return make_subject(data, ModelSpec(train="logistic"), threshold=threshold)


def test_the_answer_is_the_models_own_score_of_the_changed_row(subject):
    row = subject.data.frame.index[4]
    changes = {"income": 55.5, "children": 2.5, "job": None, "owner": "False"}
    answer = what_if(subject, row, changes)
    changed = subject.data.frame.loc[[row]].assign(income=55.5, children=2.5, job=None, owner=False)
    assert answer["after"]["score"] == pytest.approx(float(subject.favorable_score(changed)[0]), abs=1e-12)
    assert answer["before"]["score"] == pytest.approx(subject.scores[4], abs=1e-12)
    assert answer["before"]["favorable"] == bool(subject.decisions[4])
    assert json.loads(json.dumps(answer)) == answer  # what a worker can send
    assert what_if(subject, row, {})["after"] == answer["before"]
    row = subject.data.frame.index[subject.data.frame["age"] < 40][0]
    answer = what_if(subject, row, {"age": 45})  # the threshold follows the group
    assert (answer["before"]["threshold"], answer["after"]["threshold"]) == (0.3, 0.7)
    assert answer["before"]["score"] == answer["after"]["score"]  # the model does not read it


def test_what_can_be_changed_comes_with_what_was_seen_of_everybody(subject):
    row = subject.data.frame.index[0]
    told = {each["name"]: each for each in what_if(subject, row, {})["columns"]}
    assert list(told) == ["income", "children", "job", "owner", "age"]  # age decides the threshold
    seen = pd.concat([subject.data.frame, subject.training.frame])
    assert (told["income"]["low"], told["income"]["high"]) == (seen["income"].min(), seen["income"].max())
    assert set(told["job"]["levels"]) == {"cook", "judge"}
    assert told["children"]["value"] == subject.data.frame["children"].iloc[0]
    assert what_if(subject, row, {"income": told["income"]["high"]})["notes"] == []
    (note,) = what_if(subject, row, {"income": 1e4})["notes"]
    assert "income 10000" in note  # nobody has it


def test_a_date_is_read_in_one_way_only_and_what_nobody_lacks_is_noted():
    since = pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(0, 880, 11), "D")
    frame = pd.DataFrame({"sex": list("fm") * 40, "since": since, "y": [0, 0, 1, 1] * 20})
    data = build_data(frame, data_spec({"label": "y", "favorable": 1, "protected": ["sex"]}))
    subject = make_subject(data, ModelSpec(train="logistic"))
    row = subject.data.frame.index[0]
    for wrong in ("2021-02-30", "1/2/21", "nat", "2021-02-03T00:00Z", "0001-01-01"):
        with refused("what if: since"):
            what_if(subject, row, {"since": wrong})
    for value, told in (("2021-02-03", ""), ("1999-02-03", "since 1999"), (None, "since")):
        notes = what_if(subject, row, {"since": value})["notes"]
        assert [told in note for note in notes] == ([True] if told else [])


def test_the_most_similar_person_of_a_group_is_the_nearest_by_all_features(subject):
    row = subject.data.frame.index[1]
    beside = {"age": "[40, 60]"}
    answer = what_if(subject, row, {"income": 70.0}, beside=beside)
    inside = subject.data.members(beside) & (subject.data.frame.index != row)
    theirs = subject.data.frame[inside]
    for side, income in (("before", subject.data.frame.loc[row, "income"]), ("after", 70.0)):
        own = subject.space.encode(subject.data.frame.loc[[row]].assign(income=income))
        far = [float(np.abs(subject.space.encode(theirs.iloc[[k]]) - own).sum()) for k in range(len(theirs))]
        assert math.isclose(min(far), far[list(theirs.index).index(answer["nearest"][side])])


def test_what_is_left_to_change_is_where_the_nearest_accepted_person_differs(subject):
    data, towards = subject.data, ["income", "job"]
    accepted = data.frame[subject.decisions]
    for row in data.frame.index[~subject.decisions][:5]:
        answer = what_if(subject, row, {}, towards=towards)["accepted"]["before"]
        far = np.abs(subject.space.encode(accepted) - subject.space.encode(data.frame.loc[[row]])).sum(axis=1)
        assert answer["row"] == accepted.index[int(far.argmin())]
        told = {name: (mine, other) for name, mine, other in answer["differs"]}
        for name in towards:
            mine, other = (text_of(data.frame.loc[each, name]) for each in (row, answer["row"]))
            if data.frame.loc[[row, answer["row"]], name].notna().all():  # a missing value is none to choose
                assert told.get(name) == (None if mine == other else (mine, other))


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"job": "pilot"}, ("what if: job", "'pilot'")),
        ({"income": "much"}, ("what if: income", "'much'")),
        ({"income": math.inf}, ("what if: income",)),
        ({"y": 1}, ("what if", "'y'")),
    ],
)
def test_what_cannot_be_asked(subject, changes, refusal):
    with refused(*refusal):
        what_if(subject, subject.data.frame.index[0], changes)


def test_a_column_of_predictions_is_no_model_to_ask_and_nobody_no_row(subject):
    with refused("row", "7777"):
        what_if(subject, 7777, {})
    told = make_subject(subject.data, ModelSpec(predictions=Predictions(score="income")), threshold=40.0)
    with refused("model"):
        what_if(told, told.data.frame.index[0], {"children": 1})
