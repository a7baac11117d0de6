"""`AuditData` once it is built: rows taken, groups named, split, selected, and digests of content."""

from __future__ import annotations

import json
import os
from hashlib import file_digest
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from audits.data import AuditData, DataSpec, build_data, data_spec, group_name, read_table
from audits.data.digests import frame_digest
from audits.data.preprocessing.filters import EVERYONE_ELSE
from audits.data.selection import group_of, selected_rows
from audits.data.spec import Weights
from audits.models import ModelSpec, make_subject
from audits.runs import digests as files
from tests.cases import cases
from tests.refused import refused

RACES = ["African-American", "Caucasian", "Asian", None]


def make(n: int = 40, *, label: bool = True) -> AuditData:
    rng, each = np.random.default_rng(0), np.arange(n)
    frame = pd.DataFrame({"age": rng.integers(18, 80, n), "race": [RACES[i % 4] for i in each]})
    frame = frame.assign(married=each % 2, count=rng.integers(1, 5, n)).set_index(pd.RangeIndex(1, n + 1))
    frame["hired"] = ["yes", "no", *np.where(rng.random(n - 2) < 0.3, "yes", "no")]
    spec = {"protected": ("race", "married", "age"), "bins": {"age": (18, 40, 60)}, "weights": "count"}
    return build_data(frame, DataSpec(**spec, **({"label": "hired", "favorable": "yes"} if label else {})))


def test_members():
    data = make()
    races = data.groups["race"].to_numpy()
    married = data.groups["married"].to_numpy()
    for where, expected in (
        ({"race": ["Asian", "Caucasian"]}, np.isin(races, ["Asian", "Caucasian"])),
        ({"race": {"not": "Asian"}}, races != "Asian"),
        ({"race": {"not": ["Asian", "Caucasian"]}}, ~np.isin(races, ["Asian", "Caucasian"])),
        ({"race": "(missing)"}, races == "(missing)"),
        *(({"married": one}, married == "1") for one in (1, "1", 1.0, True)),
        ({"race": "Asian", "married": 0}, (races == "Asian") & (married == "0")),
    ):
        np.testing.assert_array_equal(data.members(where), expected)


@pytest.mark.parametrize(("where", "refusal"), cases(__file__, "refused_groups.yaml"))
def test_groups_that_are_none(where: object, refusal: str):
    with refused(*refusal):
        make().members(where)


@pytest.mark.parametrize(
    ("where", "name"),
    [
        ({"sex": "Female", "age": "60-70"}, "Female & 60-70"),
        ({"race": {"not": ["Asian", "Other"]}}, "not (Asian or Other)"),
        ({"sex": 1.0}, "sex 1"),
        ({"age": "[18, 25)", "married": "yes"}, "age [18, 25) & married yes"),
        ({"balance": "above -12.5", "place": "below stairs"}, "balance above -12.5 & below stairs"),
        ({"race": "(missing)"}, "race (missing)"),
        ({"married": True}, "married True"),
    ],
)
def test_group_names(where: dict, name: str):
    assert group_name(where) == name


def test_split_by_hand():
    data = make(100)
    train, held = data.split(0.3, 0)
    assert train.size + held.size == data.size
    assert set(train.frame.index) | set(held.frame.index) == set(data.frame.index)
    assert held.frame.index.is_monotonic_increasing
    favorable = int(data.weights[data.y].sum())
    assert held.weights[held.y].sum() == round(0.3 * favorable)
    assert held.size == round(0.3 * favorable) + round(0.3 * (data.size - favorable))
    assert data.split(0.3, np.random.default_rng(0))[1].digest == held.digest
    assert data.split(0.3, 1)[1].digest != held.digest
    assert data.take(np.array([2, 0])).digest != data.take(np.array([0, 2])).digest
    assert make(100, label=False).split(0.25, 0)[1].size == round(0.25 * data.size)
    for size in (0.0, 1.0, float("nan")):
        with refused("data.test_size"):
            data.split(size, 0)
    with refused("data.test_size", "100", "0.0001"):
        data.split(0.0001, 0)


@pytest.mark.parametrize("form", ["order", "counts", "persons"])
def test_who_is_held_out_without_a_label_hangs_on_what_they_are(form: str):
    """Neither the order of rows nor their form decides it, and as many of each group are held out."""
    rng, each = np.random.default_rng(0), np.arange(600) // 2
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 300)[each], "grade": rng.integers(0, 4, 600)})
    frame["who"] = each
    labeled = (rng.random(600) > 0.3) & (each % 7 > 0)  # nothing is told of every seventh person
    frame["hired"] = np.where(labeled, rng.integers(0, 2, 600).astype(float), np.nan)
    told: dict = {"label": "hired", "favorable": (1,), "protected": ("sex",), "features": ("grade",)}
    told |= {"person": "who"} if form == "persons" else {}
    other = frame.sample(frac=1, random_state=5)
    if form == "counts":
        other = frame.groupby(["sex", "grade", "hired"], dropna=False).size().rename("n").reset_index()
    weights = {"weights": Weights("n", "counts")} if form == "counts" else {}
    data = build_data(frame, DataSpec(**told)), build_data(other, DataSpec(**told, **weights))
    held = []
    for each in data:
        part = each.split(0.25, 1)[1].unlabeled
        people = part.frame.assign(n=1 if part.weights is None else part.weights)
        held.append(people.groupby(["sex", "grade"])["n"].sum())
        if form != "persons":
            share = people.groupby("sex")["n"].sum() / frame[frame["hired"].isna()].groupby("sex").size()
            assert np.allclose(share, 0.25, atol=0.01)
    pd.testing.assert_series_equal(held[0], held[1], check_dtype=False)
    if form == "persons":  # all rows of whom are held out together
        rows = people.groupby("who").size()
        assert rows.equals(frame[frame["hired"].isna()].groupby("who").size().loc[rows.index])
        assert not set(people["who"]) & set(data[1].split(0.25, 1)[0].frame["who"])


