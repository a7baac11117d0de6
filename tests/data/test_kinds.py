"""Kinds: what is inferred, what can be overridden, and what cannot."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import infer_kinds, read_table
from audits.data.kinds import as_kind, level_order
from audits.data.values import as_text
from tests.refused import refused


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [
        ([0, 1, 1], "x", "boolean"),
        ([0.0, 1.0, np.nan], "x", "boolean"),
        ([True, False], "x", "boolean"),
        (["yes", "no", None], "x", "boolean"),
        (["Yes", "no", "yes"], "x", "categorical"),
        (["male", "female"], "x", "categorical"),
        ([1, 2, 2], "x", "integer"),
        ([np.inf, 1.0, 2.0], "x", "continuous"),
        ([np.nan, np.nan], "x", "categorical"),
        (pd.to_datetime(["2024-01-01", None]), "x", "datetime"),
        (["1", "2", "1"], "x", "categorical"),
        (list(range(50)), "x", "integer"),
        (list(range(50)), "unnamed_1", "identifier"),
        (list(range(50)), "PassengerId", "identifier"),
        (list(range(50)), "paid", "integer"),
        ([1, 2, 3] * 20, "education_id", "integer"),
        ([x + 0.5 for x in range(50)], "sander_index", "continuous"),
        ([f"0x{i:08d}" for i in range(30)], "hash", "identifier"),
        ([f"town{i}" for i in range(150)] + ["town1"] * 50, "town", "identifier"),
        ([f"zip{i % 300}" for i in range(3000)], "zip", "categorical"),
        ([f"they said that {i} was enough" for i in range(30)], "comment", "text"),
        (["Never worked at all", "Worked for a while"] * 30, "history", "categorical"),
    ],
)
def test_inferred(values: object, name: str, expected: str):
    assert infer_kinds(pd.DataFrame({name: values})) == {name: expected}


def test_overrides_convert_where_that_loses_nothing():
    codes = pd.Series(["007", "010", None], name="x")
    assert as_kind(codes, "integer", "k").tolist()[:2] == [7, 10]
    assert as_kind(pd.Series([True, False]), "integer", "k").tolist() == [1, 0]
    assert as_kind(pd.Series(["1.5", "2"]), "continuous", "k").tolist() == [1.5, 2.0]
    assert as_kind(pd.Series(["2024-12-31"]), "datetime", "k").tolist() == [pd.Timestamp("2024-12-31")]
    assert as_kind(codes, "categorical", "k") is codes


@pytest.mark.parametrize(
    ("values", "kind", "tells"),
    [
        (["30", "forty"], "continuous", ("'forty'",)),
        ([1.0, 1.5], "integer", ("1.5",)),
        ([1, 2, 3], "boolean", ("'1'", "'2'", "'3'")),
        (["forty", "2024-01-01"], "datetime", ("2024", "12", "31", "'forty'")),
        (pd.to_datetime(["2024-01-01"]), "integer", ("'2024-01-01'",)),
    ],
)
def test_overrides_that_cannot_be(values: object, kind: str, tells: tuple):
    with refused("data.kinds.x", *tells):
        as_kind(pd.Series(values, name="x"), kind, "data.kinds.x")


@pytest.mark.parametrize(
    ("levels", "told", "expected"),
    [
        (["high", "low", "medium"], None, ("low", "medium", "high")),
        (
            ["25 - 45", "Greater than 45", "Less than 25"],
            None,
            ("Less than 25", "25 - 45", "Greater than 45"),
        ),
        (["10-19", "0-9", "100+"], None, ("0-9", "10-19", "100+")),
        ([10, 9, 100], None, ("9", "10", "100")),
        (["a", "b"], ("b", "c", "a"), ("b", "a")),
    ],
)
def test_orders(levels: list, told: tuple | None, expected: tuple):
    assert level_order(pd.Series(levels), told, "o") == expected
    for wrong, *tells in ((None,), (("a",), "'b'"), (("a", "b", "a"), "'a'", "'b'")):
        with refused("o", *tells):
            level_order(pd.Series(["cook", "judge"] if wrong is None else ["a", "b"]), wrong, "o")


def test_a_missing_text_is_no_text_in_any_pandas(tmp_path):
    """In pandas 2 ``str`` made the text None or nan of what is missing; `make lowest` runs this there."""
    rows = "".join(f"rent,2024-01-01,{each}\n,,{each}\nown,2024-01-02,{each}\n" for each in range(9))
    (tmp_path / "people.csv").write_text(f"home,moved,years\n{rows}", encoding="utf-8")
    frame = read_table(tmp_path / "people.csv").frame
    assert frame["home"].isna().sum() == 9
    assert set(frame["home"].dropna()) == {"rent", "own"}
    assert as_text(frame["home"]).isna().sum() == as_text(frame["moved"]).isna().sum() == 9
