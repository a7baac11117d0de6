"""Counts published for the real data sets beside the checkout, through the reader and a spec."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from audits.data import AuditData, FeatureSpace, build_data, data_spec, load_data, public_section, read_table

pytestmark = pytest.mark.shared


def load(folder: Path, name: str) -> AuditData:
    return load_data(data_spec(public_section(name, folder)))


def counts(data: AuditData, attribute: str) -> dict[str, int]:
    return data.groups[attribute].value_counts().to_dict()


COMPAS = {"African-American": 3175, "Caucasian": 2103, "Hispanic": 509}
COMPAS |= {"Other": 343, "Asian": 31, "Native American": 11}
LAW = {"White": 18285, "Black": 1282, "Asian": 845, "Hispanic": 488}
LAW |= {"Mexican": 389, "Other": 293, "Puertorican": 110, "Amerindian": 99}
BANK = {"[25, 60)": 42618, "[60, 95]": 1784, "[18, 25)": 809}
ADULT = {"White": 41762, "Black": 4685, "Asian-Pac-Islander": 1519, "Amer-Indian-Eskimo": 470, "Other": 406}


@pytest.mark.parametrize(
    ("name", "read", "favorable", "unfavorable", "groups"),
    [
        ("compas", 7214, 3363, 2809, {"race": COMPAS, "sex": {"Male": 4997, "Female": 1175}}),
        (
            "german",
            1000,
            700,
            300,
            {"sex": {"male": 690, "female": 310}, "age": {"[18, 25)": 149, "[25, 76]": 851}},
        ),
        ("law_school", 21791, 19360, 2431, {"race": LAW, "sex": {"female": 9537, "male": 12254}}),
        (
            "bank",
            45211,
            5289,
            39922,
            {"age": BANK, "marital": {"married": 27214, "single": 12790, "divorced": 5207}},
        ),
    ],
)
def test_published_counts(
    shared_data: Path, name: str, read: int, favorable: int, unfavorable: int, groups: dict
):
    data = load(shared_data, name)
    assert data.rows_read == read == data.n + sum(data.excluded.values())
    assert (data.y.sum(), (~data.y).sum()) == (favorable, unfavorable)
    assert {attribute: counts(data, attribute) for attribute in groups} == groups
    if name == "compas":
        again = data.frame["two_year_recid"].groupby(data.groups["race"]).mean().round(4)
        assert again[list(COMPAS)].tolist() == [0.5231, 0.3909, 0.3713, 0.3615, 0.2581, 0.4545]
    if name == "bank":
        assert "duration" not in data.features
    if name == "german":  # and every row survives the space of features
        space = FeatureSpace.fit(data)
        back = space.decode(space.encode(data.frame))
        raw = data.frame[list(space.columns)].reset_index(drop=True)
        assert all(np.allclose(back[each], raw[each]) for each in raw if raw[each].dtype.kind in "if")
        assert all(back[each].equals(raw[each]) for each in raw if raw[each].dtype.kind != "f")
        spec = data_spec(data_spec(public_section(name, shared_data)).to_dict())
        assert load_data(spec).digest == data.digest


def test_adult(shared_data: Path):
    section = public_section("adult", shared_data)
    table = read_table(section["path"], options=data_spec(section).read)
    data = build_data(table, data_spec(section))
    assert (data.n, data.rows_read, data.y.sum()) == (48842, 48842, 11687)
    assert set(data.frame["income"]) == {"<=50K", ">50K"}
    assert counts(data, "sex") == {"Male": 32650, "Female": 16192}
    assert counts(data, "race") == ADULT
    missing = data.frame.isna().sum()
    assert missing[missing > 0].to_dict() == {"workclass": 2799, "occupation": 2809, "native-country": 857}
    # Table 4's group of TestSGD, and how often it and everyone else earn more by the labels
    inside = data.members({"sex": "Male"}) & data.frame["age"].between(40, 79).to_numpy()
    inside &= data.frame["race"].isin(["White", "Asian-Pac-Islander"]).to_numpy()
    assert inside.sum() == 13749
    assert (round(data.y[inside].mean(), 4), round(data.y[~inside].mean(), 4)) == (0.4459, 0.1583)
    complete = build_data(table, data_spec({**section, "missing": "drop"}))
    assert complete.n == 45222
    assert complete.excluded == {"missing value in workclass, occupation, native-country": 3620}
