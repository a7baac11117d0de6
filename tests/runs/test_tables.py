"""CSV tables: no cell that a spreadsheet would run, no number changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.results import plain
from audits.runs.tables import result_tables, spreadsheet_safe, write_csv

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


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_stays(text):
    assert spreadsheet_safe(pd.DataFrame({"a": [text]})).iloc[0, 0] == text


def test_categories_and_several_index_levels_are_covered():
    frame = pd.DataFrame(
        {"c": pd.Categorical(["=a", "b"])},
        index=pd.MultiIndex.from_tuples([("=x", -1), ("y", 2)], names=["@k", "n"]),
    )
    safe = spreadsheet_safe(frame)
    assert safe["c"].tolist() == ["'=a", "b"]
    assert safe.index.tolist() == [("'=x", -1), ("y", 2)]
    assert list(safe.index.names) == ["'@k", "n"]
    assert list(spreadsheet_safe(frame.iloc[:0]).index.names) == ["'@k", "n"]


def test_columns_of_the_same_name_both_stay():
    safe = spreadsheet_safe(pd.DataFrame([[1, "=2"]], columns=["a", "a"]))
    assert safe.to_numpy().tolist() == [[1, "'=2"]]


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


@given(st.lists(st.text(max_size=6), min_size=1, max_size=20))
def test_no_cell_begins_like_a_formula_unless_it_is_a_number(texts):
    for cell in spreadsheet_safe(pd.DataFrame({"a": texts})).iloc[:, 0]:
        if cell[:1] in set("=+-@\t\r\n"):
            float(cell)  # raises, failing the test, where it is not one


@dataclass(frozen=True, eq=False)
class Found:
    people: pd.DataFrame
    ranking: dict[str, Any]
    nested: tuple[dict[str, Any], ...]
    total: float

    def to_json(self) -> dict[str, Any]:
        return plain(self)


def test_a_results_tables_are_its_people_and_its_lists_of_records():
    people = pd.DataFrame({"score": [0.5]}, index=pd.Index([7], name="row"))
    ranking = {"positive": [{"feature": "age", "mean": {"value": -1.0, "low": None}}], "negative": []}
    found = result_tables(Found(people, ranking, ({"edges": [1, 2]},), 1.0))
    assert set(found) == {"people", "ranking-positive"}
    assert found["people"] is people
    assert found["ranking-positive"].to_dict("records") == [
        {"feature": "age", "mean value": -1.0, "mean low": None}
    ]
