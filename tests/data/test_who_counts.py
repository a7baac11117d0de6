"""Who counts as one: counts, sampling weights, strata, clusters, several rows a person."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import yaml

from audits.data import build_data, data_spec
from tests.refused import refused


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "who": np.repeat([f"p{k}" for k in range(40)], 3),
            "sex": np.repeat(rng.choice(["f", "m"], 40), 3),
            "hours": rng.integers(1, 60, 120),
            "weight": rng.uniform(0.3, 3, 120),
            "region": np.repeat(["north", "south"], 60),
            "school": np.repeat([f"s{k}" for k in range(20)], 6),
            "hired": rng.integers(0, 2, 120),
        }
    )


SAMPLED = {"column": "weight", "kind": "sampling"}
SECTION = {"label": "hired", "favorable": 1, "protected": ["sex"]}


def made(**more):
    return build_data(people(), data_spec({**SECTION, **more}))


def test_a_persons_rows_stay_together_and_are_told():
    data = made(person="who")
    assert data.weights is None
    assert data.design is not None
    assert (data.design.n_clusters, data.design.clustered) == (40, True)
    assert "who" not in data.features
    assert any("120 rows" in note and "40 persons" in note for note in data.notes)
    training, held = data.split(0.3, 0)
    assert not set(training.frame["who"]) & set(held.frame["who"])
    assert abs(held.n / data.n - 0.3) < 0.05
    assert held.design is not None
    assert len(held.design.cluster) == held.n


def test_the_order_of_rows_numbers_no_persons():
    """Draws of persons go by their numbers: of the same rows in another order each keeps its own."""
    section = data_spec({**SECTION, "person": "who"})
    told = [build_data(rows, section) for rows in (people(), people().sample(frac=1, random_state=1))]
    numbers = [dict(zip(data.frame["who"], data.design.cluster, strict=True)) for data in told]
    assert numbers[0] == numbers[1]


def test_sampling_weights_make_no_more_people():
    data = made(weights={**SAMPLED, "strata": "region", "cluster": "school"})
    assert data.weights is None
    assert data.size == 120
    assert data.design is not None
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
    cells = pd.DataFrame(itertools.product("ab", "xyz", [0, 1]), columns=["sex", "place", "hired"])
    cells["n"] = 100 + 13 * np.arange(len(cells))
    assert build_data(cells, data_spec({**SECTION, "weights": "n"})).size == cells["n"].sum()


def test_many_equal_rows_are_asked_about():
    frame = pd.concat([people()] * 2, ignore_index=True)
    data = build_data(frame, data_spec(SECTION))
    assert len(data.notes) == len(build_data(people(), data_spec(SECTION)).notes) + 1


@pytest.mark.parametrize(
    ("section", "refusal"),
    [
        ({"weights": {"column": "weight", "strata": "region"}}, ("data.weights.kind", "'sampling'")),
        ({"weights": "hours", "person": "who"}, ("data.person",)),
        ({"weights": {"column": "weight", "kind": "survey"}}, ("data.weights.kind",)),
        ({"weights": {**SAMPLED, "cluster": "scool"}}, ("data.weights", "'school'")),
        ({"person": "nobody"}, ("data.person",)),
        ({"person": "who", "features": ["who"]}, ("data.features",)),
        ({"weights": {**SAMPLED, "cluster": "hours"}, "person": "who"}, ("data.person",)),
    ],
)
def test_contradictions_are_one_sentence(section, refusal):
    with refused(*refusal):
        made(**section)
