"""CSV and TSV: what is found by itself, what can be overridden."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from audits.data import ReadOptions, Table, read_table
from audits.data.io import columns

_LONG = "x" * 100_000


def write(folder: Path, content: str | bytes, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(folder: Path, content: str | bytes, name: str = "people.csv", **options: object) -> Table:
    return read_table(write(folder, content, name), options=ReadOptions(**options))


def values(table: Table, column: str) -> list:
    return [None if pd.isna(value) else value for value in table.frame[column]]


@pytest.mark.parametrize(
    ("text", "options", "columns"),
    [
        # separators and decimal marks
        ("age, sex\n30, f\n40, m\n", {}, {"age": [30, 40], "sex": ["f", "m"]}),
        ("age\tsex\n30\tf\n40\tm\n", {}, {"age": [30, 40], "sex": ["f", "m"]}),
        ("age|sex\n30|f\n40|m\n", {}, {"age": [30, 40], "sex": ["f", "m"]}),
        ("sep=;\nage;sex\n30;f\n40;m\n", {}, {"age": [30, 40], "sex": ["f", "m"]}),
        ("age\n30\n40\n", {}, {"age": [30, 40]}),
        ("wage;share\n1,5;0,25\n2,75;1,0\n", {}, {"wage": [1.5, 2.75], "share": [0.25, 1]}),
        ("1,5;2,5;x\n3,5;4,5;y\n5,5;6,5;z\n", {}, {"column_1": [1.5, 3.5, 5.5], "column_3": ["x", "y", "z"]}),
        # what could be thousands is text, unless a comma separates fields or another column shows its meaning
        ("wage;n\n1.234;1\n12.500;2\n", {}, {"wage": ["1.234", "12.500"]}),
        ('wage,x\n"1,234",1\n"12,500",2\n', {}, {"wage": ["1,234", "12,500"]}),
        ("wage;x\n1.234;0,5\n12.500;0,75\n", {}, {"wage": ["1.234", "12.500"]}),
        ("wage,n\n1.234,1\n12.500,2\n", {}, {"wage": [1.234, 12.5]}),
        ("wage;x\n1.234;0.5\n12.500;0.75\n", {}, {"wage": [1.234, 12.5]}),
        ("wage;x\n1,234;0,5\n12,500;0,75\n", {}, {"wage": [1.234, 12.5]}),
        # names
        ("30,f\n40,m\n", {"header": True}, {"30": [40], "f": ["m"]}),
        ("30,f\n40,m\n", {"names": ("age", "sex")}, {"age": [30, 40]}),
        ("a,b\nc,d\n", {"names": ("x", "y")}, {"x": ["a", "c"]}),
        ("a,b\nc,d\n", {"names": ("x", "y"), "header": True}, {"x": ["c"]}),
        ("x,y\nc,d\n", {"names": ("x", "y")}, {"x": ["c"]}),
        # line ends, quotes, spaces and lines inside values
        ("a,b\r\n1,x\r\n2,y\r\n", {}, {"a": [1, 2], "b": ["x", "y"]}),
        ("a,b\r1,x\r2,y\r", {}, {"a": [1, 2], "b": ["x", "y"]}),
        (
            'name, said, n\nAnn, "yes, ""sure""", 1\nBob, "two\nlines", 2\n',
            {},
            {"said": ['yes, "sure"', "two\nlines"], "n": [1, 2]},
        ),
        ('size,n\n5" pipe,1\n6" pipe,2\n', {}, {"size": ['5" pipe', '6" pipe']}),
        (f"a,b\n{_LONG},1\ny,2\n", {}, {"a": [_LONG, "y"]}),
        # what would be lost as a number; 2**53 + 1 cannot be a float
        ("code,flag,exp\n007,yes,1e3\n010,no,2.5E-1\n", {}, {"code": ["007", "010"], "exp": [1000.0, 0.25]}),
        ("n,gap\n1,9007199254740993\n2,\n", {}, {"gap": ["9007199254740993", None]}),
        ("long,n\n12345678901234567890,1\n", {"header": True}, {"long": ["12345678901234567890"]}),
        ("age,j\n30,?\n-9,NA\n,x\n", {"missing": ("-9",)}, {"age": [30, None, None], "j": ["?", "NA", "x"]}),
        ("a,b\nNaN,1\nx,\n", {"missing": ()}, {"a": ["NaN", "x"], "b": [1, None]}),
        # encodings that are given; 0x81 is no letter of cp1252
        ("wörd,n\nЖук,1\n".encode("cp1251", "replace"), {"encoding": "cp1251"}, {"w?rd": ["Жук"]}),
        (b"a,b\n\x81,1\nx,2\n", {}, {"a": ["\x81", "x"]}),
    ],
)  # fmt: skip
def test_what_is_read(tmp_path: Path, text: str | bytes, options: dict, columns: dict):
    table = read(tmp_path, text, **options)
    assert {name: values(table, name) for name in columns} == columns


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["12.871,85", "1.234", "900", "5,5", "-3.000,00"], [12871.85, 1234, 900, 5.5, -3000]),
        (["12,871.85", "1,234", "900", "5.5", "NA"], [12871.85, 1234, 900, 5.5, None]),
        (["12.871,85", "1.234.567", "12"], [12871.85, 1234567, 12]),
        # these may be no such numbers
        (["12.871,85", "1,234.50"], None),
        (["12.871,85", "007"], None),
        (["12.871,85", "0.500"], None),
        (["1.234.567", "2.500"], None),
        (["123.456.789", "987.654.321"], None),
    ],
)
def test_a_value_with_both_marks_settles_its_column(tmp_path: Path, cells: list[str], numbers: list | None):
    table = read(tmp_path, "wage;n\n" + "".join(f"{each};1\n" for each in cells))
    assert values(table, "wage") == (cells if numbers is None else numbers)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("age,sex\n30,f\n40,m\n", True),
        ("30,f\n40,m\n50,f\n", False),
        ("White,Male\nBlack,Female\nWhite,Female\n", False),
        ("?,a,3\n5,b,4\n", False),
        (",race,age\n0,White,30\n1,Black,40\n", True),
        ("country,gdp,2015,note\nFrance,1.5,2.5,7\nItaly,2.5,3.5,8\n", True),
        ("0,1,2\n5.1,3.5,x\n4.9,3.0,y\n", True),
        (",0,1\n0,3.5,x\n1,3.0,y\n", True),
    ],
)
def test_header_is_found(tmp_path: Path, text: str, header: bool):
    table = read(tmp_path, text)
    assert table.report.files[0].header is header
    assert len(table.frame) == text.count("\n") - header
    if not header:
        assert table.frame.columns.tolist() == [f"column_{i + 1}" for i in range(table.frame.shape[1])]


