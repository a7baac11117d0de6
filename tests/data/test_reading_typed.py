"""Parquet, Arrow, XLSX and JSON lines give the same columns as the values that were written."""

from __future__ import annotations

import datetime
import decimal
import gzip
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from audits.data import ReadOptions, Table, infer_kinds, read_table
from tests.refused import refused

PEOPLE = pd.DataFrame({"age": [30, 40, 50], "wage": [1.5, np.nan, 2.5], "job": ["cook", None, "judge"]})
PEOPLE = PEOPLE.assign(code=["007", "1", "2"], hired=[True, False, True])
PEOPLE["born"] = pd.to_datetime(["1990-01-02", None, "1970-03-04"])


def check_people(table: Table) -> None:
    frame = table.frame
    assert frame.index.tolist() == [1, 2, 3]
    assert frame["age"].tolist() == [30, 40, 50]
    assert frame["code"].tolist() == ["007", "1", "2"]  # a text stays a text where types are known
    assert frame["born"].iloc[0] == pd.Timestamp("1990-01-02")
    gaps = frame[["wage", "job", "born"]]
    assert gaps.isna().to_numpy().tolist() == [[False] * 3, [True] * 3, [False] * 3]


def test_parquet_file_and_folder(tmp_path: Path):
    PEOPLE.to_parquet(tmp_path / "people.csv", index=False)  # the content tells the format, whatever the name
    table = read_table(tmp_path / "people.csv")
    check_people(table)
    assert table.report.files[0].format == "parquet"
    assert table.frame["hired"].dtype == bool
    assert table.report.missing["job"] == {"null": 1}
    for part, year in enumerate((2023, 2024)):
        folder = tmp_path / "parts" / f"year={year}"
        folder.mkdir(parents=True)
        PEOPLE.iloc[part : part + 1].to_parquet(folder / "part.parquet", index=False)
    (tmp_path / "parts" / "_SUCCESS.parquet").write_bytes(b"")
    parts = read_table(tmp_path / "parts")
    assert parts.frame[["age", "year"]].to_numpy().tolist() == [[30, 2023], [40, 2024]]
    assert len(parts.report.files) == 2
    assert parts.report.sha256 != table.report.sha256


@pytest.mark.parametrize("form", ["uncompressed", "lz4", "stream"])
def test_arrow(tmp_path: Path, form: str):
    path = str(tmp_path / "people.feather")
    table = pa.Table.from_pandas(PEOPLE, preserve_index=False)
    if form == "stream":
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=1)
    else:
        pyarrow.feather.write_feather(table, path, compression=form)
    check_people(read_table(path))


@pytest.mark.parametrize("name", ["people.jsonl", "people.jsonl.gz"])
def test_json_lines(tmp_path: Path, name: str):
    data = PEOPLE.to_json(orient="records", lines=True, date_format="iso").encode() + b"\n\n"
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    table = read_table(tmp_path / name)
    check_people(table)
    assert table.report.files[0].blank_lines == 2
    assert table.frame["hired"].tolist() == [True, False, True]


def test_json_lines_with_absent_keys_mixed_types_and_long_numbers(tmp_path: Path):
    rows = [
        {"a": 1, "b": "x", "id": 12345678901234567890, "mixed": 1, "nan": float("nan"), "deep": {"k": 1}},
        {"a": 2.5, "id": 12345678901234567891, "mixed": "?", "flag": True},
    ]
    path = tmp_path / "people.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    table = read_table(path)
    texts = table.frame.astype(object).where(table.frame.notna(), None).to_dict("list")
    assert (texts["a"], texts["b"], texts["mixed"]) == ([1.0, 2.5], ["x", None], [1.0, None])
    assert texts["id"] == ["12345678901234567890", "12345678901234567891"]
    assert (texts["nan"], texts["flag"]) == ([None, None], [None, "True"])
    assert "deep" not in texts
    assert any("'deep'" in note for note in table.report.notes)


