"""CSV and TSV: what is found by itself, what can be overridden, against pandas and the csv module."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.data import ReadOptions, Table, read_table


def write(folder: Path, content: str | bytes, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(folder: Path, content: str | bytes, name: str = "people.csv", **options: object) -> Table:
    return read_table(write(folder, content, name), options=ReadOptions(**options))


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("age,sex\n30,f\n40,m\n", ","),
        ("age;sex\n30;f\n40;m\n", ";"),
        ("age\tsex\n30\tf\n40\tm\n", "\t"),
        ("age|sex\n30|f\n40|m\n", "|"),
        ("age, sex\n30, f\n40, m\n", ","),
    ],
)
def test_separators_are_found(tmp_path: Path, text: str, separator: str):
    table = read(tmp_path, text)
    assert table.report.files[0].separator == separator
    assert table.frame["age"].tolist() == [30, 40]
    assert table.frame["sex"].tolist() == ["f", "m"]
    assert table.frame.index.tolist() == [1, 2]
    assert table.frame.index.name == "row"


def test_decimal_commas_with_semicolons(tmp_path: Path):
    table = read(tmp_path, "wage;share;n\n1,5;0,25;3\n2,75;1,0;4\n")
    assert table.frame["wage"].tolist() == [1.5, 2.75]
    assert table.frame["share"].tolist() == [0.25, 1.0]
    assert table.frame["n"].tolist() == [3, 4]


def test_numbers_that_could_be_thousands_stay_text_and_say_so(tmp_path: Path):
    table = read(tmp_path, "wage;n\n1.234;1\n12.500;2\n")
    assert table.frame["wage"].tolist() == ["1.234", "12.500"]
    assert len(table.report.notes) == 1
    # Another column shows what the mark means, so this one is clear
    assert read(tmp_path, "wage;x\n1.234;0.5\n12.500;0.75\n").frame["wage"].tolist() == [1.234, 12.5]
    assert read(tmp_path, "wage;x\n1,234;0,5\n12,500;0,75\n").frame["wage"].tolist() == [1.234, 12.5]
    assert read(tmp_path, "wage;x\n1.234;0,5\n12.500;0,75\n").frame["wage"].tolist() == ["1.234", "12.500"]
    assert read(tmp_path, 'wage,x\n"1,234",1\n"12,500",2\n').frame["wage"].tolist() == ["1,234", "12,500"]
    # Where a comma separates fields, a point is decimal
    assert read(tmp_path, "wage,n\n1.234,1\n12.500,2\n").frame["wage"].tolist() == [1.234, 12.5]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["12.871,85", "1.234", "900", "5,5", "-3.000,00"], [12871.85, 1234, 900, 5.5, -3000]),
        (["12,871.85", "1,234", "900", "5.5", "NA"], [12871.85, 1234, 900, 5.5, None]),
        (["12.871,85", "1.234.567", "12"], [12871.85, 1234567, 12]),
    ],
)
def test_a_value_with_both_marks_settles_its_column(tmp_path: Path, cells: list[str], numbers: list[float]):
    table = read(tmp_path, "wage;n\n" + "".join(f"{each};1\n" for each in cells))
    assert table.frame["wage"].tolist() == pytest.approx(
        [np.nan if each is None else each for each in numbers], nan_ok=True
    )


@pytest.mark.parametrize(
    "cells",
    [
        ["12.871,85", "1,234.50"],
        ["12.871,85", "1.2.3"],
        ["12.871,85", "007"],
        ["12.871,85", "0.500"],
        ["1.234.567", "2.500"],
        ["123.456.789", "987.654.321"],
    ],
)
def test_a_column_that_may_be_no_such_numbers_stays_text(tmp_path: Path, cells: list[str]):
    table = read(tmp_path, "wage;n\n" + "".join(f"{each};1\n" for each in cells))
    assert table.frame["wage"].tolist() == cells


def test_semicolons_win_over_decimal_commas_without_header(tmp_path: Path):
    table = read(tmp_path, "1,5;2,5;x\n3,5;4,5;y\n5,5;6,5;z\n")
    assert table.frame.shape == (3, 3)
    assert table.frame.iloc[:, 0].tolist() == [1.5, 3.5, 5.5]


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("age,sex\n30,f\n40,m\n", True),
        ("30,f\n40,m\n50,f\n", False),
        ("race,sex\nWhite,Male\nBlack,Female\nWhite,Female\n", True),
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


def test_header_and_names_are_overridden(tmp_path: Path):
    text = "30,f\n40,m\n"
    assert read(tmp_path, text, header=True).frame.columns.tolist() == ["30", "f"]
    assert read(tmp_path, text, names=("age", "sex")).frame["age"].tolist() == [30, 40]
    assert read(tmp_path, "a,b\n30,f\n40,m\n", names=("age", "sex")).frame["age"].tolist() == [30, 40]
    assert read(tmp_path, "a,b\nc,d\n", names=("x", "y")).frame["x"].tolist() == ["a", "c"]
    assert read(tmp_path, "a,b\nc,d\n", names=("x", "y"), header=True).frame["x"].tolist() == ["c"]
    assert read(tmp_path, "x,y\nc,d\n", names=("x", "y")).frame["x"].tolist() == ["c"]


def test_lines_before_the_table_are_passed_over_and_shown(tmp_path: Path):
    text = "Wages of 2024\n\nsource: survey\nage,sex,wage\n30,f,5\n40,m,6\n"
    table = read(tmp_path, text)
    assert table.frame["wage"].tolist() == [5, 6]
    report = table.report.files[0]
    assert report.skipped == ((1, "Wages of 2024"), (3, "source: survey"))
    assert report.blank_lines == 1
    assert any("'Wages of 2024'" in sentence for sentence in report.sentences())
    given = read(tmp_path, "a,b\nage,sex\n30,f\n40,m\n", skip_rows=1)
    assert given.frame["age"].tolist() == [30, 40]
    assert given.report.files[0].skipped == ((1, "a,b"),)


def test_the_line_that_names_the_separator(tmp_path: Path):
    table = read(tmp_path, "sep=;\nage;sex\n30;f\n40;m\n")
    assert table.frame["sex"].tolist() == ["f", "m"]
    assert table.report.files[0].skipped == ((1, "sep=;"),)


def test_empty_lines_are_counted_wherever_they_are(tmp_path: Path):
    table = read(tmp_path, "\na,b\n1,x\n\n2,y\n   \n3,z\n\n\n")
    assert table.frame["a"].tolist() == [1, 2, 3]
    assert table.report.files[0].blank_lines == 5
    one = read(tmp_path, "word\nx\n\ny\n")
    assert one.frame["word"].tolist() == ["x", "y"]
    assert one.report.files[0].blank_lines == 1


def test_one_column(tmp_path: Path):
    table = read(tmp_path, "age\n30\n40\n")
    assert table.frame["age"].tolist() == [30, 40]
    assert table.report.files[0].separator is None


@pytest.mark.parametrize(
    ("encoding", "mark", "found"),
    [
        ("utf-8", b"", "utf-8"),
        ("utf-8", b"\xef\xbb\xbf", "utf-8"),
        ("utf-16-le", b"\xff\xfe", "utf-16-le"),
        ("utf-16-be", b"\xfe\xff", "utf-16-be"),
        ("utf-16-le", b"", "utf-16-le"),
        ("utf-32-le", b"\xff\xfe\0\0", "utf-32-le"),
        ("cp1252", b"", "cp1252"),
    ],
)
def test_encodings(tmp_path: Path, encoding: str, mark: bytes, found: str):
    text = "näme,âge\nJosé,30\nZoë,40\n"
    table = read(tmp_path, mark + text.encode(encoding))
    assert table.frame["näme"].tolist() == ["José", "Zoë"]
    assert table.frame["âge"].tolist() == [30, 40]
    assert table.report.files[0].encoding == found


def test_encoding_is_overridden(tmp_path: Path):
    data = "wörd,n\nЖук,1\nёж,2\n".encode("cp1251", errors="replace")
    assert read(tmp_path, data, encoding="cp1251").frame.iloc[:, 0].tolist() == ["Жук", "ёж"]
    # 0x81 is no letter of cp1252
    assert read(tmp_path, b"a,b\n\x81,1\nx,2\n").report.files[0].encoding == "latin-1"


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


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(tmp_path: Path, end: str):
    table = read(tmp_path, end.join(["a,b", "1,x", "2,y", ""]))
    assert table.frame["a"].tolist() == [1, 2]
    assert table.frame["b"].tolist() == ["x", "y"]
    assert table.report.files[0].blank_lines == 0


def test_quotes_spaces_and_lines_inside_values(tmp_path: Path):
    text = 'name, said, n\nAnn, "yes, ""sure""", 1\nBob, "two\nlines", 2\n'
    table = read(tmp_path, text)
    assert table.frame["said"].tolist() == ['yes, "sure"', "two\nlines"]
    assert table.frame["n"].tolist() == [1, 2]
    assert read(tmp_path, 'size,n\n5" pipe,1\n6" pipe,2\n').frame["size"].tolist() == ['5" pipe', '6" pipe']


