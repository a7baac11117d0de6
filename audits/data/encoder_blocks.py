"""How one raw column becomes encoded columns and back: the parts of a `FeatureSpace`, and of what trees read.

A column of numbers, dates, ranks or two values becomes one z-scored column (two values: 0 and 1,
not scaled); a categorical one becomes a block with an entry of 0.5 for its level, so that another
level costs 0.5 + 0.5 = 1 under L1. Where the fitted data misses values, numbers get a further
column "... is missing" and categories a further level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from audits.data.kinds import Kind
from audits.data.values import as_text, is_missing, is_true, number_column, places_of, plain_value, text_of
from audits.errors import InputError

_SECOND = 1.0 / 86_400
_NUMBERS = ("mean", "sd", "low", "high", "step", "fill")  # of a `NumberBlock`


@dataclass(frozen=True, eq=False)
class NumberBlock:
    """One column of numbers, and one that marks the missing where there are any.

    Attributes
    ----------
    column : str
        The raw column.
    names : tuple of str
        Names of the encoded columns (1 or 2).
    kind : Kind
        "continuous", "integer", "datetime", "ordinal" or "boolean".
    mean, sd : float
        What encodes: ``(x - mean) / sd``, in raw units (days since 1970, ranks from 0).
    low, high : float
        Observed range, to which decoding clips.
    step : float
        Decoded values are multiples of it; 0 for any number.
    fill : float
        Encoded value of a missing cell.
    levels : Series
        The raw values by rank, for ordinal and boolean columns; otherwise empty, of the raw dtype.
    """

    column: str
    names: tuple[str, ...]
    kind: Kind
    mean: float
    sd: float
    low: float
    high: float
    step: float
    fill: float
    levels: pd.Series

    def encode(self, raw: pd.Series, *, unknown: str) -> np.ndarray:
        """Return the encoded columns, (n, 1) or (n, 2)."""
        z = np.empty((len(raw), len(self.names)))
        missing = self.write(self._numbers(raw, unknown), z)
        if len(self.names) == 1 and unknown == "error" and missing.any():
            raise _unknown(self.column, raw, missing, "a value (none was missing when the space was fitted)")
        return z

    def write(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Write numbers (n,), NaN where missing, into `z`, (n, 1) or (n, 2); return which are missing."""
        missing = np.isnan(x)
        own = (x - self.mean) / self.sd
        own[missing] = self.fill
        z[:, 0] = own
        if len(self.names) == 2:
            z[:, 1] = missing
        return missing

    def described(self) -> dict[str, Any]:
        """Return the block as plain data, see `FeatureSpace.described`."""
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        marks = {"marks_missing": len(self.names) == 2}
        return {"column": self.column, "kind": self.kind, **numbers, **marks, **_levels_dict(self.levels)}

    def decode(self, z: np.ndarray) -> pd.Series:
        """Return admissible raw values of encoded columns (n, 1) or (n, 2)."""
        missing = z[:, 1] >= 0.5 if len(self.names) == 2 else np.zeros(len(z), dtype=bool)
        with np.errstate(over="ignore"):
            x = z[:, 0] * self.sd + self.mean
        if self.step:
            x = np.round(x / self.step) * self.step
        x = np.clip(x, self.low, self.high)
        dtype = self.levels.dtype
        if len(self.levels):
            codes = np.where(missing, -1, x).astype(np.int64)
            return pd.Series(self.levels.array.take(codes, allow_fill=bool(missing.any())), name=self.column)
        if self.kind == "datetime":
            moments = np.rint(x * 86_400e6).astype(np.int64).astype("datetime64[us]")
            moments[missing] = np.datetime64("NaT")
            return pd.Series(moments, name=self.column).astype(dtype)
        x[missing] = np.nan
        return pd.Series(x, name=self.column).astype(dtype)

    def _numbers(self, raw: pd.Series, unknown: str) -> np.ndarray:
        if not len(self.levels):
            return _measure(raw, self.kind)
        codes = places_of(raw, self.levels)
        strange = (codes < 0) & raw.notna().to_numpy()
        if strange.any() and unknown == "error":
            raise _unknown(self.column, raw, strange, "one of the values the space was fitted on")
        return np.where(codes < 0, np.nan, codes.astype(float))


