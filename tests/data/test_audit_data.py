"""Rows taken, groups named, and the split of the data: `AuditData` once it is built."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import AuditData, DataSpec, build_data, group_name
from audits.data.spec import Weights
from tests.cases import cases
from tests.refused import refused

RACES = ["African-American", "Caucasian", "Asian", None]


def make(n: int = 40, *, label: bool = True) -> AuditData:
    rng, each = np.random.default_rng(0), np.arange(n)
    frame = pd.DataFrame(
        {"age": rng.integers(18, 80, n), "race": [RACES[i % 4] for i in each], "married": each % 2}
    )
    frame["hired"] = ["yes", "no", *np.where(rng.random(n - 2) < 0.3, "yes", "no")]
    frame = frame.assign(count=rng.integers(1, 5, n)).set_index(pd.RangeIndex(1, n + 1))
    spec = {"protected": ("race", "married", "age"), "bins": {"age": (18, 40, 60)}, "weights": "count"}
    return build_data(frame, DataSpec(**spec, **({"label": "hired", "favorable": "yes"} if label else {})))


def test_take_by_mask_and_by_position():
    data = make()
    mask = data.groups["race"].to_numpy() == "Asian"
    taken = data.take(mask)
    assert taken.n == mask.sum() == 10
    assert taken.frame.index.tolist() == (np.flatnonzero(mask) + 1).tolist()
    np.testing.assert_array_equal(taken.y, data.y[mask])
    np.testing.assert_array_equal(taken.weights, data.weights[mask])
    assert taken.groups["race"].unique().tolist() == ["Asian"]
    assert data.take(np.flatnonzero(mask)).digest == taken.digest != data.digest
    assert data.take(np.array([2, 0, 0])).frame.index.tolist() == [3, 1, 1]
    assert data.take(np.array([2, 0])).digest != data.take(np.array([0, 2])).digest
    assert data.take([]).n == 0


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
        ({"race": {"not": "Caucasian"}}, "not Caucasian"),
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
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 300)[each], "grade": rng.integers(0, 4, 600), "who": each}
    )
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