def test_missing_markers_are_found_and_counted(tmp_path: Path):
    text = "age,job,grade,sign\n30,cook,?,+\n-,?,2.5,-\nNA,judge,,+\n"
    table = read(tmp_path, text)
    np.testing.assert_array_equal(table.frame["age"], [30.0, np.nan, np.nan])
    np.testing.assert_array_equal(table.frame["grade"], [np.nan, 2.5, np.nan])
    assert table.frame["job"].isna().tolist() == [False, True, False]
    assert table.frame["sign"].tolist() == ["+", "-", "+"]  # here the minus is a level
    assert table.report.missing == {"age": {"-": 1, "NA": 1}, "job": {"?": 1}, "grade": {"?": 1, "": 1}}
    assert table.report.markers() == {"-": 1, "NA": 1, "?": 2, "": 1}
    assert any("'?', 2 cells (job, grade)" in sentence for sentence in table.report.sentences())


def test_missing_markers_are_overridden(tmp_path: Path):
    text = "age,job\n30,?\n-9,cook\n,NA\n"
    table = read(tmp_path, text, missing=("-9",))
    np.testing.assert_array_equal(table.frame["age"], [30.0, np.nan, np.nan])
    assert table.frame["job"].tolist() == ["?", "cook", "NA"]
    kept = read(tmp_path, "a,b\nNaN,1\nx,\n", missing=())
    assert kept.frame["a"].tolist() == ["NaN", "x"]
    np.testing.assert_array_equal(kept.frame["b"], [1.0, np.nan])