def test_arrow_types(tmp_path: Path):
    table = pa.table(
        {
            "money": pa.array([decimal.Decimal("1.50"), None], pa.decimal128(10, 2)),
            "day": pa.array([datetime.date(2024, 12, 31), None]),
            "zone": pa.array([0, None], pa.timestamp("s", tz="Europe/Berlin")),
            "clock": pa.array([datetime.time(8, 30), None]),
            "wait": pa.array([datetime.timedelta(seconds=90), None]),
            "level": pa.array(["a", None]).dictionary_encode(),
            "small": pa.array([1, 2], pa.uint8()),
            "half": pa.array([1, 2], pa.float32()),
            "maybe": pa.array([True, None]),
            "huge": pa.array([2**63, 1], pa.uint64()),
            "long": pa.array([2**53 + 1, None], pa.int64()),
            "list": pa.array([[1], [2]]),
            "raw": pa.array([b"x", b"y"]),
            "void": pa.nulls(2),
        }
    )
    pq.write_table(table, tmp_path / "types.parquet")
    read = read_table(tmp_path / "types.parquet")
    first = read.frame.iloc[0].to_dict()
    assert first.pop("clock").startswith("08:30:00")
    day, start = pd.Timestamp("2024-12-31"), pd.Timestamp("1970-01-01")
    long = {"huge": "9223372036854775808", "long": "9007199254740993"}
    told = {"money": 1.5, "day": day, "zone": start, "wait": 90.0, "level": "a", "maybe": "True", **long}
    assert {name: first[name] for name in told} == told
    assert read.frame[["small", "half"]].to_dict("list") == {"small": [1, 2], "half": [1.0, 2.0]}
    assert read.frame["void"].isna().all()
    assert not {"list", "raw"} & set(read.frame)
    said = " ".join(read.report.sentences())
    assert "'list'" in said
    assert "'raw'" in said
    assert infer_kinds(read.frame)["maybe"] == "boolean"


def test_decimals_are_the_numbers_that_their_digits_say(tmp_path: Path):
    told = [decimal.Decimal(k).scaleb(-2) for k in range(-2000, 2000)]
    pq.write_table(pa.table({"money": pa.array(told, pa.decimal128(10, 2))}), tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").frame["money"].tolist() == [float(str(each)) for each in told]


def test_typed_files_follow_each_other(tmp_path: Path):
    pd.DataFrame({"a": [1, 2], "b": pd.Categorical(["x", "y"])}).to_parquet(tmp_path / "one.parquet")
    pd.DataFrame({"b": ["z"], "a": [0.5]}).to_parquet(tmp_path / "two.parquet")
    table = read_table([tmp_path / "one.parquet", tmp_path / "two.parquet"])
    assert table.frame["a"].tolist() == [1.0, 2.0, 0.5]
    assert table.frame["b"].tolist() == ["x", "y", "z"]
    pd.DataFrame({"a": ["1"], "b": ["x"]}).to_parquet(tmp_path / "three.parquet")
    with refused("three.parquet, column 'a'", "64", "one.parquet"):
        read_table([tmp_path / "one.parquet", tmp_path / "three.parquet"])


def test_number_markers_in_typed_columns(tmp_path: Path):
    pd.DataFrame({"a": [1, -9, 3], "b": ["x", "-9", "y"]}).to_parquet(tmp_path / "m.parquet")
    table = read_table(tmp_path / "m.parquet", options=ReadOptions(missing=("-9", "x")))
    assert table.frame.isna().to_numpy().tolist() == [[False, True], [True, True], [False, False]]
    assert table.report.missing == {"a": {"-9": 1}, "b": {"x": 1, "-9": 1}}


def test_xlsx(tmp_path: Path):
    born, book = datetime.datetime(1990, 1, 2), openpyxl.Workbook()
    people, other = book.create_sheet("people"), book.create_sheet("other")
    for row in (
        ["Staff of 2024"],
        [],
        [None, "age", "wage", "job", "code", "hired", "born"],
        [None, 30, 1.5, "cook", "007", True, born],
        [],
        [None, 40, "?", None, "010", False, born],
    ):
        people.append(row)
    other.append([1])
    book.save(tmp_path / "people.xlsx")
    table = read_table(tmp_path / "people.xlsx")
    frame = table.frame
    assert frame.columns.tolist() == ["age", "wage", "job", "code", "hired", "born"]
    assert frame["age"].tolist() == [30, 40]
    np.testing.assert_array_equal(frame["wage"], [1.5, np.nan])
    assert frame[["code", "hired"]].to_numpy().tolist() == [["007", "TRUE"], ["010", "FALSE"]]
    assert frame["born"].tolist() == [pd.Timestamp(born)] * 2
    assert infer_kinds(frame)["hired"] == "boolean"
    report = table.report.files[0]
    assert (report.skipped, report.blank_lines) == (((1, "Staff of 2024"),), 2)
    assert all(name in " ".join(report.notes) for name in ("'people'", "'other'"))


def test_xlsx_formulas_give_their_values(tmp_path: Path):
    """Written by hand as a spreadsheet program would: formula and cached value."""
    path = tmp_path / "sum.xlsx"
    pd.DataFrame({"a": [1, 2], "b": ["=A2*2", "=A3*2"]}).to_excel(path, index=False)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    sheet, found = re.subn(r"<f>A(\d)\*2</f><v ?(/>|></v>)", r"<f>A\1*2</f><v>\1\1</v>", parts[name].decode())
    assert found == 2
    parts[name] = sheet.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    assert read_table(path).frame["b"].tolist() == [22, 33]
