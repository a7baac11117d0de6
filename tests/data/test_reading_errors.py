"""Whatever is wrong with a file: one clear sentence that names it, never a traceback."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from audits.data import Limits, ReadOptions, read_table
from audits.data.io import reader as reading
from audits.data.io import sheets
from audits.errors import InputError
from tests.refused import refused


def read(
    folder: Path,
    content: str | bytes,
    name: str = "people.csv",
    limits: Limits | None = None,
    **options: object,
):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_table(path, options=ReadOptions(**options), limits=limits)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", {}, "people.csv is empty"),
        ("\n \n\n", {}, "people.csv holds only empty lines"),
        ("a,b,c\n", {}, "people.csv has a header and no rows"),
        ("a,b,a\n1,2,3\n", {}, "column 'a' appears 2 times in the header; rename all but one"),
        (
            "a,b,c\n1,2,3\n4,5\n6,7,8\n",
            {},
            "people.csv, row 2 (line 3) must have 3 fields as the table has, got 2",
        ),
        (
            "a,b,c\n1,2,3\n4,5,6,7\n6,7,8\n",
            {},
            "people.csv, row 2 (line 3) must have 3 fields as the table has, got 4",
        ),
        ("a,b\n1,2\n3,4\nTotal rows: 2\n", {}, "row 3 (line 4) must have 2 fields as the table has, got 1"),
        ("a,b,c\n1,2\n", {}, "row 1 (line 2) must have 3 fields as the table has, got 2"),
        ("x\n\na,b,c\n\n1,2,3\n1,2,3\n4\n", {}, "row 3 (line 7) must have 3 fields as the table has, got 1"),
        ("a,b\n1,2,3\n4,5,6\n7,8,9\n", {}, "people.csv, line 1 has 2 fields where the table has 3"),
        (
            "a,b,c\n1,2,3\n4,5,6\n",
            {"separator": ";"},
            "splits people.csv into 1 column where ',' would give 3, got ';'",
        ),
        ("a,b\n1,2\n", {"separator": "::"}, "read.separator must be one character, got '::'"),
        ("a,b\n1,2\n", {"names": ("a",)}, "read.names must name the 2 columns of people.csv, got '1 names'"),
        (
            "a,b\n1,2\n",
            {"skip_rows": 5},
            "holds no table after the skipped lines, got 5; check read.skip_rows",
        ),
        ("a,b\n1,2\n", {"skip_rows": -1}, "read.skip_rows must be 0 or more lines, got -1"),
        ("a,b\n1,2\n", {"skip_rows": (1, 2)}, "read.skip_rows must give one number for each of the 1 files"),
        (
            "a,b\n1,2\n",
            {"encoding": "klingon"},
            "read.encoding must be an encoding that Python knows, got 'klingon'",
        ),
        ("a,b\n1,2\n", {"encoding": "rot13"}, "read.encoding must be an encoding that Python knows"),
        ("a,b\nä,2\n".encode("latin-1"), {"encoding": "utf-8"}, "people.csv is not utf-8 text (line 2)"),
        (b"a,b\n1,2\n\0,3\n", {}, "people.csv is not a text table: it holds NUL or control bytes"),
        (bytes(range(256)) * 20, {}, "people.csv is not a text table"),
        (np.random.default_rng(0).bytes(5000), {}, "people.csv is not a text table"),
        ('a,b\n1,"2\n3,4\n5,6\n', {}, "has a quoted value that is not closed properly"),
        ('a,b\n1,"x\n2,"y"\n3,z\n', {}, "not closed properly"),
        (b"\xd0\xcf\x11\xe0junk", {}, "people.csv is an old Excel file (.xls); save it as .xlsx or CSV"),
        (b"PAR1 cut short", {}, "people.csv cannot be read as Parquet; it is damaged or cut short"),
        (b"ARROW1 cut short", {}, "people.csv cannot be read as Arrow; it is damaged or cut short"),
        (b"FEA1 old", {}, "Feather's first version"),
        (b"PK\x03\x04 cut short", {}, "people.csv is not a readable XLSX workbook"),
        (b"\x1f\x8b cut short", {}, "people.csv is not a readable gzip file"),
        (gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:-9], {}, "people.csv is not a readable gzip file"),
        (gzip.compress(b"", mtime=0), {}, "people.csv is empty"),
        (gzip.compress(b"PAR1 anything", mtime=0), {}, "holds parquet inside gzip; unpack it first"),
    ],
)
def test_one_sentence_says_what_is_wrong(tmp_path: Path, content: str | bytes, options: dict, message: str):
    with pytest.raises(InputError) as caught:
        read(tmp_path, content, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}\n{"a": 1\n', "people.jsonl, line 2 is not JSON"),
        ('{"a": 1}\n\n[1]\n', "people.jsonl, line 3 must be a JSON object, got [1]"),
        ('{"a": 1, "a": 2}\n', "people.jsonl, line 1 is not JSON: a key appears twice"),
        ('[{"a": 1}]\n', "people.jsonl is a JSON array; write one object per line"),
        ("{}\n{}\n", "people.jsonl has no columns"),
        ('{"a": 1},{"a": 2}\n', "people.jsonl, line 1 is not JSON"),
        ('{"a": [1\n2]}\n', "people.jsonl, line 1 is not JSON"),
        ("[" * 100_000 + "\n", "people.jsonl is a JSON array"),
        ('{"a": ' + "[" * 100_000 + "\n", "people.jsonl, line 1 is"),
        ("\n\n", "people.jsonl is empty"),
        ('{"a": {"b": 1}}\n', "people.jsonl has no columns that can be read"),
    ],
)
def test_json_lines(tmp_path: Path, content: str, message: str):
    with pytest.raises(InputError) as caught:
        read(tmp_path, content, "people.jsonl")
    assert message in str(caught.value)


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    wide = ",".join(f"c{i}" for i in range(10_000))
    row = ",".join(["1"] * 10_000)
    with refused("people.csv", "10,000", "2,000"):
        read(tmp_path, f"{wide}\n{row}\n")
    with refused("people.csv"):
        read(tmp_path, "a,b\n1,2\n3,4\n5,6\n", limits=Limits(rows=2))
    with refused("people.csv"):
        read(tmp_path, "a,b\n1,2\n3,4\n5,6\n", limits=Limits(cells=5))
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "0.001")
    with refused("people.csv", "EVENHAND_MAX_FILE_MB"):
        read(tmp_path, "a,b\n" + "1,2\n" * 1000)
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "lots")
    with refused("EVENHAND_MAX_FILE_MB", "'lots'"):
        Limits()


def test_a_file_over_the_limit_is_refused_by_its_size_without_being_read(tmp_path: Path):
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.write(b"a,b\n1,2\n")
        file.truncate(300_000_000)  # sparse
    with refused("large.csv", "300", "200"):
        read_table(path)


def test_a_small_file_takes_little_memory_whatever_the_limit(tmp_path: Path):
    path = tmp_path / "small.csv"
    path.write_text("a,b\n1,2\n")
    read_table([path])
    tracemalloc.start()
    try:
        assert len(read_table([path], limits=Limits(file_bytes=1 << 30)).frame) == 1
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 100e6


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n" + b"x" * 150_000 + b"\n1,2\n",
        b'a,b\n1,"' + (b"x" * 99 + b"\n") * 20_000 + b'"\n2,3\n',
    ],
)
def test_lines_and_cells_are_bounded_while_they_are_decoded(tmp_path, monkeypatch, packed, content):
    """In chunks that a line goes across, too."""
    monkeypatch.setattr(reading, "_CHUNK", 40_000)
    path = tmp_path / "people.csv"
    path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    with refused("people.csv"):
        read_table(path, limits=Limits(line_bytes=100_000))
    path.write_bytes(b"a,b\n" + (b"x" * 70_000 + b",1\n") * 3)
    assert len(read_table(path, limits=Limits(line_bytes=100_000)).frame) == 3


@pytest.mark.parametrize("kind", ["parquet", "feather", "xlsx"])
@pytest.mark.parametrize("coded", [False, True])
def test_values_of_typed_tables_are_bounded_as_lines_are(tmp_path, monkeypatch, kind, coded):
    monkeypatch.setattr(sheets, "_CHUNK", 4_000)
    path, frame = tmp_path / f"people.{kind}", pd.DataFrame({"a": ["x" * 30_000, "y"], "b": [1, 2]})
    frame = frame.astype({"a": "category"}) if coded else frame
    frame.to_excel(path, index=False) if kind == "xlsx" else getattr(frame, f"to_{kind}")(path)
    assert len(read_table(path, limits=Limits(line_bytes=40_000)).frame) == 2
    with refused(f"people.{kind}"):
        read_table(path, limits=Limits(line_bytes=20_000))


@pytest.mark.parametrize("packed", [True, False])
def test_empty_lines_are_bounded_while_they_are_decoded(tmp_path, monkeypatch, packed):
    content = b"a,b\n1,2\n3,4\n" + b"\n" * 400
    path = tmp_path / "people.csv"
    path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    assert len(read_table(path, limits=Limits(rows=250)).frame) == 2
    with refused("people.csv", "400"):
        read_table(path, limits=Limits(rows=40))


def test_bombs(tmp_path: Path):
    small = Limits(decompressed_bytes=100_000)
    with refused("people.csv.gz"):
        read(tmp_path, gzip.compress(b"1,2\n" * 100_000, mtime=0), "people.csv.gz", limits=small)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 50_000_000)
    with refused("bomb.xlsx", "50"):
        read(tmp_path, out.getvalue(), "bomb.xlsx", limits=small)
    with refused("bomb.xlsx", "10"):
        read(tmp_path, out.getvalue(), "bomb.xlsx")
    pd.DataFrame({"a": np.zeros(1_000_000)}).to_parquet(tmp_path / "bomb.parquet")
    with refused("bomb.parquet", "1,000,000", "1,000"):
        read_table(tmp_path / "bomb.parquet", limits=Limits(rows=1000))
    pd.DataFrame({"a": np.zeros(1_000_000)}).to_feather(tmp_path / "bomb.feather")
    with refused("bomb.feather", "1,000"):
        read_table(tmp_path / "bomb.feather", limits=Limits(rows=1000))


def test_workbooks(tmp_path: Path):
    book = openpyxl.Workbook()
    book.save(tmp_path / "empty.xlsx")
    with refused("empty.xlsx"):
        read_table(tmp_path / "empty.xlsx")
    book.active.append(["a", "b"])
    book.save(tmp_path / "header.xlsx")
    with refused("header.xlsx"):
        read_table(tmp_path / "header.xlsx")
    book.active["XFD5"] = 1
    book.save(tmp_path / "far.xlsx")
    with refused("far.xlsx", "16,384", "2,000"):
        read_table(tmp_path / "far.xlsx")
    whole = (tmp_path / "header.xlsx").read_bytes()
    (tmp_path / "cut.xlsx").write_bytes(whole[: len(whole) // 2])
    with refused("cut.xlsx"):
        read_table(tmp_path / "cut.xlsx")


def test_paths(tmp_path: Path):
    with refused("data.path", "'nobody.csv'"):
        read_table(tmp_path / "nobody.csv")
    with refused("test_paths0"):
        read_table(tmp_path)
    with refused("test_paths0"):
        read_table(tmp_path, format="csv")
    with refused("data.path"):
        read_table([])
    with refused("data.path", "'null'"):
        read_table(Path("/dev/null"))
    with refused("data.path"):
        read_table("a\0b.csv")
    with refused("data.format", "'xls'"):
        read_table(tmp_path / "nobody.csv", format="xls")


def test_several_files_must_agree(tmp_path: Path):
    (tmp_path / "one.csv").write_text("a,b\n1,2\n")
    (tmp_path / "two.csv").write_text("a,c\n1,2\n")
    (tmp_path / "three.jsonl").write_text(json.dumps({"a": 1, "b": 2}))
    with refused("two.csv", "one.csv", "'b'"):
        read_table([tmp_path / "one.csv", tmp_path / "two.csv"])
    with refused("data.path"):
        read_table([tmp_path / "one.csv", tmp_path / "three.jsonl"])


@settings(max_examples=150)
@given(
    data=st.binary(max_size=300),
    name=st.sampled_from(["x.csv", "x.xlsx", "x.parquet", "x.jsonl", "x.arrow", "x.csv.gz"]),
)
def test_any_bytes_are_a_table_or_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str
):
    path = tmp_path_factory.mktemp("bytes") / name
    path.write_bytes(data)
    try:
        table = read_table(path)
    except InputError as error:
        said = str(error)
    else:
        said = f"{table.report.rows} rows"
        assert len(table.frame) == table.report.rows > 0
    assert "\n" not in said


letters = st.text('ab1?,;"\n |.\t', max_size=80)


@settings(max_examples=300)
@given(text=letters)
@example(text='1\n"; "')  # one column, and what looks like a separator before a quote
def test_any_text_is_a_table_or_an_input_error(tmp_path_factory: pytest.TempPathFactory, text: str):
    path = tmp_path_factory.mktemp("text") / "x.csv"
    path.write_text(text)
    try:
        table = read_table(path)
    except InputError:
        return
    # Every line is a row, a header, passed over with its number, or part of a quoted value
    report = table.report.files[0]
    used = table.report.rows + len(report.skipped) + report.blank_lines + bool(report.header)
    assert used <= len(text.splitlines())
    if '"' not in text:
        assert used == len(text.splitlines())


@pytest.mark.parametrize("kind", ["parquet", "feather", "xlsx", "csv.gz"])
def test_damaged_files(tmp_path: Path, kind: str):
    """Every tenth of the file flipped or cut: an input error, or a table of the same shape."""
    frame = pd.DataFrame({"a": range(50), "b": [f"name {i}" for i in range(50)]})
    path = tmp_path / f"people.{kind}"
    {"parquet": frame.to_parquet, "feather": frame.to_feather}.get(kind, lambda p: None)(path)
    if kind == "xlsx":
        frame.to_excel(path, index=False)
    if kind == "csv.gz":
        frame.to_csv(path, index=False)
    whole = path.read_bytes()
    for step in range(1, 40):
        at = len(whole) * step // 40
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]):
            path.write_bytes(damaged)
            try:
                table = read_table(path)
            except InputError as error:
                said = str(error)
            else:
                said = f"{table.frame.shape}"
                assert said == "(50, 2)"
            assert "\n" not in said