def test_lines_before_and_between_are_passed_over_and_shown(tmp_path: Path):
    table = read(tmp_path, "Wages of 2024\n\nsource: survey\nage,sex,wage\n30,f,5\n40,m,6\n")
    assert values(table, "wage") == [5, 6]
    report = table.report.files[0]
    assert report.skipped == ((1, "Wages of 2024"), (3, "source: survey"))
    assert report.blank_lines == 1
    assert any("'Wages of 2024'" in sentence for sentence in report.sentences())
    given = read(tmp_path, "a,b\nage,sex\n30,f\n40,m\n", skip_rows=1)
    assert values(given, "age") == [30, 40]
    assert given.report.files[0].skipped == ((1, "a,b"),)
    for text, blank in (("\na,b\n1,x\n\n2,y\n   \n3,z\n\n\n", 5), ("a\n1\n\n2\n3\n", 1)):
        table = read(tmp_path, text)
        assert values(table, "a") == [1, 2, 3]
        assert table.report.files[0].blank_lines == blank


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", b"\xef\xbb\xbf"),
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("utf-16-le", b""),
        ("utf-32-le", b"\xff\xfe\0\0"),
        ("cp1252", b""),
    ],
)
def test_encodings(tmp_path: Path, encoding: str, mark: bytes):
    table = read(tmp_path, mark + "näme,âge\nJosé,30\nZoë,40\n".encode(encoding))
    assert table.frame.to_dict("list") == {"näme": ["José", "Zoë"], "âge": [30, 40]}
    assert table.report.files[0].encoding == encoding


