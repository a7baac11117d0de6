"""What kind of values a column holds, inferred from the data and overridable by the user."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd
import pyarrow as pa

from audits.checks import choices
from audits.data.io.columns import convert_texts
from audits.data.values import TRUTH_PAIRS, as_text, text_of
from audits.errors import InputError

Kind = Literal["continuous", "integer", "boolean", "categorical", "ordinal", "text", "identifier", "datetime"]
Role = Literal["actionable", "mutable", "immutable"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ROLES: tuple[Role, ...] = get_args(Role)

_UNNAMED = re.compile(r"(unnamed[_: ].*|index|level_0|__index_level_\d+__)", re.IGNORECASE)
_ID_WORDS = frozenset({"id", "ids", "uid", "uuid", "guid", "idx", "rowid", "identifier", "ssn", "iban"})
_MANY = 100
_SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("none", "low", "moderate", "high"),
    ("small", "medium", "large"),
)
_BELOW = re.compile(r"<|\b(less|below|under|up to|younger|fewer|lower)\b", re.IGNORECASE)
_ABOVE = re.compile(r">|\+|\b(greater|above|over|more|older|higher|plus)\b", re.IGNORECASE)


def infer_kinds(frame: pd.DataFrame) -> dict[str, Kind]:
    """Return the kind of each column, see `infer_kind`."""
    return {str(name): infer_kind(frame[name]) for name in frame.columns}


def infer_kind(column: pd.Series, rows: int | None = None) -> Kind:
    """Return the kind that a column's values and name suggest.

    * boolean: only 0 and 1, or only yes/no, true/false, t/f, y/n;
    * datetime: dates; integer: whole numbers; continuous: other numbers;
    * identifier: whole numbers or words that are (nearly) all different and named like an id,
      a column of different whole numbers without a name, and words nearly all different (names,
      hashes): more than 100 different ones, over half of all, or 20 all different of 8 letters on;
    * text: phrases of three words or more on average, more than 20 different, over a fifth of all;
    * categorical: everything else, a column without values too. Ordinal is never guessed.

    `rows` says of how many rows the values are, where lines were gathered from several.
    """
    known = column.dropna()
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return "datetime"
    if pd.api.types.is_bool_dtype(column.dtype):
        return "boolean"
    if not len(known):
        return "categorical"
    if pd.api.types.is_numeric_dtype(column.dtype):
        return _kind_of_numbers(str(column.name), known, rows or len(known))
    return _kind_of_texts(str(column.name), known, rows or len(known))


def _kind_of_numbers(name: str, known: pd.Series, rows: int) -> Kind:
    values = known.to_numpy()
    if np.isin(values, (0, 1)).all():
        return "boolean"
    if not (np.isfinite(values).all() and (values == np.floor(values)).all()):
        return "continuous"
    share = known.nunique() / rows
    if len(known) > 1 and (
        (share > 0.5 and _named_like_id(name)) or (share == 1 and _UNNAMED.fullmatch(name))
    ):
        return "identifier"
    return "integer"


def _kind_of_texts(name: str, known: pd.Series, rows: int) -> Kind:
    levels = pd.Series(known.unique(), dtype="str")
    share = len(levels) / rows
    if len(levels) <= 2 and any(set(levels.str.lower()) <= pair for pair in TRUTH_PAIRS):
        return "boolean"
    if share > 0.5 and len(known) > 1 and _named_like_id(name):
        return "identifier"
    words = levels.str.count(r"\s+").mean() + 1
    if words >= 3 and len(levels) > 20 and share > 0.2:
        return "text"
    hashes = share == 1 and len(levels) >= 20 and levels.str.len().mean() >= 8
    return "identifier" if hashes or (len(levels) > _MANY and share > 0.5) else "categorical"


def _named_like_id(name: str) -> bool:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    parts = [part.lower() for part in re.split(r"[^A-Za-z0-9]+", words) if part]
    return bool(parts) and bool({parts[0], parts[-1]} & _ID_WORDS)


def as_kind(column: pd.Series, kind: Kind, where: str) -> pd.Series:
    """Return a column as the kind the user wants it to be; values stay as they are where they can.

    Text becomes numbers or dates for the kinds that need them; nothing else is changed.

    Raises
    ------
    InputError
        If a value does not fit: says which, or how many values a boolean column has.
    """
    if kind in {"continuous", "integer"}:
        return _as_numbers(column, kind, where)
    if kind == "datetime" and not pd.api.types.is_datetime64_any_dtype(column.dtype):
        made = _reread(column) if pd.api.types.is_string_dtype(column.dtype) else column
        if not pd.api.types.is_datetime64_any_dtype(made.dtype):
            raise InputError(where, "must hold dates such as 2024-12-31", _first(column))
        return made
    if kind == "boolean" and column.nunique() > 2:
        shown = choices(as_text(column).dropna().unique().tolist(), most=4)
        raise InputError(where, f"must hold two values at most, but has {column.nunique():,} ({shown})")
    return column


def _as_numbers(column: pd.Series, kind: Kind, where: str) -> pd.Series:
    made = column
    if pd.api.types.is_bool_dtype(column.dtype):
        made = column.astype("int64")
    elif pd.api.types.is_string_dtype(column.dtype):
        made = pd.to_numeric(column, errors="coerce")
        bad = made.isna() & column.notna()
        if bad.any():
            raise InputError(
                where, f"must hold numbers to be {kind}", column[bad].iloc[0], "recode or drop it"
            )
    elif not pd.api.types.is_numeric_dtype(column.dtype):
        raise InputError(
            where, f"must hold numbers to be {kind}", _first(column), "leave its kind to be inferred"
        )
    made = made if made.dtype.kind in "if" else made.astype(float)
    values = made.to_numpy(dtype=float)
    broken = np.isfinite(values) & (values != np.floor(values))
    if kind == "integer" and broken.any():
        raise InputError(
            where, "must hold whole numbers to be integer", float(values[broken][0]), "use continuous"
        )
    return made


def _reread(column: pd.Series) -> pd.Series:
    text = pa.table({"": column}).column(0).cast(pa.string())
    return convert_texts({str(column.name): text})[str(column.name)].values.set_axis(column.index)


def _first(column: pd.Series) -> str | None:
    known = column.dropna()
    return text_of(known.iloc[0]) if len(known) else None


def level_order(column: pd.Series, given: Sequence[str] | None, where: str) -> tuple[str, ...]:
    """Return the levels of an ordinal column as text, lowest first.

    Numbers and dates go by size. Texts go as given, or by a known scale (low, medium, high), or by
    the numbers in them ("Less than 25", "25 - 45", "Greater than 45").

    Raises
    ------
    InputError
        If the order cannot be told, or the one given lacks a level.
    """
    levels = as_text(pd.Series(column.dropna().unique(), dtype=column.dtype).sort_values()).tolist()
    if given is not None:
        if len(set(given)) < len(given):
            raise InputError(where, "must list each level once", list(given))
        lacking = [level for level in levels if level not in given]
        if lacking:
            raise InputError(where, f"must list every level, but lacks {lacking[0]!r}", list(given))
        return tuple(level for level in given if level in levels)
    if not pd.api.types.is_string_dtype(column.dtype):
        return tuple(levels)
    for scale in _SCALES:
        if {level.lower() for level in levels} <= set(scale):
            return tuple(sorted(levels, key=lambda level: scale.index(level.lower())))
    ranks: Mapping[str, float | None] = {level: _rank(level) for level in levels}
    found = [rank for rank in ranks.values() if rank is not None]
    if len(set(found)) < len(levels):
        raise InputError(where, "has levels whose order is unclear", advice="list them, lowest first")
    return tuple(sorted(levels, key=lambda level: ranks[level] or 0.0))


def _rank(level: str) -> float | None:
    number = re.search(r"\d+(\.\d+)?", level.replace(",", ""))
    if number is None:
        return None
    return float(number[0]) + 0.5 * bool(_ABOVE.search(level)) - 0.5 * bool(_BELOW.search(level))
