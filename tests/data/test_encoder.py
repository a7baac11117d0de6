"""The feature space: encodings by hand, distances, round trips, admissible rows from any point."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from audits.data import AuditData, DataSpec, FeatureSpace, build_data
from audits.data.row_encoder import RowEncoder, columns_of
from audits.data.values import number_column
from tests.refused import refused

PEOPLE = pd.DataFrame({"age": [20, 30, 40, 50], "wage": [1.0, np.nan, 2.0, 3.0]})
PEOPLE["job"], PEOPLE["hired"] = ["judge", None, "cook", "judge"], ["no", "yes", "yes", "no"]
PEOPLE["grade"] = ["low", "high", "medium", "low"]
PEOPLE["born"] = pd.to_datetime(["2000-01-01", "2000-01-03", "2000-01-05", "2000-01-07"])
PEOPLE["flag"], PEOPLE["same"] = [0, 1, 1, 0], 7


def make(frame: pd.DataFrame = PEOPLE, **spec: object) -> AuditData:
    if "grade" in frame and "kinds" not in spec:
        spec["kinds"] = {"grade": "ordinal"}
    return build_data(frame, DataSpec(**{"features": tuple(frame.columns), **spec}))


def test_encoding_by_hand():
    space = FeatureSpace.fit(make(), tuple(PEOPLE))
    assert space.names == (
        *("age", "wage", "wage is missing", "job=cook", "job=judge", "job is missing"),
        *("hired=yes", "grade", "born", "flag", "same"),
    )
    ends = [1, 3, 6, 7, 8, 9, 10, 11]
    assert space.blocks == {n: slice(*ab) for n, *ab in zip(PEOPLE, [0, *ends[:-1]], ends, strict=True)}
    z = space.encode(PEOPLE)
    # age: mean 35, variance (225 + 25 + 25 + 225) / 4 = 125
    np.testing.assert_allclose(z[:, 0], np.array([-15, -5, 5, 15]) / np.sqrt(125), rtol=1e-15)
    # wage: 1, 2, 3: mean 2, variance 2 / 3; the missing one is 0 and marked
    np.testing.assert_allclose(z[:, 1], np.array([-1, 0, 0, 1]) / np.sqrt(2 / 3), rtol=1e-15)
    assert z[:, 2].tolist() == [0, 1, 0, 0]
    assert z[:, 3:6].tolist() == [[0, 0.5, 0], [0, 0, 0.5], [0.5, 0, 0], [0, 0.5, 0]]
    assert z[:, 6].tolist() == [0, 1, 1, 0]
    # ranks 0, 2, 1, 0: mean 0.75, variance (0.5625 + 1.5625 + 0.0625 + 0.5625) / 4 = 0.6875
    np.testing.assert_allclose(z[:, 7], (np.array([0, 2, 1, 0]) - 0.75) / np.sqrt(0.6875), rtol=1e-15)
    # days since 1970 are large
    np.testing.assert_allclose(z[:, 8], np.array([-3, -1, 1, 3]) / np.sqrt(5), rtol=1e-12)
    assert z[:, 9].tolist() == [0, 1, 1, 0]
    assert z[:, 10].tolist() == [0, 0, 0, 0]
    scale = {part.column: (part.mean, part.sd) for part in space.parts if part.column in {"age", "same"}}
    assert scale == {"age": (35.0, pytest.approx(np.sqrt(125))), "same": (7.0, 1.0)}
    # a change of category costs one under L1
    for changed in ({"job": ["cook", "judge", None, "cook"]}, {"hired": ["yes", "no", "no", "yes"]}):
        apart = np.abs(z - space.encode(PEOPLE.assign(**changed))).sum(axis=1)
        np.testing.assert_allclose(apart, 1.0, rtol=1e-12)


def test_rows_come_back_and_any_point_decodes_to_an_admissible_row():
    space = FeatureSpace.fit(make(), tuple(PEOPLE))
    pd.testing.assert_frame_equal(space.decode(space.encode(PEOPLE)), make().frame.reset_index(drop=True))
    z = np.random.default_rng(0).normal(0, 100, (500, len(space.names)))
    rows = space.decode(z)
    assert rows["age"].between(20, 50).all()
    assert rows["age"].dtype == np.int64
    assert rows["wage"].dropna().between(1, 3).all()
    assert (rows["wage"].isna() == (z[:, 2] >= 0.5)).all()
    known = {"job": {"cook", "judge"}, "grade": {"low", "medium", "high"}, "flag": {0, 1}, "same": {7}}
    assert {column: set(rows[column].dropna()) for column in known} == known
    assert rows["born"].between("2000-01-01", "2000-01-07").all()
    assert (rows["born"] == rows["born"].dt.normalize()).all()
    once = space.encode(rows)  # an admissible row is its own nearest one
    np.testing.assert_allclose(space.encode(space.decode(once)), once, rtol=1e-9, atol=1e-9)


def test_dates_with_times_decode_to_whole_seconds():
    for times, within in (
        (["2024-01-01 10:00:01", "2024-05-05 23:59:59", "1900-01-01 00:00:00"], 0),
        (["2024-01-01 00:00:00.25", "2024-01-01 00:00:30", "2024-01-02"], 1),
    ):
        frame = pd.DataFrame({"t": pd.to_datetime(times, format="ISO8601")})
        space = FeatureSpace.fit(make(frame))
        apart = (space.decode(space.encode(frame))["t"] - frame["t"]).abs().max()
        assert apart <= pd.Timedelta(microseconds=within)
    # a date that stands for never: 365 * 8030 days, and 1946 leap days
    days, missing = number_column(pd.Series(["9999-12-31", None]).astype("datetime64[s]"))
    assert days == 2_932_896
    assert np.isnan(missing)


def test_unknown_values():
    space = FeatureSpace.fit(make(), ["age", "job", "hired"])
    ages, jobs = {"age": [20, None, 40, 50]}, {"job": ["pilot", None, "cook", "judge"]}
    for strange, *refusal in (
        (ages, "'age'"),
        (jobs, "'job'", "'pilot'"),
        ({"hired": "maybe"}, "'hired'", "'maybe'"),
    ):
        with refused(f"column {refusal[0]}", *refusal):
            space.encode(PEOPLE.assign(**strange))
    z = space.encode(PEOPLE.assign(**ages, **jobs), unknown="zero")
    assert z[1, 0] == 0
    assert z[0, 1:4].tolist() == [0, 0, 0]


def test_what_has_no_place_in_the_space():
    frame = pd.DataFrame({"many": [f"v{i}" for i in range(201)], "n": range(201), "t": "a b c"})
    data = make(frame, kinds={"many": "categorical", "t": "text", "n": "identifier"})
    for features, where, *tells in (
        (["many"], "features: 'many'", "201", "200"),
        (["t"], "features: 't'"),
        (["n"], "features: 'n'"),
        (["x"], "features", "'x'"),
        ([], "features"),
    ):
        with refused(where, *tells):
            FeatureSpace.fit(data, features)
    with refused("features"):
        FeatureSpace.fit(data.take([]), ["n"])
    space = FeatureSpace.fit(make(), ["age"])
    with refused("frame", "'age'"):
        space.encode(PEOPLE.drop(columns="age"))
    with refused("unknown", "'ignore'"):
        space.encode(PEOPLE, unknown="ignore")


def test_columns_of_few_values_or_none():
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": ["z", "z", "z"], "flag": ["no", "yes", None]})
    space = FeatureSpace.fit(make(frame))
    assert space.names == ("a=x", "a=y", "b=z", "flag=yes", "flag is missing")
    assert space.encode(frame)[:, 3:].tolist() == [[0, 0], [1, 0], [0.5, 1]]  # what is missing lies midway
    pd.testing.assert_frame_equal(space.decode(space.encode(frame)), frame)
    void = pd.DataFrame({"v": [np.nan, np.nan], "n": [1, 1]})
    for kinds, first in (({}, 0.5), ({"v": "continuous"}, 0)):
        space = FeatureSpace.fit(make(void, kinds=kinds), ("v", "n"))
        assert space.encode(void)[:, 0].tolist() == [first] * 2
        assert space.decode(space.encode(void))["v"].isna().all()


def test_numbers_as_categories_keep_their_type():
    frame = pd.DataFrame({"code": [10, 9, 10, 2], "y": [1.5, 2.5, 3.5, 4.5]})
    space = FeatureSpace.fit(make(frame, kinds={"code": "categorical"}))
    assert space.names == ("code=2", "code=9", "code=10", "y")
    back = space.decode(space.encode(frame))
    assert back["code"].tolist() == [10, 9, 10, 2]
    assert back["code"].dtype == np.int64


def test_extreme_numbers_stay_finite():
    frame = pd.DataFrame({"big": [1e29, -1e29, 5e28], "tiny": [1e-300, 2e-300, 5e-300]})
    frame["near"] = [1e15, 1e15 + 1, 1e15 + 2]
    space = FeatureSpace.fit(make(frame, kinds={}), tuple(frame))
    z = space.encode(frame)
    np.testing.assert_allclose([z.mean(axis=0), z.std(axis=0)], [[0] * 3, [1] * 3], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(space.decode(z), frame, rtol=1e-14)


def test_rows_are_encoded_as_the_feature_space_does():
    rng = np.random.default_rng(0)

    def people(n: int, words: list) -> pd.DataFrame:
        frame = pd.DataFrame({"number": [None, *rng.normal(0, 1e3, n - 1)], "whole": rng.integers(0, 5, n)})
        frame["word"], frame["yes"] = [words[k % len(words)] for k in range(n)], rng.random(n) < 0.5
        frame["code"] = rng.choice([1, 2, 10], n)
        return frame.assign(grade=rng.choice(["low", "medium", "high"], n))

    fitted, others = people(12, ["a", "b", "c", "1", None]), people(6, ["a", "zz", None])
    kinds = {"number": "continuous", "word": "categorical", "whole": "integer", "yes": "boolean"}
    kinds |= {"code": "categorical", "grade": "ordinal"}
    told = {"features": tuple(kinds), "kinds": kinds, "orders": {"grade": ("low", "medium", "high")}}
    frame = fitted.assign(group=["u", "v"] * 6)
    space = FeatureSpace.fit(build_data(frame, DataSpec(protected=("group",), **told)))
    encoder = RowEncoder(space.described(), tuple(kinds))
    again = FeatureSpace.restored(json.loads(json.dumps(space.described())))
    assert (again.names, again.blocks) == (space.names, space.blocks)
    assert again.described() == space.described()
    for raw in (fitted, others):
        rows = raw.astype(object).where(raw.notna(), None).to_dict("records")
        z, _ = encoder.encode(columns_of(rows, tuple(kinds)), len(rows))
        np.testing.assert_array_equal(z, space.encode(raw, unknown="zero"))
        np.testing.assert_array_equal(again.encode(raw, unknown="zero"), z)


def test_dates_count_in_days_and_what_is_wrong_is_named_by_row_and_column():
    days = pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-07", "2024-01-09"])
    frame = pd.DataFrame({"day": days, "age": [1.5, 2.0, 4.0, 3.0]})
    space = FeatureSpace.fit(build_data(frame, DataSpec(features=("day", "age"))))
    encoder = RowEncoder(space.described(), ("day", "age"))
    told = {"day": ["2024-01-03", "2024-01-07T00:00:00", None], "age": [2.0, 4.0, 3.0]}
    z, unseen = encoder.encode(told, 3)
    np.testing.assert_array_equal(z[:2], space.encode(frame)[1:3])
    assert unseen == {2: ["day"]}
    with refused("rows[0].day"):
        encoder.encode({"day": ["yesterday"], "age": [1]}, 1)
    for value in (float("inf"), -np.inf, np.float32("inf")):
        with refused("rows[1].age"):
            encoder.encode({"day": [None, None], "age": [None, value]}, 2)


def test_a_description_without_raw_values_is_enough_for_rows():
    """Bundles of the first format hold levels as texts alone; a "?" is missing, as in a file."""
    frame = pd.DataFrame({"code": [1.0, 2.0, None, 1.0], "sex": ["f", "m", "f", "m"]})
    spec = DataSpec(protected=("sex",), features=("code", "sex"), kinds={"code": "categorical"})
    space = FeatureSpace.fit(build_data(frame, spec))
    raw = {"values", "dtype"}
    old = [{name: each[name] for name in each.keys() - raw} for each in space.described()]
    z, unseen = RowEncoder(old, ("code", "sex")).encode({"code": [2.0, "?", 7], "sex": ["m", "f", "f"]}, 3)
    np.testing.assert_array_equal(z[:2], space.encode(frame)[1:3])
    assert z[2].tolist() == [0, 0, 0, 0.5, 0]
    assert unseen == {2: ["code"]}