@dataclass(frozen=True, eq=False)
class LevelBlock:
    """A categorical column: one encoded column a level, 0.5 for the row's own.

    Attributes
    ----------
    column : str
        The raw column.
    names : tuple of str
        Names of the encoded columns: ``"workclass=Private"``, and last ``"workclass is missing"``.
    levels : Series
        The raw values in the order of `names`, the missing one last where there is one.
    codes : array (levels + 1, width), optional
        What each level becomes, and last what one that is not known does: of a model that was fitted with
        codes of its own.
    """

    column: str
    names: tuple[str, ...]
    levels: pd.Series
    codes: np.ndarray | None = None

    def encode(self, raw: pd.Series, *, unknown: str) -> np.ndarray:
        """Return the block (n, width)."""
        places = places_of(raw, self.levels)
        strange = places < 0
        if unknown == "error" and strange.any():
            raise _unknown(self.column, raw, strange, "one of the values the space was fitted on")
        return self._entries[places]  # -1 is the last row

    def write(self, places: np.ndarray | Sequence[int], z: np.ndarray) -> None:
        """Write levels by their places (n,), -1 where not known, into `z` (n, width)."""
        if len(places) == 1:  # a single row is not to wait for an array of one place
            z[0] = self._entries[places[0]]
        else:
            z[:] = self._entries[places]  # -1 is the last row

    @cached_property
    def _entries(self) -> np.ndarray:
        """What each level becomes, and last what one that is not known does, (levels + 1, width)."""
        return np.eye(len(self.names) + 1, len(self.names)) / 2 if self.codes is None else self.codes

    def described(self) -> dict[str, Any]:
        """Return the block as plain data, see `FeatureSpace.described`."""
        return {"column": self.column, "kind": "categorical", **_levels_dict(self.levels)}

    def decode(self, z: np.ndarray) -> pd.Series:
        """Return the level with the largest entry, the first of equals."""
        return pd.Series(self.levels.array.take(np.argmax(z, axis=1)), name=self.column)


Block = NumberBlock | LevelBlock


def _levels_dict(levels: pd.Series) -> dict[str, Any]:
    return {
        "levels": _texts(levels),
        "values": [plain_value(value) for value in levels],
        "dtype": str(levels.dtype),
    }


def restored_block(entry: Mapping[str, Any], *, texts: bool) -> Block:
    """Return the block that `described` described; its levels as their `texts`, or of the type they had.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the description is none.
    """
    column = str(entry["column"])
    levels = pd.Series(entry["levels"], dtype=object)
    if not texts:
        levels = pd.Series(entry["values"], dtype=entry["dtype"])
    if entry["kind"] == "categorical":
        return LevelBlock(column, _level_names(column, levels), levels)
    names = _number_names(column, entry["kind"], levels, marks_missing=entry["marks_missing"])
    numbers = {name: float(entry[name]) for name in _NUMBERS}
    return NumberBlock(column=column, names=names, kind=entry["kind"], levels=levels, **numbers)


def number_block(
    raw: pd.Series, kind: Kind, *, order: tuple[str, ...] = (), weights: np.ndarray | None = None
) -> NumberBlock:
    """Fit the block of a column of numbers, dates, ranks or two values.

    Raises
    ------
    InputError
        If the column holds infinite values.
    """
    column = str(raw.name)
    levels = _ordered_levels(raw, kind, order)
    missing = raw.isna().to_numpy()
    names = _number_names(column, kind, levels, marks_missing=bool(missing.any()))
    x = places_of(raw, levels).astype(float) if len(levels) else _measure(raw, kind)
    known = x[~missing]
    mean, sd = (
        (0.0, 1.0) if kind == "boolean" else _moments(known, None if weights is None else weights[~missing])
    )
    low, high = (known.min(), known.max()) if known.size else (0.0, 0.0)
    step = 0.0 if kind == "continuous" else 1.0
    if kind == "datetime":
        step = _date_step(raw.dropna())
    fill = 0.5 if kind == "boolean" else 0.0
    return NumberBlock(column, names, kind, mean, sd, float(low), float(high), step, fill, levels)