def test_na_stays_a_level_among_two_letter_codes(tmp_path: Path):
    table = read(tmp_path, "country,n\nDE,1\nNA,2\nFR,3\nIT,4\nES,5\nPL,6\n")
    assert table.frame["country"].tolist() == ["DE", "NA", "FR", "IT", "ES", "PL"]
    assert "'NA'" in " ".join(table.report.notes)


def test_columns_keep_what_would_be_lost(tmp_path: Path):
    text = (
        "code,long,gap,mixed,flag,exp\n"
        "007,12345678901234567890,9007199254740993,1,yes,1e3\n"
        "010,12345678901234567891,,x,no,2.5E-1\n"
    )
    frame = read(tmp_path, text).frame
    assert frame["code"].tolist() == ["007", "010"]
    assert frame["long"].tolist() == ["12345678901234567890", "12345678901234567891"]
    assert frame["gap"].iloc[0] == "9007199254740993"  # 2**53 + 1 cannot be a float
    assert frame["mixed"].tolist() == ["1", "x"]
    assert frame["flag"].tolist() == ["yes", "no"]
    assert frame["exp"].tolist() == [1000.0, 0.25]


def test_a_few_odd_cells_among_numbers_are_pointed_out(tmp_path: Path):
    rows = "".join(f"{i},{i}\n" for i in range(30))
    table = read(tmp_path, f"a,b\n{rows}31,n.k.\n")
    assert table.frame["b"].iloc[0] == "0"
    assert any("'n.k.'" in note and "read.missing" in note for note in table.report.notes)
    assert read(tmp_path, f"a,b\n{rows}31,n.k.\n", missing=("n.k.",)).frame["b"].iloc[5] == 5.0


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["2024-12-31", "2023-1-5"], ["2024-12-31", "2023-01-05"]),
        (["31/12/2024", "01/02/2023"], ["2024-12-31", "2023-02-01"]),
        (["12/31/2024", "01/02/2023"], ["2024-12-31", "2023-01-02"]),
        (["01.02.2024", "03.04.2023"], ["2024-02-01", "2023-04-03"]),
        (["2024-12-31 10:30", "2023-01-05"], ["2024-12-31 10:30", "2023-01-05"]),
        (["2024-12-31T10:30:00+02:00", "2023-01-05T00:00:00Z"], ["2024-12-31 08:30", "2023-01-05"]),
        (["31.12.2024 8:15", "01.01.2023 9:00"], ["2024-12-31 08:15", "2023-01-01 09:00"]),
    ],
)
def test_dates(tmp_path: Path, cells: list[str], expected: list[str]):
    table = read(tmp_path, "when,n\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate([*cells, "?"])))
    assert table.frame["when"].tolist()[:2] == [pd.Timestamp(each) for each in expected]
    assert table.frame["when"].isna().tolist() == [False, False, True]


@pytest.mark.parametrize(
    "cells", [["01/02/2023", "03/04/2023"], ["2023-02-30", "2023-01-01"], ["13/13/2023", "01/01/2023"]]
)
def test_doubtful_dates_stay_text_and_say_so(tmp_path: Path, cells: list[str]):
    table = read(tmp_path, "when,n\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells)))
    assert table.frame["when"].tolist() == cells
    assert any("'when'" in note for note in table.report.notes)


def test_several_files_follow_each_other(tmp_path: Path):
    first = write(tmp_path, "a,b\n1,x\n2,y\n", "one.csv")
    second = write(tmp_path, "b,a\nz,NA\n", "two.csv")
    third = write(tmp_path, "4,w\n", "three.csv")
    table = read_table([first, second, third], options=ReadOptions(header=None))
    np.testing.assert_array_equal(table.frame["a"], [1, 2, np.nan, 4])
    assert table.frame["b"].tolist() == ["x", "y", "z", "w"]
    assert table.frame.index.tolist() == [1, 2, 3, 4]
    assert [file.rows for file in table.report.files] == [2, 1, 1]
    # Types are decided on all files together
    words = write(tmp_path, "a,b\nn,x\nm,y\n", "words.csv")
    assert read_table([first, words]).frame["a"].tolist() == ["1", "2", "n", "m"]


def test_gzip_and_tsv(tmp_path: Path):
    path = write(tmp_path, gzip.compress(b"a\tb\n1\tx\n2\ty\n"), "people.tsv.gz")
    table = read_table(path)
    assert table.report.files[0].format == "tsv"
    assert table.report.files[0].compressed
    assert table.frame["b"].tolist() == ["x", "y"]


def test_empty_names_and_empty_columns(tmp_path: Path):
    table = read(tmp_path, ",age,\n0,30,\n1,40,\n")
    assert table.frame.columns.tolist() == ["unnamed_1", "age"]
    said = " ".join(table.report.sentences())
    assert "unnamed_1, unnamed_3" in said
    assert "'unnamed_3'" in said


def test_long_rows_and_wide_tables(tmp_path: Path):
    wide = ",".join(f"c{i}" for i in range(1500))
    row = ",".join(["12345"] * 1500)
    assert read(tmp_path, f"{wide}\n{row}\n{row}\n").frame.shape == (2, 1500)
    long = "x" * 100_000
    table = read(tmp_path, "a,b\n" + "".join(f"{i},{long}{i}\n" for i in range(200)))
    assert table.frame["b"].str.len().min() == 100_001
    assert read(tmp_path, f"a,b\n{long}{long},1\ny,2\n").frame["a"].str.len().tolist() == [200_000, 1]


cells = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r\x1a", exclude_categories=["Cs", "Cc"]), max_size=8
)
rows = st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=20)


