"""What each column of a read table holds, for the page on which columns are given their parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audits.data import Kind, Table, describe
from audits.data.frames import with_columns
from audits.data.io.preview import Preview
from audits.data.preprocessing.column_names import column_role
from audits.data.values import text_of

_MAX_VALUES = 60
_PREVIEW_ROWS = 50
_MAX = 1_000  # letters of a text that the pages' own process is handed: a cell may hold a million
MAX_GROUPS = 20
_FEW_NUMBERS, _RANGES = 20, 24


@dataclass(frozen=True)
class ColumnProfile:
    """One column: the kind it looks like, cells missing, how many different values, and some of them.

    Attributes
    ----------
    examples : str
        A few values in words.
    values : tuple of str
        The values, the most frequent first, where there are at most 60.
    likely_protected : bool
        Whether its name says that people may be compared by it, and its values are few enough as they are.
    likely_label : int, optional
        Its place among the columns that look like the label, 0 for the likeliest; None for others.
    stores : {"label", "prediction", "score"}, optional
        What its name says that it stores: such a column is no feature unless ticked.
    edges, counts : tuple
        Of a column of many numbers, how they are spread: ends of ranges, and rows in each.
    """

    name: str
    kind: Kind
    missing: int
    distinct: int
    examples: str
    values: tuple[str, ...]
    likely_protected: bool
    likely_label: int | None
    stores: str | None = None
    edges: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()


def profile(table: Table) -> tuple[ColumnProfile, ...]:
    """Describe the columns of a table."""
    described = describe(table)
    likely = set(described["suggested"]["protected"])
    labels = [*described["suggested"]["label"], *described["suggested"]["perhaps"]]
    return tuple(
        ColumnProfile(
            name=column["name"],
            kind=column["kind"],
            missing=_missing(table, column),
            distinct=column["distinct"],
            examples=", ".join(_examples(table, column)),
            values=_values(table.frame[column["name"]], column["distinct"]),
            likely_protected=column["name"] in likely and column["distinct"] <= MAX_GROUPS,
            likely_label=labels.index(column["name"]) if column["name"] in labels else None,
            stores=column_role(column["name"]),
            **_spread(table.frame[column["name"]], column),
        )
        for column in described["columns"]
    )


def as_mended(found: ColumnProfile, data: Mapping[str, Any]) -> ColumnProfile:
    """Return a column as a data section has its values written, where it has some written like others."""
    made = ((data.get("recode") or {}).get(found.name) or {}).get("map") or {}
    stay = set(found.values) - set(made)
    if not made or not set(made.values()) <= {*stay, None}:
        return found
    values = tuple(each for each in found.values if each in stay)
    return dataclasses.replace(found, values=values, distinct=len(values))


def _spread(column: pd.Series, described: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a column of many numbers is spread; the outermost hundredths lie in the last ranges."""
    if described["kind"] not in {"continuous", "integer"} or described["distinct"] <= _FEW_NUMBERS:
        return {}
    values = column.to_numpy(dtype=float, na_value=np.nan)
    values = values[np.isfinite(values)]
    low, high = np.quantile(values, [0.01, 0.99]) if len(values) else (0.0, 0.0)
    if not high > low:
        return {}
    counts, edges = np.histogram(values.clip(low, high), _RANGES, (low, high))
    return {"edges": tuple(edges.tolist()), "counts": tuple(counts.tolist())}


def _missing(table: Table, column: Mapping[str, Any]) -> int:
    stated = table.nulls.get(column["name"]) if isinstance(table, Preview) else None
    return int(column["missing"] if stated is None else stated)


def _examples(table: Table, column: Mapping[str, Any]) -> list[str]:
    """Return a few values; of numbers the ends of all rows, where only some were looked at."""
    found: list[str] = column["examples"]
    ends = table.ends.get(column["name"]) if isinstance(table, Preview) else None
    if ends is None or len(found) != 3 or column["kind"] not in {"continuous", "integer"}:
        return found
    return [text_of(ends[0]), found[1], text_of(ends[1])]


def preview(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the first rows as read, but for the end of long texts."""
    first = frame.head(_PREVIEW_ROWS)
    texts = {
        str(name): column.where(column.str.len().fillna(0) <= _MAX, column.str.slice(0, _MAX - 1) + "…")
        for name, column in first.items()
        if isinstance(column.dtype, pd.StringDtype)
    }
    return with_columns(first, texts)


def _values(column: pd.Series, distinct: int) -> tuple[str, ...]:
    """Return the values to choose from, commonest first; none where they are too many, or too long."""
    if distinct > _MAX_VALUES:
        return ()
    found = tuple(text_of(value) for value in column.value_counts().index)
    return found if all(len(value) <= _MAX for value in found) else ()
