"""Whatever is wrong with a file: one clear sentence that names it, never a traceback."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

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
    folder: Path, content: str | bytes, name: str = "people.csv", limits: Limits | None = None, **options
):
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return read_table(folder / name, options=ReadOptions(**options), limits=limits)


@pytest.mark.parametrize(
    ("content", "options", "where", "tells"),
    [
        ("", {}, "", ""),
        ("a,b,c\n", {}, "", ""),
        ("a,b,a\n1,2,3\n", {}, ", column 'a'", " 2 "),
        ("a,b,c\n1,2,3\n4,5\n6,7,8\n", {}, ", row 2 (line 3)", " 3 fields"),
        ("a,b,c\n1,2,3\n4,5,6,7\n6,7,8\n", {}, ", row 2 (line 3)", " 4;"),
        ("x\n\na,b,c\n\n1,2,3\n1,2,3\n4\n", {}, ", row 3 (line 7)", " 1;"),
        ("a,b\n1,2,3\n4,5,6\n7,8,9\n", {}, ", line 1", " 3;"),
        ("a,b,c\n1,2,3\n4,5,6\n", {"separator": ";"}, "read.separator", "','"),
        ("a,b\n1,2\n", {"separator": "::"}, "read.separator", "'::'"),
        (b"PK\x03\x04 cut short", {}, "", "XLSX"),
        ('{"a": 1, "a": 2}\n', {"name": "people.jsonl"}, ", line 1", "JSON"),
        ('{"a": ' + "[" * 100_000 + "\n", {"name": "people.jsonl"}, ", line 1", ""),
        ("a,b\n1,2\n", {"names": ("a",)}, "read.names", " 2 columns"),
        ("a,b\n1,2\n", {"skip_rows": 5}, "", "read.skip_rows"),
        ("a,b\n1,2\n", {"skip_rows": (1, 2)}, "read.skip_rows", "(1, 2)"),
        ("a,b\n1,2\n", {"encoding": "rot13"}, "read.encoding", "'rot13'"),
        ("a,b\nä,2\n".encode("latin-1"), {"encoding": "utf-8"}, "", "line 2"),
        (bytes(range(256)) * 20, {}, "", "NUL"),
        ('a,b\n1,"2\n3,4\n5,6\n', {}, ", line 4", ""),
        (b"\xd0\xcf\x11\xe0junk", {}, "", ".xls"),
        (bz2.compress(b"a,b\n1,2\n"), {}, "", "bzip2"),
        (b"ARROW1 cut short", {}, "", "Arrow"),
        (gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:-9], {}, "", "gzip"),
        (gzip.compress(b"PAR1 anything", mtime=0), {}, "", "gzip"),
        ('{"a": 1}\n{"a": 1\n', {"name": "people.jsonl"}, ", line 2", "JSON"),
        ('{"a": 1}\n\n[1]\n', {"name": "people.jsonl"}, ", line 3", "[1]"),
        ('[{"a": 1}]\n', {"name": "people.jsonl"}, "", "JSON"),
        ("{}\n{}\n", {"name": "people.jsonl"}, "", ""),
        ('{"a": {"b": 1}}\n', {"name": "people.jsonl"}, "", ""),
    ],
)
def test_one_sentence_says_what_is_wrong(tmp_path: Path, content: str | bytes, options: dict, where, tells):
    place = where if where.startswith("read.") else options.get("name", "people.csv") + where
    with refused(place, tells) as caught:
        read(tmp_path, content, **options)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with refused("people.csv", "10,000", "2,000"):
        read(tmp_path, f"{',' * 9_999}\n" * 2)
    packed = gzip.compress(b"1,2\n" * 100_000, mtime=0)
    for content, limits in (
        ("a\n1\n2\n3\n", {"rows": 2}),
        ("a,b\n1,2\n3,4\n5,6\n", {"cells": 5}),
        (packed, {"decompressed_bytes": 100_000}),
    ):
        with refused("people.csv"):
            read(tmp_path, content, limits=Limits(**limits))
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(300_000_000)  # sparse, and refused by its size without being read
    with refused("large.csv", "300", "200"):
        read_table(tmp_path / "large.csv")
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "0.001")
    with refused("people.csv", "EVENHAND_MAX_FILE_MB"):
        read(tmp_path, "a,b\n" + "1,2\n" * 1000)
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "lots")
    with refused("EVENHAND_MAX_FILE_MB", "'lots'"):
        Limits()


@pytest.mark.parametrize("packed", [True, False])
def test_lines_and_cells_are_bounded_while_they_are_decoded(tmp_path, monkeypatch, packed):
    """In chunks that a line goes across, too."""
    monkeypatch.setattr(reading, "_CHUNK", 40_000)

    def rows(content: bytes, **limits: int) -> int:
        content = gzip.compress(content, mtime=0) if packed else content
        return len(read(tmp_path, content, limits=Limits(**limits)).frame)

    cell = b'a,b\n1,"' + (b"x" * 99 + b"\n") * 2_000 + b'"\n2,3\n'
    for content in (b"a,b\n" + b"x" * 150_000 + b"\n1,2\n", cell):
        with refused("people.csv"):
            rows(content, line_bytes=100_000)
    assert rows(b"a,b\n" + (b"x" * 70_000 + b",1\n") * 3, line_bytes=100_000) == 3
    content = b"a,b\n1,2\n3,4\n" + b"\n" * 400
    assert rows(content, rows=250) == 2
    with refused("people.csv", "400"):
        rows(content, rows=40)


@pytest.mark.parametrize("kind", ["parquet", "coded feather", "xlsx"])
def test_values_of_typed_tables_are_bounded_as_lines_are(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(sheets, "_CHUNK", 4_000)
    frame = pd.DataFrame({"a": ["x" * 30_000, "y"], "b": [1, 2]})
    frame = frame.astype({"a": "category"}) if "coded" in kind else frame
    kind = kind.removeprefix("coded ")
    path = tmp_path / f"people.{kind}"
    frame.to_excel(path, index=False) if kind == "xlsx" else getattr(frame, f"to_{kind}")(path)
    assert len(read_table(path, limits=Limits(line_bytes=40_000)).frame) == 2
    with refused(f"people.{kind}"):
        read_table(path, limits=Limits(line_bytes=20_000))


def test_paths_and_files_that_do_not_agree(tmp_path: Path):
    names = {"one.csv": "a,b\n1,2\n", "two.csv": "a,c\n1,2\n", "three.jsonl": '{"a": 1, "b": 2}'}
    one, two, three = (tmp_path / name for name in names)
    for name, text in names.items():
        (tmp_path / name).write_text(text)
    pd.DataFrame().to_excel(tmp_path / "empty.xlsx", index=False)
    pd.DataFrame({"a": [], "b": []}).to_excel(tmp_path / "header.xlsx", index=False)
    for path, options, *refusal in (
        (tmp_path / "nobody.csv", {}, "data.path"),
        (tmp_path / "nobody.csv", {"format": "xls"}, "data.format"),
        (tmp_path, {}, tmp_path.name),
        ([], {}, "data.path"),
        (Path("/dev/null"), {}, "data.path"),
        (tmp_path / "empty.xlsx", {}, "empty.xlsx"),
        (tmp_path / "header.xlsx", {}, "header.xlsx"),
        ("a\0b.csv", {}, "data.path"),
        ([one, two], {}, "two.csv", "one.csv", "'b'"),
        ([one, three], {}, "data.path"),
    ):
        with refused(*refusal):
            read_table(path, **options)


@settings(max_examples=25)
@given(text=st.text('ab1?,;"\n |.\t', max_size=80))
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