def test_quantiles_of_counts_are_those_of_people():
    frame = pd.DataFrame({"age": np.repeat(np.arange(20, 60), np.arange(40) + 1), "sex": "f", "ok": 1})
    counts = frame.groupby(["age", "sex", "ok"]).size().rename("n").reset_index()
    cut = {"protected": ("age",), "bins": {"age": 4}}
    counted = build_data(counts, DataSpec(**cut, weights=Weights("n", "counts")))
    assert counted.bins == build_data(frame, DataSpec(**cut)).bins


def test_neither_types_nor_the_order_of_features_decide_who_is_held_out():
    rng = np.random.default_rng(0)
    typed = pd.DataFrame({"x": rng.integers(0, 6, 300), "owner": rng.random(300) < 0.5})
    typed = typed.assign(y=rng.random(300) < 0.4, sex=rng.choice(["f", "m"], 300))
    texts = typed.astype({"x": float, "owner": str, "y": str})
    told = {"label": "y", "favorable": True, "protected": ("sex",)}
    one, other = (
        build_data(frame, DataSpec(features=tuple(features), **told)).split(0.3, 0)[1].frame.index
        for frame, features in ((typed, ["x", "owner", "sex"]), (texts, ["sex", "owner", "x"]))
    )
    assert one.equals(other)


FRAME = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, np.nan, -0.0], "c": ["x", None, "é"]})
FRAME["d"] = pd.to_datetime(["2024-01-01", None, "1969-12-31"])
FRAME["e"] = [True, False, True]


def test_known_digest():
    """Pinned: a digest that changes with a version of pandas would break every saved audit."""
    assert frame_digest(FRAME) == "5238f0905fab1d70864b086ee0184cc76928132d092561d66ca02519e5db3c2f"


def test_layout_does_not_matter():
    for same in (
        pd.concat([FRAME, FRAME], ignore_index=True).iloc[:3],  # a slice of a larger array
        FRAME.iloc[::-1].iloc[::-1],  # negative strides
        FRAME.assign(a=FRAME["a"].astype("int32"), b=[0.5, None, 0.0]),
        FRAME.assign(c=FRAME["c"].astype(object)),
        FRAME.assign(c=pa.chunked_array([["x"], [None, "é"]]).to_pandas().astype("str")),
    ):
        assert frame_digest(same) == frame_digest(FRAME)


def test_every_content_matters():
    others = {
        "a": [[1, 2, 4], [1.0, 2.0, 3.0], ["1", "2", "3"]],
        "b": [[0.5, 0.0, -0.0]],
        "c": [["x", "", "é"], ["xé", None, ""], [None, "x", "é"]],
        "d": [FRAME["d"] + pd.Timedelta(microseconds=1)],
    }
    frames = [FRAME.assign(**{name: values}) for name, each in others.items() for values in each]
    frames += [FRAME, FRAME.iloc[::-1], FRAME[["b", "a", "c", "d", "e"]], FRAME.rename(columns={"a": "A"})]
    frames += [FRAME.set_axis([1, 2, 3]), FRAME.iloc[:2], FRAME[["a"]]]
    assert len({frame_digest(frame) for frame in frames}) == len(frames)


def test_data_digest_follows_content_and_roles():
    frame = pd.DataFrame({"x": [1, 2, 3, 4], "sex": ["f", "m"] * 2, "y": [0, 1, 1, 0], "w": [1, 1, 2, 1]})
    named = {"label": "y", "favorable": 1, "protected": ("sex",)}
    more = [{}, {"favorable": 0}, {"label": None, "favorable": ()}, {"protected": ()}, {"features": ("x",)}]
    more += [{"weights": "w"}, {"roles": {"actionable": ("x",)}}, {"kinds": {"x": "categorical"}}]
    specs = [DataSpec(**{**named, **each}) for each in [*more, {"missing": "impute"}]]
    digests = {build_data(frame, spec).digest for spec in specs}
    assert len(digests) == len(specs)
    assert build_data(frame.copy(), specs[0]).digest in digests
    assert build_data(frame.assign(x=[1, 2, 3, 5]), specs[0]).digest not in digests


def test_a_file_at_rest_is_read_once_and_a_changed_one_again(tmp_path, monkeypatch):
    path, reads = tmp_path / "people.csv", []
    path.write_text("a\n1\n")
    monkeypatch.setattr(files, "_known", {})
    monkeypatch.setattr(files, "_AT_REST", -1)
    read = {"file_digest": lambda file, name: reads.append(file.name) or file_digest(file, name)}
    monkeypatch.setattr(files, "hashlib", SimpleNamespace(**read))
    first = files.path_digest(path, "data.path", path.name)
    assert files.path_digest(path, "data.path", path.name) == first
    assert len(reads) == 1
    told = path.stat()
    path.write_text("a\n2\n")  # as long, and its time set back
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns))
    assert files.path_digest(path, "data.path", path.name) != first


SECTION = {"label": "y", "favorable": 1, "protected": ["sex", "age"], "bins": {"age": [18, 30, 50]}}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.csv"
    lines = ["sex,age,job,day,y", "1,20,cook,2020-03-01,1", "2,30,judge,2021-03-01,0", "1,,cook,2022-03-01,1"]
    lines += [
        "2,40,,2020-09-01,0",
        "1,50,nurse,2020-03-02,1",
        ",60,nurse,2019-03-01,0",
        "2,25,cook,2020-12-31,1",
    ]
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
