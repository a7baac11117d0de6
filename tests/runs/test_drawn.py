"""Rows sampled from a table that is too large for memory: which ones, and what results say of the others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audits.data.io.large_table import hold_table
from audits.data.io.sampling import draw_rows
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.refused import refused

ROWS = 9000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m", None], ROWS, p=[0.6, 0.39, 0.01])})
    frame["age"], frame["income"] = rng.integers(18, 80, ROWS), rng.lognormal(10, 1, ROWS)
    frame["score"], frame["id"] = rng.random(ROWS), [f"p{k}" for k in range(ROWS)]
    frame["repaid"] = (rng.random(ROWS) < frame["score"]).astype(int)
    place = tmp_path_factory.mktemp("people")
    for part, rows in enumerate(np.array_split(np.arange(ROWS), 3)):
        pq.write_table(
            pa.Table.from_pandas(frame.iloc[rows], preserve_index=False), place / f"{part}.parquet"
        )
    return place


def test_every_kind_of_people_keeps_its_share_to_a_row(folder):
    table = pq.read_table(folder)
    drawn = draw_rows(hold_table(table), 1000, ["sex", "repaid", "age", "id"], 1, edges={"age": [18, 40, 80]})
    assert drawn.rows == ROWS
    assert drawn.strata == ("sex", "repaid", "age")  # an id for everyone makes no strata
    frame, whole = drawn.frame, table.to_pandas()
    assert len(frame) == len(set(frame.index)) == 1000
    for each in (whole, frame):
        each["young"] = each["age"] < 40
        each["sex"] = each["sex"].astype(object).where(each["sex"].notna(), "nobody knows")
    kinds = ["sex", "repaid", "young"]
    expected = whole.groupby(kinds).size() * 1000 / ROWS
    assert (frame.groupby(kinds).size() - expected).abs().max() < 1
    same = whole.iloc[frame.index - 1]  # the row numbers are those of the whole table
    assert frame["id"].tolist() == same["id"].tolist()
    assert frame["income"].tolist() == same["income"].tolist()


def spec_of(folder, audits, **data):
    document = {
        "data": {"path": ".", "protected": ["sex"], "label": "repaid", "favorable": 1, **data},
        "model": {"predictions": {"score": "score"}},
        "audits": audits,
    }
    return parse_spec(document, folder)


FLIPSET = [
    {"flipset": {"source": {"sex": "f"}, "target": {"sex": "m"}, "bootstrap": 100, "max_people": 60,
                 "permutations": 19, "noise_people": 20}}
]  # fmt: skip


def test_an_audit_that_needs_everybody_at_once_says_who_was_drawn(folder, monkeypatch):
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "0.001")  # every file is larger than what is held
    monkeypatch.setattr("audits.runs.source.strategy.DRAWN", 1000)
    kept = [{"column": "age", "at_most": 60}]
    spec = spec_of(folder, FLIPSET, features=["income", "age"], keep=kept)
    assert spec.drawn == 1000
    found = execute(spec)
    data = found.data
    assert data["rows_read"] == ROWS == data["rows_used"] + sum(data["excluded"].values())
    assert data["excluded"]["not sampled"] == ROWS - 1000
    assert 0 < data["rows_used"] < 1000
    assert execute(spec).audits[0].result.to_json() == found.audits[0].result.to_json()


def test_rows_can_be_drawn_of_any_parquet_and_of_no_other_file(folder, tmp_path):
    rules = [{"groups": {"bootstrap": 50}}]
    found = execute(spec_of(folder, rules, draw=1000))
    assert found.data["rows_used"] == 1000
    assert spec_of(folder, rules, draw=ROWS).drawn is None
    (tmp_path / "people.csv").write_text("sex,repaid,score\nf,1,0.3\n", encoding="utf-8")
    with refused("data.draw"):
        execute(spec_of(tmp_path, rules, path="people.csv", draw=1000))
    with refused("data.person"):
        execute(spec_of(folder, rules, draw=1000, person="id"))
