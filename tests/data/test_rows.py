"""Rows from outside become the points that the feature space makes of a frame; bad values are named."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.data import DataSpec, FeatureSpace, build_data
from audits.data.row_encoder import RowEncoder, columns_of
from tests.refused import refused

VALUES = {
    "number": st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-1000, 1000)),
    "whole": st.integers(0, 5),
    "yes": st.sampled_from([True, False]),
    "word": st.sampled_from(["a", "b", "c", "1", None]),
    "grade": st.sampled_from(["low", "medium", "high"]),
    "code": st.sampled_from([1, 2, 10]),
}


@settings(max_examples=15)
@given(
    st.lists(st.fixed_dictionaries(VALUES), min_size=3, max_size=12),
    st.lists(st.fixed_dictionaries({**VALUES, "word": st.sampled_from(["a", "zz", None])}), max_size=6),
)
def test_rows_are_encoded_as_the_feature_space_does(fitted, others):
    frame = pd.DataFrame(fitted).assign(group=["u", "v"] * (len(fitted) // 2) + ["u"] * (len(fitted) % 2))
    frame["number"] = frame["number"].astype(float)
    kinds = {
        "number": "continuous",
        "whole": "integer",
        "yes": "boolean",
        "word": "categorical",
        "grade": "ordinal",
        "code": "categorical",
    }
    names = tuple(kinds)
    if frame["number"].notna().sum() == 0 or frame["word"].notna().sum() == 0:
        return
    spec = DataSpec(
        protected=("group",), features=names, kinds=kinds, orders={"grade": ("low", "medium", "high")}
    )
    data = build_data(frame, spec)
    space = FeatureSpace.fit(data)
    encoder = RowEncoder(space.described(), names)
    for rows in (fitted, others):
        if not rows:
            continue
        raw = pd.DataFrame(rows).astype({"number": float})
        z, _ = encoder.encode(columns_of(rows, names), len(rows))
        np.testing.assert_array_equal(z, space.encode(raw, unknown="zero"))
        again = FeatureSpace.restored(json.loads(json.dumps(space.described())))
        assert (again.names, again.blocks, again.scale) == (space.names, space.blocks, space.scale)
        np.testing.assert_array_equal(again.encode(raw, unknown="zero"), z)


def test_dates_count_in_days():
    days = pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-07", "2024-01-09"])
    frame = pd.DataFrame({"day": days, "group": ["u", "v", "u", "v"]})
    data = build_data(frame, DataSpec(protected=("group",), features=("day",)))
    space = FeatureSpace.fit(data)
    encoder = RowEncoder(space.described(), ("day",))
    z, unseen = encoder.encode({"day": ["2024-01-03", "2024-01-07T00:00:00", None]}, 3)
    np.testing.assert_array_equal(z[:2], space.encode(data.frame)[1:3])
    assert unseen == {2: ["day"]}
    with refused("rows[0].day"):
        encoder.encode({"day": ["yesterday"]}, 1)


def test_a_description_without_raw_values_is_enough_for_rows():
    """Bundles of the first format hold levels as texts alone."""
    frame = pd.DataFrame({"code": [1.0, 2.0, None, 1.0], "sex": ["f", "m", "f", "m"]})
    spec = DataSpec(protected=("sex",), features=("code", "sex"), kinds={"code": "categorical"})
    space = FeatureSpace.fit(build_data(frame, spec))
    old = [
        {name: value for name, value in entry.items() if name not in {"values", "dtype"}}
        for entry in space.described()
    ]
    z, unseen = RowEncoder(old, ("code", "sex")).encode({"code": [2, None, 7], "sex": ["m", "f", "f"]}, 3)
    np.testing.assert_array_equal(z[:2], space.encode(frame)[1:3])
    assert z[2].tolist() == [0, 0, 0, 0.5, 0]
    assert unseen == {2: ["code"]}


@pytest.mark.parametrize("value", [float("inf"), -np.inf, np.float32("inf")])
def test_an_infinite_number_is_named_by_row_and_column(value):
    frame = pd.DataFrame({"age": [1.5, 2.0, 4.0], "height": [1.0, 2.5, 3.0], "sex": ["f", "m", "f"]})
    space = FeatureSpace.fit(build_data(frame, DataSpec(protected=("sex",), features=("age", "height"))))
    encoder = RowEncoder(space.described(), ("age", "height"))
    with refused("rows[1].height"):
        encoder.encode({"age": [1, 2], "height": [None, value]}, 2)