@settings(max_examples=20)
@given(rows=rows, separator=st.sampled_from([",", ";", "|", "\t"]))
def test_any_text_survives_when_nothing_is_detected(
    tmp_path_factory: pytest.TempPathFactory, rows: list, separator: str
):
    """The slow obvious version is the csv module that wrote the file."""
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator, quoting=csv.QUOTE_ALL).writerows([("a", "b", "c"), *rows])
    folder = tmp_path_factory.mktemp("any")
    options = {"separator": separator, "header": True, "missing": (), "skip_rows": 0}
    table = read(folder, out.getvalue(), **options)
    assert len(table.frame) == len(rows)
    for position, name in enumerate("abc"):
        column = table.frame[name]
        for found, wrote in zip(column, (row[position].strip() for row in rows), strict=True):
            if pd.isna(found):
                assert wrote == ""
            elif isinstance(found, str):
                assert found == wrote
            elif isinstance(found, pd.Timestamp):
                assert found == pd.Timestamp(wrote)
            else:
                assert float(found) == float(wrote.replace(",", "."))


numbers = st.one_of(st.integers(-(10**9), 10**9), st.floats(-1e6, 1e6, allow_nan=False), st.none())


@settings(max_examples=20)
@given(values=st.lists(numbers, min_size=2, max_size=30))
def test_numbers_are_read_exactly_as_pandas_reads_them(
    tmp_path_factory: pytest.TempPathFactory, values: list
):
    text = "n,x\n" + "".join(
        f"{i},{'' if value is None else repr(value)}\n" for i, value in enumerate(values)
    )
    path = write(tmp_path_factory.mktemp("numbers"), text)
    found = read_table(path, options=ReadOptions(header=True)).frame["x"]
    expected = pd.read_csv(path)["x"]
    np.testing.assert_array_equal(found.to_numpy(float), expected.to_numpy(float))
    assert found.isna().sum() == sum(value is None for value in values)


