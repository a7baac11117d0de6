"""Rows from outside become the points that the feature space makes of a frame; bad values are named."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from audits.data import DataSpec, FeatureSpace, build_data
from audits.data.row_encoder import RowEncoder, columns_of
from tests.refused import refused


def test_rows_are_encoded_as_the_feature_space_does():
    rng = np.random.default_rng(0)

    def people(n: int, words: list) -> list[dict]:
        cells = {
            "number": [None, *rng.normal(0, 1e3, n - 1)],
            "whole": rng.integers(0, 5, n),
            "yes": rng.random(n) < 0.5,
            "word": [words[k % len(words)] for k in range(n)],
            "grade": rng.choice(["low", "medium", "high"], n),
            "code": rng.choice([1, 2, 10], n),
        }
        return pd.DataFrame(cells).astype(object).to_dict("records")

    fitted, others = people(12, ["a", "b", "c", "1", None]), people(6, ["a", "zz", None])
    names = ("number", "whole", "yes", "word", "grade", "code")
    kinds = ("continuous", "integer", "boolean", "categorical", "ordinal", "categorical")
    frame = pd.DataFrame(fitted).infer_objects().assign(group=["u", "v"] * 6)
    orders = {"grade": ("low", "medium", "high")}
    spec = DataSpec(
        protected=("group",), features=names, kinds=dict(zip(names, kinds, strict=True)), orders=orders
    )
    space = FeatureSpace.fit(build_data(frame, spec))
    encoder = RowEncoder(space.described(), names)
    again = FeatureSpace.restored(json.loads(json.dumps(space.described())))
    assert (again.names, again.blocks, again.scale) == (space.names, space.blocks, space.scale)
    for rows in (fitted, others):
        raw = pd.DataFrame(rows).infer_objects()
        z, _ = encoder.encode(columns_of(rows, names), len(rows))
        np.testing.assert_array_equal(z, space.encode(raw, unknown="zero"))
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


def test_an_infinite_number_is_named_by_row_and_column():
    frame = pd.DataFrame({"age": [1.5, 2.0, 4.0], "height": [1.0, 2.5, 3.0], "sex": ["f", "m", "f"]})
    space = FeatureSpace.fit(build_data(frame, DataSpec(protected=("sex",), features=("age", "height"))))
    encoder = RowEncoder(space.described(), ("age", "height"))
    for value in (float("inf"), -np.inf, np.float32("inf")):
        with refused("rows[1].height"):
            encoder.encode({"age": [1, 2], "height": [None, value]}, 2)