@pytest.mark.parametrize(
    ("words", "encoding"),
    [
        (["Müller", "Größe", "José", "François", "Ærø", "señor"], "cp1252"),
        (["£20", "€30", "20°C", "5½", "‘so’"], "cp1252"),
        (["Łukasz", "Świętokrzyskie", "Dvořák", "mężczyzna", "wykształcenie"], "cp1250"),
        (["Москва", "мужчина", "женщина", "образование"], "cp1251"),
        (["Αθήνα", "άνδρας", "γυναίκα", "Θεσσαλονίκη"], "cp1253"),
        (["東京", "男性", "女性", "北海道", "いいえ"], "cp932"),
        (["北京", "上海", "广东省", "年龄", "男", "女"], "gb18030"),
        (["臺北", "高雄", "年齡", "男", "女"], "big5"),
        (["서울", "남자", "여자", "아니오"], "cp949"),
    ],
)
@pytest.mark.parametrize("every", [1, 100])
def test_code_pages_are_found_among_numbers_and_plain_words(
    tmp_path: Path, words: list[str], encoding: str, every: int
):
    cells = [word for each in 2 * words for word in [each, *["Smith"] * (every - 1)]]
    text = "id,name,wage\n" + "".join(f"{i},{cell},{i * 37 % 9000}\n" for i, cell in enumerate(cells))
    table = read(tmp_path, text.encode(encoding))
    assert table.report.files[0].encoding == encoding
    assert table.frame["name"].tolist() == cells


def test_missing_markers_are_found_and_counted(tmp_path: Path):
    table = read(tmp_path, "age,job,grade,sign\n30,cook,?,+\n-,?,2.5,-\nNA,judge,,+\n")
    assert values(table, "age") == [30, None, None]
    assert values(table, "grade") == [None, 2.5, None]
    assert values(table, "job") == ["cook", None, "judge"]
    assert values(table, "sign") == ["+", "-", "+"]  # here the minus is a level
    assert table.report.missing == {"age": {"-": 1, "NA": 1}, "job": {"?": 1}, "grade": {"?": 1, "": 1}}
    assert table.report.markers() == {"-": 1, "NA": 1, "?": 2, "": 1}
    assert any("'?', 2 cells (job, grade)" in sentence for sentence in table.report.sentences())


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["2024-12-31", "2023-1-5"], ["2024-12-31", "2023-01-05"]),
        (["31/12/2024", "01/02/2023"], ["2024-12-31", "2023-02-01"]),
        (["12/31/2024", "01/02/2023"], ["2024-12-31", "2023-01-02"]),
        (["01.02.2024", "03.04.2023"], ["2024-02-01", "2023-04-03"]),
        (["2024-12-31T10:30:00+02:00", "2023-01-05T00:00:00Z"], ["2024-12-31 08:30", "2023-01-05"]),
        (["31.12.2024 8:15", "01.01.2023 9:00"], ["2024-12-31 08:15", "2023-01-01 09:00"]),
    ],
)
def test_dates(tmp_path: Path, cells: list[str], expected: list[str]):
    table = read(tmp_path, "when,n\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate([*cells, "?"])))
    assert values(table, "when") == [*(pd.Timestamp(each) for each in expected), None]


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["01/02/2023", "03/04/2023"], "'x'"),
        (["2023-02-30", "2023-01-01"], "'x'"),
        (["1.234", "12.500"], "'x'"),
        (["$31.20", "$4", "$1,250.00"], "'$31.20'"),
        (["45%", "3.5 %", "100%"], "'45%'"),
        (["EUR 12", "EUR 15.5", "EUR 1.200"], "'EUR 12'"),
        ([*map(str, range(30)), "n.k."], "'n.k.'"),
        (["DE", "NA", "FR", "IT", "ES", "PL"], "'NA'"),  # a country, among codes of two letters
        (["A12", "B7", "C5"], None),
        (["12B", "3C", "5D"], None),
        (["+", "-", "-"], None),
    ],
)
def test_what_may_be_dates_or_numbers_stays_text_and_says_so(tmp_path: Path, cells: list, told: str | None):
    table = read(tmp_path, "x;n\n" + "".join(f"{cell};4{i}\n" for i, cell in enumerate(cells)))
    assert table.frame["x"].tolist() == cells
    assert any(told in note for note in table.report.notes) if told else not table.report.notes


