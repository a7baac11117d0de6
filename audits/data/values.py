"""Values as text, columns as numbers: the one home of comparing what a spec says with what a column holds."""

from __future__ import annotations

import datetime
import difflib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.errors import InputError

MISSING = "(missing)"
MISSING_TEXTS = frozenset(
    ["", "?", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "Null", "NaT"]
)
"""What a cell of text says where its value is missing; "-", "." and "none" may be levels there."""
TEXT: Any = "str" if isinstance(pd.Series([], dtype="str").dtype, pd.StringDtype) else object
"""The type of columns of text; of objects in pandas 2, whose ``str`` makes a text of what is missing."""
_TRUE = frozenset({"true", "yes", "y", "t", "1", "on"})
_FALSE = frozenset({"false", "no", "n", "f", "0", "off"})
TRUTH_PAIRS = tuple(frozenset(pair) for pair in (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n")))
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_MAX_EXACT = 2.0**53
_EPOCH = pd.Timestamp("1970-01-01")  # in microseconds, and so far beyond the year 2262, too


def is_missing(value: object) -> bool:
    """Return whether one value is None, NaN, NaT or pandas' NA."""
    return value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and value != value)


def text_of(value: object) -> str:
    """Return one value as the text it is compared, shown and grouped by.

    Whole floats lose their ``.0`` (a column of integers turns to floats as soon as one is missing);
    dates at midnight lose their time.

    Examples
    --------
    >>> [text_of(value) for value in (1, 1.0, 0.5, True, ">50K")]
    ['1', '1', '0.5', 'True', '>50K']
    """
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) <= _MAX_EXACT else repr(number)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (datetime.date, np.datetime64)):
        moment = pd.Timestamp(value)
        return str(moment.date()) if moment == moment.normalize() else str(moment)
    return str(value)


def plain_value(value: object) -> Any:
    """Return one value as JSON has it: None where it is missing, dates as text, numbers as Python's."""
    if is_missing(value):
        return None
    if isinstance(value, (np.number, np.bool_)):
        value = value.item()
    return value if isinstance(value, (bool, int, float, str)) else text_of(value)


def is_true(text: str) -> bool:
    """Return whether a text is a word for yes."""
    return text.lower() in _TRUE


def as_text(column: pd.Series) -> pd.Series:
    """Return a column as text (dtype ``str``), missing values staying missing."""
    codes, distinct = pd.factorize(column)
    texts = pd.array([text_of(value) for value in distinct], dtype=TEXT)
    found = texts.take(codes, allow_fill=True)
    return pd.Series(found, index=column.index, name=column.name)


def places_of(column: pd.Series, levels: Iterable[object]) -> np.ndarray:
    """Return the place of each value among `levels`, compared as text, (n,); -1 for one that is none of them.

    A missing value is at the place of a missing level.

    Examples
    --------
    >>> places_of(pd.Series(["b", 1.0, None, "c"], dtype=object), ["1", "b", None]).tolist()
    [1, 0, 2, -1]
    """
    known = places_by_text(levels)
    codes, distinct = pd.factorize(column)
    found = [known.get(text_of(value), -1) for value in distinct]
    found.append(known.get(None, -1))  # where `factorize` gives -1
    return np.array(found, dtype=np.intp)[codes]


def places_by_text(levels: Iterable[object]) -> dict[str | None, int]:
    """Return the place of each level by its text; of a missing one by None."""
    known: dict[str | None, int] = {}
    for place, level in enumerate(levels):
        known.setdefault(None if is_missing(level) else text_of(level), place)
    return known


def date_of_year(year: float) -> pd.Timestamp:
    """Return a year with a fraction, as figures draw dates, as a date.

    Examples
    --------
    >>> str(date_of_year(2021.5).date())
    '2021-07-01'
    """
    return _EPOCH + pd.Timedelta(days=(year - 1970) * 365.2425)


def number_column(column: pd.Series) -> np.ndarray:
    """Return a column as numbers, (n,) float64: missing as NaN, dates as days since 1970.

    Raises
    ------
    InputError
        If it holds what is no number, or an infinite one.
    """
    where = f"column {str(column.name)!r}"
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        since = column.dt.tz_localize(None) if column.dt.tz is not None else column
        return ((since - _EPOCH) / pd.Timedelta(days=1)).to_numpy(np.float64, na_value=np.nan)
    try:
        values = column.to_numpy(np.float64, na_value=np.nan)
    except (ValueError, TypeError):
        raise InputError(
            where, "must hold numbers to be read as such", column.iloc[0], "set its kind"
        ) from None
    infinite = int(np.isinf(values).sum())
    if infinite:
        are = "is" if infinite == 1 else "are"
        raise InputError(where, f"must hold finite numbers, but {infinite:,} {are} not")
    return values


def truth_values(column: pd.Series) -> pd.Series:
    """Return texts that all say true or false as truth values, 1.0 or 0.0 where some are missing.

    Texts as a CSV file has them, which anything else reads as truth values. Any other column is returned as
    it is.
    """
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column
    known = column.dropna()
    texts = known.astype(str).str.lower()
    if not len(known) or not texts.isin(["true", "false"]).all():
        return column
    made = (texts == "true").reindex(column.index)
    return made.astype(bool if len(known) == len(column) else np.float64)


def holds_numbers(column: pd.Series) -> bool:
    """Return whether a column is one of numbers, which truth values are not."""
    return pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)


def near(text: str, options: Iterable[str]) -> str:
    """Return advice about a text that is none of `options`: the nearest, or what there is."""
    options = list(options)
    if not options:
        return "there are none"
    if all(_NUMBER.fullmatch(option) for option in options):
        return f"choose {choices(map(json.loads, options))}"
    squeezed = {option.casefold().replace(" ", ""): option for option in options}
    close = difflib.get_close_matches(text.casefold().replace(" ", ""), squeezed, n=1)
    return f"did you mean {squeezed[close[0]]!r}" if close else f"choose {choices(options)}"


def match_level(value: object, levels: Sequence[str]) -> str | None:
    """Return the one of `levels` that `value` means, compared as text; None if there is none.

    A YAML ``yes`` or ``true`` arrives as ``True``: it also means the one level that says so in words; and 1
    means the ``True`` of truth values, as it does in Python.
    """
    text = text_of(value)
    if text in levels:
        return text
    if all(level.lower() in {"true", "false"} for level in levels):
        text = {"1": "true", "0": "false"}.get(text, text)
    if text.lower() in {"true", "false"}:
        said = [level for level in levels if level.lower() in (_TRUE if text.lower() == "true" else _FALSE)]
        if len(said) == 1:
            return said[0]
    return None


def find_level(
    where: str, value: object, levels: Sequence[str], *, rule: str = "must be a value in the data"
) -> str:
    """Return the one of `levels` that `value` means, see `match_level`.

    Raises
    ------
    InputError
        If no level matches; suggests the nearest.
    """
    level = match_level(value, levels)
    if level is None:
        raise InputError(where, rule, value, near(text_of(value), levels))
    return level
