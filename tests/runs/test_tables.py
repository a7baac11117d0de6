"""CSV tables: no cell that a spreadsheet would run, no number changed."""

from __future__ import annotations

import pandas as pd
import pytest

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
