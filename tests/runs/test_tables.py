"""CSV tables: no cell that a spreadsheet would run, no number changed."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from audits.arrow_io import read_mapped, write_mapped
from audits.data import read_table
from audits.runs.tables import spreadsheet_safe, write_csv

DANGEROUS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "－x"]
HARMLESS = ["-3", "+4.5", "-1e-3", ".5", "plain", "", "a=b", "'=1", "[18, 25)", "é"]


@pytest.mark.parametrize("text", DANGEROUS)
def test_text_that_would_run_gets_an_apostrophe_everywhere(text):
    frame = pd.DataFrame({text: [text, "fine"]}, index=pd.Index([text, "b"], name=text))
    safe = spreadsheet_safe(frame)
    assert safe.columns.tolist() == ["'" + text]
    assert safe.index.tolist() == ["'" + text, "b"]
    assert safe.index.name == "'" + text
    assert safe.iloc[0, 0] == "'" + text
    assert frame.iloc[0, 0] == text


def test_other_text_stays():
    assert spreadsheet_safe(pd.DataFrame({"a": HARMLESS}))["a"].tolist() == HARMLESS
    mixed = pd.DataFrame({"a": pd.Series([1, None, 3], dtype=object)})
    assert spreadsheet_safe(mixed).to_csv(index=False).split() == ["a", "1", '""', "3"]


def test_numbers_dates_and_missing_cells_are_read_back_as_they_were(tmp_path):
    frame = pd.DataFrame(
        {
            "gain": [-1.5, 0.1 + 0.2, None],
            "count": pd.array([-1, 2, None], dtype="Int64"),
            "flag": [True, False, True],
            "day": pd.to_datetime(["2020-01-01", "2021-05-06", None]),
            "note": ["=x", None, "-7"],
        },
        index=pd.Index([4, 9, 12], name="row"),
    )
    write_csv(frame, tmp_path / "t.csv")
    back = pd.read_csv(tmp_path / "t.csv", index_col="row", dtype={"count": "Int64"}, parse_dates=["day"])
    assert back["gain"].tolist()[:2] == [-1.5, 0.1 + 0.2]
    pd.testing.assert_frame_equal(back.drop(columns="note"), frame.drop(columns="note"), check_dtype=False)
    assert back["note"].tolist()[0] == "'=x"
    assert pd.isna(back["note"].tolist()[1])


def frames():
    mixed = {
        "numbers": [1.0, np.nan, 3.0],
        "texts": ["x", None, "ä"],
        "known": [True, False, True],
        "booleans": [True, None, False],
        "days": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
        "small": np.array([1, 2, 3], dtype=np.int8),
        "nothing": pd.Series([None] * 3, dtype=object),
        "levels": pd.Categorical(["u", "v", "u"]),
        "nullable": pd.array([True, None, True], dtype="boolean"),
        "counts": pd.array([1, None, 3], dtype="Int64"),
    }
    return {"mixed": pd.DataFrame(mixed).set_axis(pd.Index([3, 7, 9], name="row")), "empty": pd.DataFrame()}


def test_damage_is_told_and_leads_nowhere(tmp_path):
    path = tmp_path / "t.arrow"
    offsets = pa.py_buffer(np.array([0, 2**40, 5, 3], dtype="i8").tobytes())
    wrong = pa.LargeStringArray.from_buffers(3, offsets, pa.py_buffer(b"abc"))
    table = pa.table({"a": wrong}).replace_schema_metadata({b"evenhand.booleans": json.dumps([])})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(ValueError, match="offset"):
        read_mapped(path)
    write_mapped(frames()["mixed"], path)
    held, whole = read_mapped(path), path.read_bytes()
    write_mapped(frames()["empty"], path)
    pd.testing.assert_frame_equal(held, frames()["mixed"], check_dtype=False)
    for cut in (0, 10, 50, len(whole) // 2, len(whole) - 9):
        path.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match=r"\w"):
            read_mapped(path)


def test_minus_zero_is_the_value_zero(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("x\n-0.0\n0\n0.5\n-0\n")
    assert read_table(tmp_path / "t.csv").frame["x"].astype(str).unique().tolist() == ["0.0", "0.5"]
