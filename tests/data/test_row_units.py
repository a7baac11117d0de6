"""What a row is: found in tables of counts and in rows that share an id, and nowhere else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import data_spec
from audits.data.quality.row_units import count_column, row_units, shared_id, times_as_wide

CELLS = pd.MultiIndex.from_product(
    [["f", "m"], ["A", "B", "C"], ["no", "yes"]], names=["sex", "town", "paid"]
)
RNG = np.random.default_rng(0)


def cells(name: str, values: object) -> pd.DataFrame:
    return CELLS.to_frame(index=False).assign(**{name: values})


@pytest.mark.parametrize("name", ["Freq", "n", "weight", "Anzahl"])
def test_columns_of_counts(name: str) -> None:
    frame = cells(name, np.arange(12) * 3 + 5)
    assert count_column(frame) == name
    (found,) = row_units(frame, data_spec({}))
    assert found.mends[0].put == {"weights": {"column": name, "kind": "counts"}}
    assert "12 rows" in found.said
    assert "258 people" in found.said
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