def _number_names(column: str, kind: Kind, levels: pd.Series, *, marks_missing: bool) -> tuple[str, ...]:
    name = column
    if kind == "boolean" and len(levels) == 2 and text_of(levels.iloc[1]) not in {"1", "True"}:
        name = f"{column}={text_of(levels.iloc[1])}"
    return (name, f"{column} is missing") if marks_missing else (name,)


def _level_names(column: str, levels: pd.Series) -> tuple[str, ...]:
    return tuple(f"{column} is missing" if text is None else f"{column}={text}" for text in _texts(levels))


def _texts(levels: pd.Series) -> list[str | None]:
    return [None if is_missing(value) else text_of(value) for value in levels]


def _date_step(known: pd.Series) -> float:
    """Return 1 (days) if all dates are whole days, a second if all are whole seconds, else 0."""
    if (known == known.dt.floor("D")).all():
        return 1.0
    return _SECOND if (known == known.dt.floor("s")).all() else 0.0


def level_block(raw: pd.Series) -> LevelBlock:
    """Fit the block of a categorical column; levels sorted, numbers by size, the missing last."""
    levels = pd.Series(raw.dropna().unique(), dtype=raw.dtype).sort_values(ignore_index=True)
    if raw.isna().any():
        levels = pd.concat([levels, raw[raw.isna()].iloc[:1]], ignore_index=True)
    return LevelBlock(str(raw.name), _level_names(str(raw.name), levels), levels)


def _ordered_levels(raw: pd.Series, kind: Kind, order: tuple[str, ...]) -> pd.Series:
    if kind not in {"ordinal", "boolean"}:
        return raw.iloc[:0]
    levels = pd.Series(raw.dropna().unique(), dtype=raw.dtype).sort_values(ignore_index=True)
    texts = as_text(levels)
    if kind == "boolean":
        # False, no and 0 come before True, yes and 1 whatever the alphabet says
        return levels.iloc[np.argsort([is_true(text) for text in texts], kind="stable")].reset_index(
            drop=True
        )
    if order:
        rank = {text: position for position, text in enumerate(order)}
        return levels.iloc[np.argsort([rank[text] for text in texts])].reset_index(drop=True)
    return levels


def _measure(raw: pd.Series, kind: Kind) -> np.ndarray:
    """Return numbers (dates as days since 1970), NaN where missing: (n,)."""
    if kind == "datetime" and not pd.api.types.is_datetime64_any_dtype(raw.dtype):
        raise InputError(f"column {str(raw.name)!r}", "must hold dates", raw.dtype.name)
    return number_column(raw)


def _moments(x: np.ndarray, weights: np.ndarray | None) -> tuple[float, float]:
    """Return mean and standard deviation (ddof 0); a constant column has itself and 1."""
    if x.size == 0:
        return 0.0, 1.0
    if x.min() == x.max():
        return float(x[0]), 1.0
    # value by value: neither the order of rows nor their form decides a last digit, and with it a tie
    x, place = np.unique(x, return_inverse=True)
    weights = np.bincount(place, weights)
    largest = float(np.abs(x).max())
    unit = 1.0 if 1e-100 < largest < 1e100 else largest  # keeps squares in range
    start = x[0] / unit  # centered first: a column of large, close numbers keeps its digits
    steps = x / unit - start
    middle = float(np.average(steps, weights=weights))
    sd = float(np.sqrt(np.average((steps - middle) ** 2, weights=weights)))
    mean, sd = (start + middle) * unit, sd * unit or 1.0
    # a column of z-scores stays as it is to the last digit: re-scaling by rounding would break ties again
    return (0.0, 1.0) if abs(mean) < 1e-12 and abs(sd - 1.0) < 1e-12 else (mean, sd)


def _unknown(column: str, raw: pd.Series, bad: np.ndarray, rule: str) -> InputError:
    first = raw.iloc[int(np.argmax(bad))]
    advice = 'encode with unknown="zero" to treat it as an unknown value'
    return InputError(
        f"column {column!r}", f"must hold {rule}", None if pd.isna(first) else text_of(first), advice
    )
