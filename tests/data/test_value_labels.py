"""Names for values: said everywhere, while a model that is brought is given what the file has."""

from __future__ import annotations

import pandas as pd
import pytest

from audits.data import build_data, data_spec
from tests.refused import refused

FRAME = pd.DataFrame(
    {"sex": [1, 2, 2, None, 1], "stage": [3, 1, 2, 2, 1], "pay": [5, 6, 7, 8, 9], "good": [0, 1, 1, 0, 1]}
)
SECTION = {
    "label": "good",
    "favorable": 1,
    "protected": ["sex"],
    "labels": {"sex": {1: "male", "2": "female"}, "good": {1: "repaid"}},
}


def test_groups_say_what_values_mean_and_models_get_the_values():
    data = build_data(FRAME, data_spec({**SECTION, "features": ["sex", "pay"]}))
    assert data.groups["sex"].tolist() == ["male", "female", "female", "(missing)", "male"]
    assert data.frame["sex"].dropna().tolist() == ["male", "female", "female", "male"]
    given = data.written.restore(data.frame[["sex", "pay"]])
    pd.testing.assert_series_equal(given["sex"], FRAME["sex"], check_index=False)
    some = data.written.restore(data.frame[["sex"]].iloc[[1, 0]].reset_index(drop=True))
    assert some["sex"].tolist() == [2, 1]
    assert data.favorable == (1,)  # the label's own values stay as a model knows them
    assert data.labels["good"] == {"1": "repaid"}


def test_an_ordinal_column_keeps_the_order_of_its_values():
    labels = {"stage": {1: "early", 2: "later", 3: "advanced"}}
    data = build_data(FRAME, data_spec({**SECTION, "labels": labels, "kinds": {"stage": "ordinal"}}))
    assert data.orders["stage"] == ("early", "later", "advanced")


def test_a_unit_changes_neither_values_nor_digest():
    plain, measured = (
        build_data(FRAME, data_spec({**SECTION, **more})) for more in ({}, {"units": {"pay": "EUR an hour"}})
    )
    pd.testing.assert_frame_equal(plain.frame, measured.frame)
    assert plain.digest == measured.digest


@pytest.mark.parametrize(
    ("more", "refusal"),
    [
        ({"labels": {"sex": {3: "other"}}}, ("data.labels.sex",)),
        ({"labels": {"sx": {1: "male"}}}, ("data.labels.sx",)),
        ({"labels": {"sex": {1: "x", 2: "x"}}}, ("data.labels.sex", "'x'")),
        ({"labels": {"pay": {5: "low"}}, "kinds": {"pay": "continuous"}}, ("data.labels.pay",)),
        ({"units": {"payy": "EUR"}}, ("data.units.payy", "'payy'")),
        ({"units": ["pay"]}, ("data.units",)),
        ({"labels": ["sex"]}, ("data.labels",)),
    ],
)
def test_labels_and_units_that_cannot_be_are_told(more, refusal):
    with refused(*refusal):
        build_data(FRAME, data_spec({**SECTION, **more}))
