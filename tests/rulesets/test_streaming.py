"""Counts from Parquet, batch by batch, equal those of the rows in memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audits.errors import InputError
from audits.rulesets.cells import count_cells
from audits.rulesets.mining import Search
from audits.rulesets.streaming import count_parquet
from tests.rulesets.conftest import crowd


@pytest.fixture
def folder(tmp_path):
    frame = crowd(5000, seed=9, missing=0.1)
    for part, rows in enumerate(np.array_split(np.arange(5000), 3)):
        piece = frame.iloc[rows]
        table = pa.table(
            {
                "sex": pa.array(piece["sex"]).dictionary_encode(),
                "race": pa.array(piece["race"].astype(object).where(piece["race"] != "d", None)),
                "age": pa.array(piece["age"], pa.float64(), from_pandas=True),
                "good": pa.array(piece["decision"] == 1),
                "note": pa.array(["x"] * len(piece)),
            }
        )
        pq.write_table(table, tmp_path / f"part-{part}.parquet")
    return tmp_path, frame


def test_counts_of_parts_are_counts_of_the_whole(folder):
    path, frame = folder
    attributes, cells = count_parquet(path, ["sex", "race", "age"], "good", bins=6)
    assert cells.total == 5000
    assert cells.favorable.sum() == (frame["decision"] == 1).sum()
    edges = np.linspace(frame["age"].min(), frame["age"].max(), 7)
    age = np.clip(np.searchsorted(edges, frame["age"], side="right") - 1, 0, 5)
    age = np.where(frame["age"].isna(), 6, age)
    race = frame["race"].map({"a": 0, "b": 1, "c": 2, "d": 3}).to_numpy()
    codes = [(frame["sex"] == "m").to_numpy().astype(int), race, age]
    expected = count_cells(codes, [2, 4, 7], (frame["decision"] == 1).to_numpy())
    assert [len(item.levels) for item in attributes] == [2, 4, 7]
    order = np.lexsort(expected.codes.T[::-1])
    assert (cells.codes == expected.codes[order]).all()
    assert (cells.n == expected.n[order]).all()
    assert (cells.favorable == expected.favorable[order]).all()
    search = Search(cells, attributes, support=0.05)
    search.run(10**7)
    assert search.found().n_candidates == 3 * 15 * (1 + 6 * 7 // 2 + 1) - 1


@pytest.mark.parametrize(
    ("protected", "favorable", "message"),
    [
        (["sexx"], "good", "column must be a column of the Parquet data"),
        (["sex"], "age", "favorable must be a column of true and false"),
    ],
)
def test_bad_columns(folder, protected, favorable, message):
    with pytest.raises(InputError, match=message):
        count_parquet(folder[0], protected, favorable)
