"""A table that is not held, on the page: metadata, rows from all over it, and the rows that a run draws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.drafts.drafts import server_file, server_files
from app.tables import server
from app.tables.client import Readers
from app.tables.protocol import pack, unpack
from audits.runs.execute import prepared_subject
from audits.runs.spec import parse_spec

ROWS = 6000


@pytest.fixture
def asked(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "0.001")  # every file is larger than what is held
    monkeypatch.setattr("audits.runs.source.strategy.DRAWN", 500)
    monkeypatch.setattr(server, "_tables", type(server._tables)())
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], ROWS), "age": rng.integers(18, 80, ROWS)})
    frame["income"] = np.where(rng.random(ROWS) < 0.2, np.nan, rng.lognormal(10, 1, ROWS))
    frame["repaid"] = rng.integers(0, 2, ROWS)
    frame.loc[ROWS - 1, "age"] = 99
    for year, rows in enumerate(np.array_split(np.arange(ROWS), 3)):
        place = tmp_path / "loans" / f"year={2020 + year}"
        place.mkdir(parents=True)
        table = pa.Table.from_pandas(frame.iloc[rows], preserve_index=False)
        pq.write_table(table, place / "part.parquet", row_group_size=300)
    section = {"path": "loans", "protected": ["sex"], "label": "repaid", "favorable": 1}
    question = {"section": section, "paths": [str(tmp_path / "loans")], "seed": 7}
    return tmp_path, frame, {**question, "table key": "loans", "data key": "loans"}


def test_it_opens_by_its_metadata(asked):
    _, frame, question = asked
    told = server.answer({"ask": "table", **question})
    assert told["shape"] == [ROWS, 5]  # the year, too
    columns = {each["name"]: each for each in told["profiles"]}
    assert columns["income"]["missing"] == frame["income"].isna().sum()
    assert columns["age"]["examples"].startswith("18, ")
    assert columns["age"]["examples"].endswith(", 99")
    assert set(columns["year"]["values"]) == {"2020", "2021", "2022"}
    assert "6,000" in told["report"]["notes"][0]
    first = unpack(told["first"])
    assert first["income"].fillna(-1).tolist() == frame["income"].head(50).fillna(-1).tolist()


def test_its_data_are_the_rows_that_a_run_draws(asked):
    folder, frame, question = asked
    told = server.answer({"ask": "data", **question})
    assert told["rows"] == 500
    assert told["rows_read"] == ROWS
    assert all(number in told["notes"][0] for number in ("500", "6,000"))
    document = {"data": question["section"], "model": {"train": "logistic"}, "seed": 7, "audits": ["groups"]}
    subject = prepared_subject(parse_spec(document, folder))
    rows = subject.data.frame.index[:20]
    told = {"part": pack("frame"), "rows": pack(rows), "columns": pack(["age"])}
    shown = unpack(server.answer({"ask": "rows", "told": told, **question})["found"])
    assert shown["age"].tolist() == frame["age"].iloc[rows - 1].tolist()


def test_it_is_chosen_as_a_folder_and_opened_where_strangers_files_are(asked):
    folder, _, question = asked
    listed = server_files(folder)
    assert "loans" in listed
    assert "loans/year=2020" not in listed
    assert server_file(folder, "loans") == folder / "loans"
    readers = Readers()
    try:
        told = readers.ask("somebody", {"ask": "data", **question}, reads=[folder], what="loans")
        assert told["digest"]
    finally:
        readers.close()
