"""People selected by what is shown of them, and the group of a spec that they become: the same people."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec, read_table
from audits.data.preprocessing.filters import EVERYONE_ELSE
from audits.data.selection import group_of, selected_rows
from audits.models import ModelSpec, make_subject
from tests.refused import refused

ROWS = [
    ("1", "20", "cook", "2020-03-01", 1),
    ("2", "30", "judge", "2021-03-01", 0),
    ("1", "", "cook", "2022-03-01", 1),
    ("2", "40", "", "2020-09-01", 0),
    ("1", "50", "nurse", "2020-03-02", 1),
    ("", "60", "nurse", "2019-03-01", 0),
    ("2", "25", "cook", "2020-12-31", 1),
]
SECTION = {"label": "y", "favorable": 1, "protected": ["sex", "age"], "bins": {"age": [18, 30, 50]}}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.csv"
    lines = ["sex,age,job,day,y", *(",".join(map(str, row)) for row in ROWS)]
    path.write_text("\n".join(lines) + "\n")
    return read_table([path])


@pytest.mark.parametrize(
    ("terms", "rows"),
    [
        ([{"column": "job", "in": ["cook"]}], [1, 3, 7]),
        ([{"column": "age", "at_least": 25}, {"column": "age", "below": 50}], [2, 4, 7]),
        ([{"column": "age", "above": 50}], [6]),
        ([{"column": "age", "missing": True}], [3]),
        ([{"group": {"age": "[30, 50]"}}], [2, 4, 5]),
        ([{"group": {"age": "above 50"}}], [6]),
        ([{"group": {"sex": "(missing)"}}], [6]),
        ([{"group": {"sex": "male", "age": "[18, 30)"}}], [1]),
        ([{"column": "sex", "in": ["female"]}, {"column": "job", "not_in": ["cook"]}], [2, 4]),
        # as figures draw dates: years with a fraction
        ([{"column": "day", "at_least": 2020.0}, {"column": "day", "below": 2020.5}], [1, 5]),
    ],
)
def test_a_group_of_the_spec_holds_the_very_people_selected(table, terms, rows):
    section = {**SECTION, "labels": {"sex": {1: "male", 2: "female"}}}
    spec = data_spec(section)
    data = build_data(table, spec)
    assert selected_rows(data, terms).tolist() == rows
    made = group_of(table, spec, data, terms, None)
    assert list(made) == ["where"]
    protected = [*SECTION["protected"], "chosen"]
    again = build_data(table, data_spec({**section, "recode": {"chosen": made}, "protected": protected}))
    assert again.groups.index[again.groups["chosen"] == "chosen"].tolist() == rows
    assert set(again.groups["chosen"]) == {"chosen", EVERYONE_ELSE}
    assert json.loads(json.dumps(made)) == made  # as a draft keeps it


def test_values_filled_in_and_a_runs_people_are_named_by_their_rows(table):
    spec = data_spec({**SECTION, "missing": "impute", "protected": ["sex"], "bins": {}})
    terms = [{"column": "age", "between": [30, 40]}]  # row 3 got the middle age, 35
    data = build_data(table, spec)
    assert selected_rows(data, terms).tolist() == [2, 3, 4]
    assert group_of(table, spec, data, terms, None) == {"rows": ["2-4"]}
    terms, spec = [{"column": "job", "in": ["cook"]}], data_spec(SECTION)
    made = group_of(table, spec, build_data(table, spec), terms, pd.Index([1, 2, 7]))
    assert made == {"where": terms, "rows": [1, 7]}


def test_a_group_needs_people_in_it_and_beside_it(table):
    data = build_data(table, data_spec(SECTION))
    for terms in ([{"column": "age", "above": 100}], [{"column": "y", "not_missing": True}]):
        with refused("the group"):
            group_of(table, data_spec(SECTION), data, terms, None)


@pytest.mark.parametrize(
    ("recode", "place", "tells"),
    [
        ({"rows": [99]}, ".rows", "99"),
        ({"rows": ["5-9"]}, ".rows", "'5-9'"),
        ({"rows": [1], "map": {"a": "b"}}, "", ""),
        ({"where": [{"column": "age"}]}, ".where[0]", ""),
        ({"where": [{"column": "agee", "above": 1}]}, ".where[0].column", ""),
    ],
)
def test_a_group_that_cannot_be(table, recode, place, tells):
    with refused(f"data.recode.chosen{place}", tells):
        build_data(table, data_spec({**SECTION, "recode": {"chosen": recode}}))


def test_nobody_else_is_audited_and_the_model_learns_from_everybody():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"age": rng.integers(18, 70, 300), "sex": rng.choice(["f", "m"], 300)})
    frame["y"] = (frame["age"] + rng.normal(0, 9, 300) > 40).astype(int)
    section = {"label": "y", "favorable": 1, "protected": ["sex"]}
    everybody = make_subject(build_data(frame, data_spec(section)), ModelSpec(train="logistic"), seed=3)
    group = {"recode": {"old": {"where": [{"column": "age", "above": 50}]}}}
    rule = {"among": [{"column": "old", "in": ["old"]}]}
    data = build_data(frame, data_spec({**section, **group, **rule}))
    assert "old" not in data.features
    some = make_subject(data, ModelSpec(train="logistic"), seed=3)
    inside = (everybody.data.frame["age"] > 50).to_numpy()
    assert some.data.frame.index.tolist() == everybody.data.frame.index[inside].tolist()
    assert some.training.n == everybody.training.n
    np.testing.assert_array_equal(some.scores, everybody.scores[inside])
    assert any(f"{inside.sum()} of {everybody.data.n} people" in note for note in some.notes)
    with refused("data.among", "300"):
        build_data(frame, data_spec({**section, "among": [{"column": "age", "above": 99}]}))
