"""One person beside others: values as they are told, and what they differ in most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from app.tables.handles import DataHandle
from audits.data.values import is_missing, text_of
from audits.stats.text import number

MAX_ASSOCIATION = 2
"""Columns in which two people differ that a sentence names."""
_MAX_SPREAD = 2_000
FAVORABLE = {True: "favorable", False: "unfavorable"}
"""A decision in words, where the data have none."""


def beside(raw: pd.DataFrame, headings: Sequence[str], spreads: Mapping[str, float]) -> pd.DataFrame:
    """Return people side by side as text, a row a column of theirs, what the first two differ in most on top.

    Parameters
    ----------
    raw : DataFrame
        One row per person, in the order of `headings`; two or more.
    spreads : mapping
        Standard deviation of columns of numbers; where it is not known, another value counts as 1.
    """
    pairs = {str(name): raw[name].iloc[:2].tolist() for name in raw.columns}
    order = sorted(raw.columns, key=lambda name: -far(pairs[str(name)], spreads.get(str(name))))
    table = pd.DataFrame(
        {name: [value_text(value) for value in raw[name]] for name in order}, index=list(headings)
    ).T
    gaps = [gap(pairs[str(name)], pd.api.types.is_numeric_dtype(raw[name])) for name in order]
    table.insert(2, "difference", gaps)
    table.index.name = "feature"
    return table


def spreads_of(data: DataHandle, rows: pd.Index, columns: Sequence[str]) -> dict[str, float]:
    """Return the standard deviation of each column of numbers, among some of those people."""
    known = data.frame.loc[rows[:_MAX_SPREAD], list(columns)].select_dtypes("number")
    return {str(name): float(value) for name, value in known.std().dropna().items()}


def most_different(table: pd.DataFrame) -> str:
    """Word what two people differ in most, of a table that `beside` made.

    Examples
    --------
    >>> most_different(pd.DataFrame({"a": ["1", "x"], "b": ["2", "x"], "difference": ["−1", ""]}, ["n", "c"]))
    'They differ most in n (1, not 2).'
    """
    differ = table[table["difference"] != ""].head(MAX_ASSOCIATION)
    told = [f"{name} ({row.iloc[0]}, not {row.iloc[1]})" for name, row in differ.iterrows()]
    return f"They differ most in {' and '.join(told)}." if told else "They differ in no known column."


def far(pair: Sequence[object], spread: float | None) -> float:
    """Return how far two values are apart: in standard deviations, and 1 for another category."""
    first, second = pair
    if value_text(first) == value_text(second):
        return 0.0
    if spread and not is_missing(first) and not is_missing(second):
        return abs(float(first) - float(second)) / spread  # type: ignore[arg-type]
    return 1.0


def value_text(value: object) -> str:
    """Return a value as it is told."""
    return "(missing)" if is_missing(value) else text_of(value)


def gap(pair: Sequence[object], numeric: bool) -> str:
    """Return in what two values differ, as text; empty where they do not."""
    first, second = pair
    if value_text(first) == value_text(second):
        return ""
    if numeric and not is_missing(first) and not is_missing(second):
        return signed_gap(float(first), float(second))  # type: ignore[arg-type]
    return "differs"


def signed_gap(first: float, second: float) -> str:
    """Return a difference of numbers with its sign."""
    if first == second:
        return ""
    return ("+" if first > second else "−") + number(abs(first - second))


def without_group(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of people whose groups' columns are named after the attributes alone."""
    return table.rename(columns=lambda name: str(name).removeprefix("group: "))
