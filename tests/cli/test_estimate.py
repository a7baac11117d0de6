"""What a run would take, told before it: what becomes of the rows, and how it grows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audits.runs.plans.estimate import estimate
from audits.runs.spec import parse_spec


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(2)
    place = tmp_path_factory.mktemp("people")
    for rows in (2_000, 30_000):
        frame = pd.DataFrame({"sex": rng.choice(["f", "m"], rows), "x": rng.normal(size=rows)})
        frame["job"] = rng.choice(["cook", "clerk", "nurse"], rows)
        frame["hired"] = (rng.random(rows) < 0.4).astype(int)
        frame["score"] = rng.random(rows)
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), place / f"{rows}.parquet")
        frame.to_csv(place / f"{rows}.csv", index=False)
    return place


def spec_of(folder, path, audit="groups", model=None, **data):
    section = {"path": path, "protected": ["sex"], "label": "hired", "favorable": 1, **data}
    model = model or {"predictions": {"score": "score"}}
    return parse_spec({"data": section, "model": model, "audits": [{audit: {}}]}, folder)


def test_what_becomes_of_the_rows_is_told(folder, monkeypatch):
    held = estimate(spec_of(folder, "30000.parquet"))
    assert (held.how, held.rows, held.people) == ("held", 30_000, 30_000)
    assert estimate(spec_of(folder, "30000.csv")).people == 30_000
    drawn = estimate(spec_of(folder, "30000.parquet", draw=5000, keep=[{"column": "job", "in": ["cook"]}]))
    assert (drawn.how, drawn.rows) == ("drawn", 30_000)
    assert drawn.people == pytest.approx(5000 / 3, rel=0.1)
    monkeypatch.setattr("audits.runs.source.strategy.COUNTED_FROM", 1)
    counted = estimate(spec_of(folder, "30000.parquet"))
    assert (counted.how, counted.people) == ("counted", 30_000)
