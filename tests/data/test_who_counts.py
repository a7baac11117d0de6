"""Who counts as one: counts, sampling weights, strata, clusters, several rows a person."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pandas as pd
import pytest
import yaml

from audits.data import build_data, data_spec
from audits.data.quality.row_units import count_column, row_units, shared_id, times_as_wide
from audits.models import ModelSpec, make_subject
from tests.refused import refused


def people() -> pd.DataFrame:
    rng, each = np.random.default_rng(0), np.arange(120)
    frame = pd.DataFrame({"who": [f"p{k // 3}" for k in each], "school": [f"s{k // 6}" for k in each]})
    frame["sex"], frame["region"] = (
        rng.choice(["f", "m"], 40)[each // 3],
        np.where(each < 60, "north", "south"),
    )
    frame["hours"], frame["weight"] = rng.integers(1, 60, 120), rng.uniform(0.3, 3, 120)
    return frame.assign(hired=rng.integers(0, 2, 120))


SAMPLED = {"column": "weight", "kind": "sampling"}
SECTION = {"label": "hired", "favorable": 1, "protected": ["sex"]}


def made(**more):
    return build_data(people(), data_spec({**SECTION, **more}))


def test_a_persons_rows_stay_together_and_are_told():
    data = made(person="who")
    assert data.weights is None
    assert (data.design.n_clusters, data.design.clustered) == (40, True)
    assert "who" not in data.features
    assert any("120 rows" in note and "40 persons" in note for note in data.notes)
    training, held = data.split(0.3, 0)
    assert not set(training.frame["who"]) & set(held.frame["who"])
    assert abs(held.n / data.n - 0.3) < 0.05
    assert len(held.design.cluster) == held.n
    told = " ".join(make_subject(data, ModelSpec(train="logistic")).notes)
    assert (
        [int(n) for n in re.findall(r"\d+", told)[:2]]
        == [training.people, held.people]
        != [training.n, held.n]
    )


def test_the_order_of_rows_numbers_no_persons():
    """Draws of persons go by their numbers: of the same rows in another order each keeps its own."""
    section = data_spec({**SECTION, "person": "who"})
    told = [build_data(rows, section) for rows in (people(), people().sample(frac=1, random_state=1))]
    numbers = [dict(zip(data.frame["who"], data.design.cluster, strict=True)) for data in told]
    assert numbers[0] == numbers[1]


def test_sampling_weights_make_no_more_people():
    data = made(weights={**SAMPLED, "strata": "region", "cluster": "school"})
    assert (data.weights, data.size) == (None, 120)
    assert (data.design.n_clusters, data.design.n_strata) == (20, 2)
    assert data.design.weights.tolist() == data.frame["weight"].tolist()
    assert not {"weight", "region", "school"} & set(data.features)
    assert made(weights={"column": "weight", "kind": "counts"}).digest != data.digest


def test_weights_that_nobody_declared_must_look_like_counts():
    """Fractions, or large numbers that nearly all differ, may be either; a cross table's are counts."""
    frame = people()
    frame["many"] = 1000 + 7 * np.arange(len(frame))
    for name in ("weight", "many"):
        with refused("data.weights") as told:
            build_data(frame, data_spec({**SECTION, "weights": name}))
        for kind in ("counts", "sampling"):
            line = f"weights: {{column: {name}, kind: {kind}}}"
            assert f"kind: {kind}" in str(told.value)
            built = build_data(frame, data_spec({**SECTION, **yaml.safe_load(line)}))
            assert (built.weights is None) == (kind == "sampling")
    assert made(weights="hours").weights is not None
    frame = cells("n", 100 + 13 * np.arange(12))
    data = build_data(frame, data_spec({"label": "paid", "favorable": "yes", "weights": "n"}))
    assert data.size == frame["n"].sum()


@pytest.mark.parametrize(
    ("section", "refusal"),
    [
        ({"weights": {"column": "weight", "strata": "region"}}, ("data.weights.kind", "'sampling'")),
        ({"weights": "hours", "person": "who"}, ("data.person",)),
        ({"weights": {**SAMPLED, "cluster": "scool"}}, ("data.weights", "'school'")),
        ({"person": "nobody"}, ("data.person",)),
        ({"person": "who", "features": ["who"]}, ("data.features",)),
        ({"weights": {**SAMPLED, "cluster": "hours"}, "person": "who"}, ("data.person",)),
    ],
)
def test_contradictions_are_one_sentence(section, refusal):
    with refused(*refusal):
        made(**section)


RNG = np.random.default_rng(0)


def cells(name: str, values: object) -> pd.DataFrame:
    each = itertools.product(["f", "m"], ["A", "B", "C"], ["no", "yes"])
    return pd.DataFrame(each, columns=["sex", "town", "paid"]).assign(**{name: values})


@pytest.mark.parametrize("name", ["Freq", "n", "weight", "Anzahl"])
def test_columns_of_counts(name: str) -> None:
    frame = cells(name, np.arange(12) * 3 + 5)
    (found,) = row_units(frame, data_spec({}))
    assert found.mends[0].put == {"weights": {"column": name, "kind": "counts"}}
    assert all(told in found.said for told in ("12 rows", "258 people"))
    assert row_units(frame, data_spec({"weights": name})) == []


@pytest.mark.parametrize(
    "frame",
    [
        cells("Freq", np.linspace(0.5, 9, 12)),  # sampling weights
        cells("salary", np.arange(12) * 3 + 5),
        cells("count", 1),
        pd.concat([cells("n", np.arange(12) + 5)] * 2),  # people who are alike
        pd.DataFrame({"weight": range(50, 350), "height": RNG.normal(170, 9, 300), "age": range(300)}),
    ],
)
def test_other_columns_count_nobody(frame: pd.DataFrame) -> None:
    assert count_column(frame) is None


def test_ids_of_a_few_rows_each_belong_together() -> None:
    frame = pd.DataFrame({"adid": np.repeat(np.arange(30), 4), "sex": RNG.choice(["f", "m"], 120)})
    (found,) = row_units(frame, data_spec({}))
    assert found.mends[0].put == {"person": "adid"}
    assert "2 times" in found.said  # as wide, by clusters of four
    assert row_units(frame, data_spec({"person": "adid"})) == []
    assert (times_as_wide(pd.Series([1] * 50)), times_as_wide(pd.Series([9, 9]))) == (1, 3)


STOPS = pd.Timestamp("2024-03-01 08:00") + pd.to_timedelta(np.repeat(np.arange(40), 3) * 37, unit="min")


@pytest.mark.parametrize(
    ("name", "values", "shared"),
    [
        ("stopped", STOPS, True),
        ("stopped", STOPS.normalize(), False),  # a day is no stop
        ("firm", np.repeat([f"firm {k}" for k in range(30)], 4), True),
        ("town", RNG.choice([f"t{k}" for k in range(30)], 120), False),
        ("age", np.repeat(np.arange(20, 50), 4), False),
        ("adid", range(120), False),
        ("adid", np.arange(120) % 3, False),
    ],
)
def test_what_stands_in_as_many_rows_belongs_together(name: str, values: object, shared: bool) -> None:
    frame = pd.DataFrame({name: values, "sex": RNG.choice(["f", "m"], 120)})
    assert shared_id(frame) == (name if shared else None)