@pytest.mark.parametrize(
    "values",
    [("$31.20", "$4", "$1,250.00"), ("45%", "3.5 %", "100%"), ("EUR 12", "EUR 15.5", "EUR 1.200")],
)
def test_numbers_with_signs_stay_text_and_a_note_says_so(tmp_path: Path, values: tuple[str, ...]):
    table = read(tmp_path, "pay\tage\n" + "".join(f"{value}\t4{k}\n" for k, value in enumerate(values)))
    assert table.frame["pay"].tolist() == list(values)
    assert table.report.notes == (
        f"Column 'pay' has numbers written with signs (such as {values[0]!r}), so it is read as text; "
        "take the signs out to have numbers.",
    )


@pytest.mark.parametrize("values", [("A12", "B7"), ("12B", "3C"), ("+", "-"), ("A40x", "3")])
def test_codes_are_no_numbers_with_signs(tmp_path: Path, values: tuple[str, ...]):
    table = read(tmp_path, "code,age\n" + "".join(f"{value},40\n" for value in values))
    assert table.report.notes == ()


def test_the_same_file_twice_is_read_twice_and_noted(tmp_path: Path):
    one = write(tmp_path, "a,b\n1,x\n2,y\n", "one.csv")
    two = write(tmp_path, "a,b\n1,x\n2,y\n", "two.csv")
    table = read_table([one, one, two])
    assert len(table.frame) == 6
    assert table.report.notes == (
        "one.csv holds the same bytes as one.csv: its rows count twice.",
        "two.csv holds the same bytes as one.csv: its rows count twice.",
    )