def test_several_files_follow_each_other(tmp_path: Path):
    first = write(tmp_path, "a,b\n1,x\n2,y\n", "one.csv")
    second = write(tmp_path, "b,a\nz,NA\n", "two.csv")
    third = write(tmp_path, "4,w\n", "three.csv")
    table = read_table([first, second, third], options=ReadOptions(header=None))
    assert values(table, "a") == [1, 2, None, 4]
    assert values(table, "b") == ["x", "y", "z", "w"]
    assert table.frame.index.tolist() == [1, 2, 3, 4]
    assert [file.rows for file in table.report.files] == [2, 1, 1]
    words = write(tmp_path, "a,b\nn,x\nm,y\n", "words.csv")  # types are decided on all files together
    assert read_table([first, words]).frame["a"].tolist() == ["1", "2", "n", "m"]
    same = read_table([first, first, write(tmp_path, first.read_text(), "same.csv")])
    assert len(same.frame) == 6
    assert [note.split()[0] for note in same.report.notes] == ["one.csv", "same.csv"]


def test_gzip_tsv_empty_names_and_wide_tables(tmp_path: Path):
    table = read_table(write(tmp_path, gzip.compress(b"\tage\t\n0\t30\t\n1\t40\t\n"), "people.tsv.gz"))
    assert (table.report.files[0].format, table.report.files[0].compressed) == ("tsv", True)
    assert table.frame.to_dict("list") == {"unnamed_1": [0, 1], "age": [30, 40]}
    said = " ".join(table.report.sentences())
    assert "unnamed_1, unnamed_3" in said
    assert "'unnamed_3'" in said
    wide, row = ",".join(f"c{i}" for i in range(400)), ",".join(["12345"] * 400)
    assert read(tmp_path, f"{wide}\n{row}\n").frame.shape == (1, 400)


def test_numbers_are_read_exactly(tmp_path: Path):
    rng = np.random.default_rng(0)
    numbers = [*rng.integers(-(10**9), 10**9, 50), *(rng.normal(size=200) * 10.0 ** rng.integers(-9, 7, 200))]
    texts = [str(each) for each in numbers]
    assert values(read(tmp_path, "n,x\n1,\n2," + "\n3,".join(texts)), "x") == [None, *map(float, texts)]


PLAIN = ["1", "-3", "-0", "2.5", "-.5", "5.", "1e5", "1E-3", ""]
ODD = [
    *["1", "007", "-07", "00.5", "+4", "1.234", "12.345", "1,5", "1,234", "-", ".", "..", "NA", "nan", "inf"],
    *["1e", "e5", "1.2.3", "1-2", "2024-01-05", "5 ", " 6", "0x10", "1e400", "-1e-320", "abc", "٣"],
    *["123456789012345678", "1234567890123456789", "9007199254740993", "9007199254740992.5"],
]


def _chunks(cells: list[str]) -> pa.ChunkedArray:
    """Return cells in two chunks, the second of which begins inside its buffers."""
    later = pa.array(["besides", *cells[2:]], pa.string()).slice(1)
    return pa.chunked_array([pa.array(cells[:2], pa.string()), later])


@pytest.mark.parametrize(
    ("markers", "comma", "decimal", "first"),
    [(None, False, None, 0), (("NA",), True, None, 3), (("", "5."), True, ",", 7), (None, True, ".", 3)],
)
def test_columns_read_at_once_are_those_of_their_distinct_values(markers, comma, decimal, first, monkeypatch):
    tables = [{odd: _chunks([*PLAIN[first:], odd])} for odd in ODD]
    told = {"markers": markers, "comma": comma, "decimal": decimal}
    made = [columns.convert_texts(table, **told) for table in tables]
    monkeypatch.setattr(columns, "plain_numbers", lambda *_, **__: None)
    slowly = [columns.convert_texts(table, **told) for table in tables]
    for fast, slow in zip(made, slowly, strict=True):
        for name, each in slow.items():
            found = fast[name]
            assert found.values.dtype == each.values.dtype
            if each.values.dtype.kind == "f":
                np.testing.assert_array_equal(found.values, each.values)
                np.testing.assert_array_equal(np.signbit(found.values), np.signbit(each.values))
            else:
                assert found.values.equals(each.values)
            assert (dict(found.missing), found.notes) == (dict(each.missing), each.notes)
            assert found.markers.plain() == each.markers.plain()
