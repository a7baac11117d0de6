"""From a table and a spec to the audited rows: every number by hand, every row accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from app.tables.columns import preview
from audits.data import AuditData, DataSpec, build_data, data_spec
from tests.cases import cases
from tests.refused import refused

PEOPLE = pd.DataFrame(
    {
        "age": [17, 20, 25, 30, 45, 60, np.nan, 70],
        "sex": ["f", "m", "f", "m", "f", "m", "f", None],
        "job": ["cook", "judge", None, "cook", "cook", "judge", "nurse", "cook"],
        "gpa": [2.0, 3.0, 3.5, np.nan, 4.0, 2.5, 3.0, 1.0],
        "hired": ["no", "yes", "yes", "no", None, "yes", "no", "no"],
        "count": [1, 2, 0, 4, 1, 1, 1, 3],
    },
    index=pd.RangeIndex(1, 9, name="row"),
)
BASE = {"label": "hired", "favorable": "yes", "protected": ["sex"]}


def build(frame: pd.DataFrame = PEOPLE, **section: Any) -> AuditData:
    return build_data(frame, data_spec({**BASE, **section}))


def test_the_plain_case():
    data = build()
    assert (data.n, data.size, data.rows_read) == (7, 7, 8)
    assert data.excluded == {"label 'hired' is missing": 1}
    assert data.frame.index.tolist() == [1, 2, 3, 4, 6, 7, 8]
    assert data.y.tolist() == [False, True, True, False, True, False, False]
    assert data.groups["sex"].tolist() == ["f", "m", "f", "m", "m", "f", "(missing)"]
    assert data.features == ("age", "job", "gpa", "count")
    assert data.favorable == ("yes",)
    assert data.roles == {"sex": "immutable"}
    assert data.weights is None
    assert data.kinds["hired"] == "boolean"
    assert any("1 row" in note and "'sex'" in note for note in data.notes)
    nothing = build_data(PEOPLE, DataSpec())
    assert (nothing.n, nothing.y, nothing.label, nothing.favorable) == (8, None, None, ())
    assert nothing.groups.shape == (8, 0)


@pytest.mark.parametrize(
    ("rule", "rows", "excluded"),
    [
        ({"between": [20, 45]}, [2, 3, 4], {"age is not between 20 and 45": 3, "age is missing": 1}),
        ({"at_least": 25}, [3, 4, 6, 8], {"age is below 25": 2, "age is missing": 1}),
        ({"at_most": 25}, [1, 2, 3], {"age is above 25": 4, "age is missing": 1}),
        ({"not_in": [17]}, [2, 3, 4, 6, 7, 8], {"age is '17'": 1}),
        (
            {"column": "job", "in": ["cook", "judge"]},
            [1, 2, 4, 6, 8],
            {"job is not 'cook' or 'judge'": 1, "job is missing": 1},
        ),
        ({"column": "job", "not_in": ["cook"]}, [2, 3, 6, 7], {"job is 'cook'": 4}),
        ({"column": "job", "not_missing": True}, [1, 2, 4, 6, 7, 8], {"job is missing": 1}),
    ],
)
def test_keep(rule: Mapping, rows: list[int], excluded: dict):
    data = build(keep=[{"column": "age", **rule}])
    assert data.frame.index.tolist() == rows
    assert data.n + sum(data.excluded.values()) == 8
    assert {**data.excluded, **excluded} == data.excluded  # and row 5, where no filter took it, lacks a label
    assert set(data.excluded) - set(excluded) <= {"label 'hired' is missing"}


def test_a_row_is_counted_under_its_first_reason():
    rules = [{"column": "age", "at_least": 18}, {"column": "job", "not_in": ["cook"]}]
    data = build(keep=rules, label=None, favorable=None)
    assert data.excluded == {"age is below 18": 1, "age is missing": 1, "job is 'cook'": 3}
    assert data.frame.index.tolist() == [2, 3, 6]


def test_dates_are_filtered_by_dates():
    frame = PEOPLE.assign(day=pd.date_range("2024-01-01", periods=8))
    spec = yaml.safe_load("{column: day, between: [2024-01-02, '2024-01-04']}")  # a date and a text
    assert build(frame, keep=[spec]).frame.index.tolist() == [2, 3, 4]
    with refused("data.keep[0].at_least", "'day'"):
        build(frame, keep=[{"column": "day", "at_least": 5}])


def test_recode():
    data = build(recode={"work": {"from": "job", "map": {"cook": "kitchen", "nurse": None, "pilot": "air"}}})
    assert data.frame["work"].tolist()[:5] == ["kitchen", "judge", np.nan, "kitchen", "judge"]
    assert data.frame["work"].isna().tolist() == [False, False, True, False, False, True, False]
    assert data.frame["job"].tolist()[0] == "cook"
    assert any("'pilot'" in note for note in data.notes)
    assert any("2 rows" in note and "'judge'" in note for note in data.notes)
    numbers = build(recode={"job": {"map": {"cook": 1, "judge": 2, "nurse": 3}}})
    assert numbers.frame["job"].tolist()[:2] == [1.0, 2.0]
    assert numbers.kinds["job"] == "integer"
    named = build(recode={"old": {"from": "age", "map": {"17": "minor", 70: "old"}}})  # compared as text
    assert named.frame["old"].tolist()[:2] == ["minor", "20"]


def test_sections_as_yaml_has_them():
    text = "{label: hired, favorable: yes, protected: sex, features: age, bins: , keep: , read: }"
    section = yaml.safe_load(text)
    assert section["favorable"] is True
    data = build_data(PEOPLE, data_spec(section))
    assert (data.favorable, data.protected, data.features) == (("yes",), ("sex",), ("age",))
    recode = yaml.safe_load("{hired: {map: {no: declined}}}")
    again = build_data(PEOPLE, data_spec({**section, "recode": recode}))
    assert again.frame["hired"].tolist()[0] == "declined"
    with refused("data.binz", "'bins'"):
        data_spec({**section, "binz": None})


def test_favorable_values_match_as_text():
    frame = PEOPLE.assign(hired=[0, 1, 1, 0, np.nan, 1, 0, 0])
    for favorable in (1, "1", 1.0, ["1"], True):
        data = build(frame, favorable=favorable)
        assert (data.y.sum(), data.favorable) == (3, (1.0,))
    known = frame.dropna(subset="hired")
    told = known.assign(hired=known["hired"] == 1)
    for favorable, good in ((1, True), ("1", True), (0, False), (True, True)):
        assert build(told, favorable=favorable).favorable == (good,)
    with refused("data.favorable", "'False'", "'True'"):
        build(told, favorable=2)
    several = build(label="job", favorable=["cook", "nurse"])
    assert several.y.tolist() == [True, False, True, True, False, True, True]


def test_a_label_cut_from_a_number():
    data = build(label={"column": "gpa", "at_least": 3.0}, favorable=None)
    assert data.label == "gpa >= 3"
    assert data.frame.index.tolist() == [1, 2, 3, 5, 6, 7, 8]
    assert data.excluded == {"label 'gpa' is missing": 1}
    assert not {"gpa", "gpa >= 3"} & set(data.features)
    assert data.kinds["gpa >= 3"] == "boolean"
    for cut, y in (
        ("at_least", [0, 1, 1, 1, 0, 1, 0]),
        ("above", [0, 0, 1, 1, 0, 0, 0]),
        ("at_most", [1, 1, 0, 0, 1, 1, 1]),
        ("below", [1, 0, 0, 0, 1, 0, 1]),
    ):
        told = {"label": {"column": "gpa", cut: 3}}
        assert build(**told, favorable=None).y.tolist() == y
        assert (~build(**told, favorable=False).y).tolist() == y
    for nobody in ({"at_least": 9.0}, {"below": 9.0}):
        with refused("data.label", "'gpa'"):
            build(label={"column": "gpa", **nobody}, favorable=None)


def test_bins():
    data = build(protected=["age"], bins={"age": [18, 25, 45]})
    middle = ["[18, 25)", "[25, 45]", "[25, 45]"]
    assert data.groups["age"].tolist() == ["below 18", *middle, "above 45", "(missing)", "above 45"]
    assert data.frame["age"].tolist()[0] == 17
    half = build(protected=["gpa"], bins={"gpa": [0, 2.5, 4]}).groups["gpa"].tolist()
    high = "[2.5, 4]"
    assert half == ["[0, 2.5)", high, high, "(missing)", high, high, "[0, 2.5)"]


def test_weights_and_missing_values():
    data = build(weights="count")
    assert data.excluded == {"label 'hired' is missing": 1, "weight 'count' is 0": 1}
    assert (data.weights.tolist(), data.size) == ([1, 2, 4, 1, 1, 3], 12)
    assert "count" not in data.features
    dropped = build(missing="drop")
    assert dropped.frame.index.tolist() == [1, 2, 6]
    assert dropped.excluded == {"label 'hired' is missing": 1, "missing value in age, job, gpa, sex": 4}
    filled = build(missing="impute")
    assert filled.imputed == {"age": 1, "job": 1, "gpa": 1}
    # ages used: 17 20 25 30 60 70 -> lower median 25; gpa: 1 2 2.5 3 3 3.5 -> 2.5; job: cook thrice
    assert (filled.frame["age"][7], filled.frame["gpa"][4], filled.frame["job"][3]) == (25, 2.5, "cook")
    assert filled.groups["sex"].tolist()[-1] == "(missing)"  # nobody's group is guessed


def test_what_is_filled_in_does_not_depend_on_the_table_s_form():
    """Of eight people with a value 2 is the median and a the commonest, of four rows neither is."""
    cells = {"x": [2.0, 5, 7, 9, np.nan, np.nan], "job": ["a", "b", "b", "c", None, "a"]}
    counted = pd.DataFrame({**cells, "sex": list("fmfmfm"), "hired": list("ynynyn"), "n": [5, 1, 1, 1, 2, 3]})
    spec = {"features": ["x", "job"], "missing": "impute", "favorable": "y"}
    people = counted.loc[counted.index.repeat(counted["n"])].reset_index(drop=True).drop(columns="n")
    for data in (build(people, **spec), build(counted, **spec, weights="n")):
        assert {name: value for name, (_, value) in data.written.filled.items()} == {"x": 2.0, "job": "a"}


def test_default_features_leave_out_what_cannot_be_used():
    each = pd.Series(range(900)) % 300
    frame = pd.DataFrame({"unnamed_1": range(900), "wage": each / 7, "void": np.nan, "sex": ["f", "m"] * 450})
    frame["note"] = [f"a long note about {i}" for i in each]
    frame["zip"], frame["many"] = [f"z{i % 250}" for i in each], [f"m{i % 201}" for i in each]
    data = build(frame.assign(hired=["yes", "no", "no"] * 300))
    assert data.features == ("wage",)
    said = " ".join(data.notes)
    assert all(f": {names}" in said for names in ("unnamed_1", "note", "zip, many", "void"))


def test_frames_of_every_dtype_are_taken():
    frame = pd.DataFrame(
        {
            "ordered": pd.Categorical(["b", "a", "c", "a"], categories=["c", "b", "a"], ordered=True),
            "plain": pd.Categorical(["x", "y", None, "x"]),
            "Int": pd.array([1, None, 3, 4], dtype="Int64"),
            "flag": pd.array([True, None, False, True], dtype="boolean"),
            "mixed": pd.Series([1, "two", None, 3.0], dtype=object),
            "interval": pd.cut(pd.Series([1, 2, 3, 4]), [0, 2, 4]),
            "period": pd.period_range("2024-01", periods=4, freq="M"),
            "sparse": pd.arrays.SparseArray([0, 0, 1, 2]),
        }
    ).assign(question=["?", "NA", "", "x"], hired=[1, 0, 1, 0])
    frame.index = ["d", "c", "b", "a"]
    data = build(frame, favorable=1, protected=["plain"])
    assert (data.kinds["ordered"], data.orders["ordered"]) == ("ordinal", ("c", "b", "a"))
    assert data.frame.index.tolist() == ["d", "c", "b", "a"]
    assert data.groups["plain"].tolist() == ["x", "y", "(missing)", "x"]
    np.testing.assert_array_equal(data.frame["Int"], [1, np.nan, 3, 4])
    assert data.frame[["mixed", "interval", "period"]].iloc[0].tolist() == ["1", "(0, 2]", "2024-01"]
    assert data.frame["question"].tolist() == ["?", "NA", "", "x"]
    assert data.frame["sparse"].tolist() == [0, 0, 1, 2]
    assert data.kinds["flag"] == "boolean"


@pytest.mark.parametrize(
    ("section", "refusal"),
    [
        *cases(__file__, "refused_data.yaml"),
        ({"keep": [{"column": "age", "at_least": float("nan")}]}, ("data.keep[0].at_least",)),
    ],
)
def test_what_cannot_be(section: dict, refusal: str):
    with refused(*refusal):
        build(**section)


MANY = pd.concat([PEOPLE] * 100, ignore_index=True).assign(score=np.arange(800) / 10)
MANY["many"] = [f"v{i % 500}" for i in range(800)]
VOID = PEOPLE.assign(void=np.nan)


@pytest.mark.parametrize(
    ("frame", "section", "refusal"),
    [
        (VOID, {"protected": ["void"]}, ("data.protected: 'void'",)),
        (PEOPLE.assign(one="x"), {"protected": ["one"]}, ("data.protected: 'one'", "'x'")),
        (MANY, {"protected": ["many"]}, ("data.protected: 'many'", "475", "100")),
        (MANY, {"label": "score"}, ("data.label", "800", "100", "'score'")),
        (VOID, {"label": "void"}, ("data.label", "'void'")),
        (PEOPLE.assign(gpa=[1.0, np.inf] * 4), {}, ("column 'gpa', row 2", "'inf'", "read.missing")),
        (PEOPLE.assign(gpa=[1.0, -1e308] * 4), {}, ("column 'gpa', row 2", "1e+30", "'-1e+308'")),
        (PEOPLE.assign(count=[1, -1] * 4), {"weights": "count"}, ("data.weights: column 'count', row 2",)),
        (PEOPLE.assign(count=0), {"weights": "count"}, ("data.weights", "'count'")),
        (VOID, {"missing": "impute", "features": ["void"]}, ("data.features: 'void'",)),
        (pd.concat([PEOPLE, PEOPLE]), {}, ("the table",)),
        (pd.concat([PEOPLE, PEOPLE[["age"]]], axis=1), {}, ("the table", "'age'")),
        (PEOPLE.iloc[:0], {}, ("the table",)),
    ],
)
def test_tables_that_cannot_be(frame: pd.DataFrame, section: dict, refusal: tuple):
    with refused(*refusal):
        build(frame, **section)


def test_a_column_may_be_called_anything():
    frame = PEOPLE.rename(columns={"job": "self", "gpa": "frame", "age": "index"})
    recode = {"self": {"from": "self", "map": {"cook": "chef"}}}
    data = build(frame, kinds={"index": "continuous"}, recode=recode, missing="impute")
    assert set(data.features) == {"index", "self", "frame", "count"}
    assert preview(data.frame)["self"].tolist() == data.frame["self"].tolist()


def test_a_number_of_bins_cuts_the_rows_that_are_left_at_quantiles():
    ages = [10.0, 20, 30, 40, 50, 60, 70, 80, np.nan]
    frame = pd.DataFrame({"age": ages, "y": [0, 1] * 4 + [1]})
    section = {"label": "y", "favorable": 1, "protected": ["age"]}
    data = build_data(frame, data_spec({**section, "bins": {"age": 4}}))
    assert data.bins == {"age": (10.0, 30.0, 50.0, 70.0, 80.0)}
    counts = {"[10, 30)": 2, "[30, 50)": 2, "[50, 70)": 2, "[70, 80]": 2, "(missing)": 1}
    assert data.groups["age"].value_counts().to_dict() == counts
    some = data_spec({**section, "bins": {"age": 2}, "keep": [{"column": "age", "at_least": 40}]})
    assert build_data(frame, some).bins["age"] == (40.0, 60.0, 80.0)
    for bins, ages in ((1, 5), (21, 5), (4.0, 5), (3, 5), (3, ["a"] * 4 + ["b"] * 5)):
        with refused("data.bins.age"):
            build_data(frame.assign(age=ages), data_spec({**section, "bins": {"age": bins}}))


@pytest.mark.parametrize(
    ("rule", "made"),
    [
        ({"from": "filed", "take": "weekday"}, ["Sunday", "Monday", "Saturday", "Friday"]),
        ({"from": "filed", "take": "month"}, ["May", "May", "January", "March"]),
        ({"from": "filed", "take": "year"}, [2024, 2024, 2024, 2024]),
        ({"from": "born", "take": "years", "until": "filed"}, [33, 64, None, 24]),
        ({"from": "born", "take": "years", "until": "2024-05-20"}, [34, 64, None, 24]),
        ({"from": "filed", "take": "days", "until": "2024-05-21"}, [2, 1, 136, 81]),
        ({"from": "sex", "take": "month"}, ".from"),
        ({"from": "born", "take": "years"}, ".until"),
        ({"from": "born", "take": "years", "until": "soon"}, ".until"),
        ({"from": "born", "take": "month", "until": "filed"}, ".until"),
        ({"from": "born", "take": "month", "map": {"a": "b"}}, ""),
        ({"from": "born", "take": "century"}, ".take"),
    ],
)
def test_dates_give_ages_weekdays_months_and_durations_or_are_refused(rule: Mapping, made: list | str):
    born = ["1990-05-20", "1960-01-01", None, "2000-02-29"]
    filed = ["2024-05-19", "2024-05-20", "2024-01-06", "2024-03-01"]
    frame = pd.DataFrame({"born": pd.to_datetime(born), "filed": pd.to_datetime(filed)})
    frame = frame.assign(sex=["f", "m"] * 2, hired=["no", "yes", "yes", "no"])
    if isinstance(made, str):
        with refused(f"data.recode.made{made}"):
            build(frame, recode={"made": rule})
    else:
        found = build(frame, recode={"made": rule}).frame["made"]
        assert [None if pd.isna(each) else each for each in found] == made


CODED = pd.DataFrame({"sex": [1, 2, 2, None, 1], "stage": [3, 1, 2, 2, 1], "pay": [5, 6, 7, 8, 9]})
CODED["good"] = [0, 1, 1, 0, 1]
NAMED = {"labels": {"sex": {1: "male", "2": "female"}, "good": {1: "repaid"}}}
NAMED |= {"label": "good", "favorable": 1, "protected": ["sex"]}


def test_groups_say_what_values_mean_and_models_get_the_values():
    data = build_data(CODED, data_spec({**NAMED, "features": ["sex", "pay"]}))
    assert data.groups["sex"].tolist() == ["male", "female", "female", "(missing)", "male"]
    assert data.frame["sex"].dropna().tolist() == ["male", "female", "female", "male"]
    given = data.written.restore(data.frame[["sex", "pay"]])
    pd.testing.assert_series_equal(given["sex"], CODED["sex"], check_index=False)
    some = data.written.restore(data.frame[["sex"]].iloc[[1, 0]].reset_index(drop=True))
    assert some["sex"].tolist() == [2, 1]
    assert data.favorable == (1,)  # the label's own values stay as a model knows them
    assert data.labels["good"] == {"1": "repaid"}
    labels = {"stage": {1: "early", 2: "later", 3: "advanced"}}
    ordered = build_data(CODED, data_spec({**NAMED, "labels": labels, "kinds": {"stage": "ordinal"}}))
    assert ordered.orders["stage"] == ("early", "later", "advanced")
    measured = build_data(CODED, data_spec({**NAMED, "units": {"pay": "EUR an hour"}}))
    assert measured.digest == build_data(CODED, data_spec(NAMED)).digest


@pytest.mark.parametrize(
    ("more", "where", "tells"),
    [
        ({"labels": {"sex": {3: "other"}}}, "data.labels.sex", ""),
        ({"labels": {"sx": {1: "male"}}}, "data.labels.sx", ""),
        ({"labels": {"sex": {1: "x", 2: "x"}}}, "data.labels.sex", "'x'"),
        ({"labels": {"pay": {5: "low"}}, "kinds": {"pay": "continuous"}}, "data.labels.pay", ""),
        ({"units": {"payy": "EUR"}}, "data.units.payy", "'payy'"),
        ({"units": ["pay"]}, "data.units", ""),
    ],
)
def test_labels_and_units_that_cannot_be_are_told(more, where, tells):
    with refused(where, tells):
        build_data(CODED, data_spec({**NAMED, **more}))
