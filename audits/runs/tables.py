"""Results as CSV tables that are safe to open in a spreadsheet."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd

from audits.results import tables

_FORMULA = re.compile(r"[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def spreadsheet_safe(frame: pd.DataFrame) -> pd.DataFrame:
    """Return `frame` with an apostrophe before every text that a spreadsheet would run as a formula.

    Text that begins with ``= + - @``, a tab or a line break (or the full-width forms) is changed, in
    cells, index and column names, unless it is a plain number. Columns of numbers stay as they are.

    Examples
    --------
    >>> spreadsheet_safe(pd.DataFrame({"note": ["=1+1", "-3", "fine"], "change": [-1.5, 2.0, 0.0]}))
        note  change
    0  '=1+1    -1.5
    1     -3     2.0
    2   fine     0.0
    """
    safe = pd.DataFrame(
        {place: _safe_column(frame.iloc[:, place]) for place in range(frame.shape[1])}, index=frame.index
    )
    safe.columns = pd.Index([_safe_cell(name) for name in frame.columns])
    index = frame.index
    if len(index) and index.dtype.kind not in "iufb":
        index = index.map(_safe_key)
    safe.index = index.set_names([_safe_cell(name) for name in frame.index.names])
    return safe


def write_csv(frame: pd.DataFrame, path: Path, *, index: bool = True) -> None:
    """Write `frame` as UTF-8 CSV, spreadsheet-safe; missing cells are empty."""
    spreadsheet_safe(frame).to_csv(path, index=index, encoding="utf-8", lineterminator="\n")


def result_tables(result: Any) -> dict[str, pd.DataFrame]:
    """Return every table of an audit's result by name.

    The tables with one row a person come as they are; lists of records in its JSON form become a table
    with one column a key (``mean_difference low``), named after where they lie
    (``transparency-positive``). Lists within records are left to the JSON.
    """
    found = dict(tables(result))
    found.update(_records(result.to_json(), ""))
    return found


def _records(value: Any, name: str) -> dict[str, pd.DataFrame]:
    found: dict[str, pd.DataFrame] = {}
    if isinstance(value, dict):
        for key, item in value.items():
            found.update(_records(item, f"{name}-{key}".lstrip("-")))
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        frame = pd.json_normalize(value, sep=" ")
        flat = [
            name for name in frame.columns if not frame[name].map(lambda cell: isinstance(cell, list)).any()
        ]
        frame = frame[flat]
        if frame.shape[1]:
            found[name] = frame
    return found


def _safe_column(column: pd.Series) -> pd.Series:
    if column.dtype.kind in "iufbcmM" and not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    if isinstance(column.dtype, pd.StringDtype):  # each value once; of others equal ones can be written apart
        codes, distinct = pd.factorize(column)
        safe = [_safe_cell(value) for value in distinct]
        if safe == list(distinct):
            return column
        return pd.Series(pd.array(safe, dtype="str").take(codes, allow_fill=True), index=column.index)
    safe = [_safe_cell(value) for value in column.astype(object)]
    return pd.Series(safe, index=column.index, dtype=object)  # else a 1 beside an empty cell becomes 1.0


def _safe_key(key: Any) -> Any:
    return tuple(_safe_cell(part) for part in key) if isinstance(key, tuple) else _safe_cell(key)


def _safe_cell(value: Any) -> Any:
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return "'" + value
    return value
