"""The levels of a column: values of a category, and numbers cut at round ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from audits.data.values import MISSING

_FEW_VALUES = 8  # numbers of at most so many values are taken value by value
_SCALED = {"continuous", "integer", "datetime"}
_FIRST_DAY = pd.Timestamp("1970-01-01")


@dataclass(frozen=True, eq=False)
class ColumnLevels:
    """Each row's level of a column (n,), and what the levels are called."""

    code: np.ndarray
    names: tuple[str, ...]


def values_of(column: pd.Series, kind: str) -> tuple[np.ndarray, bool]:
    """Return a column's numbers, dates in days, or codes of its values (0: missing); and whether codes."""
    if kind not in _SCALED:
        return pd.factorize(column.astype("string"), sort=True)[0] + 1, True
    if pd.api.types.is_datetime64_any_dtype(column):
        days = (column.dt.tz_localize(None) - _FIRST_DAY) / pd.Timedelta(days=1)
        return days.to_numpy(dtype=float, na_value=np.nan), False
    return pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan), False


def levels_of(column: pd.Series, kind: str, bins: int) -> ColumnLevels:
    """Return the levels of a column; missing values are one, the last."""
    numbers, category = values_of(column, kind)
    known = numbers > 0 if category else ~np.isnan(numbers)
    distinct, first, code = np.unique(numbers[known], return_index=True, return_inverse=True)
    if category or len(distinct) <= _FEW_VALUES:
        names = column[known].astype("string").iloc[first].tolist()
    else:
        ends, names = _cut(numbers[known], bins, dates=pd.api.types.is_datetime64_any_dtype(column))
        code = np.searchsorted(ends, numbers[known], side="right")
    codes = np.full(len(numbers), len(names))
    codes[known] = code
    return ColumnLevels(codes, (*map(str, names), *[MISSING][: int(not known.all())]))


def _cut(numbers: np.ndarray, bins: int, *, dates: bool) -> tuple[list[float], list[str]]:
    """Return the ends at which to cut, and the names of the levels between them."""
    ends = _ends(numbers, bins, whole=dates or bool((numbers == np.rint(numbers)).all()))
    if dates:
        days = [math.floor(numbers.min()), *ends, math.floor(numbers.max()) + 1]
        said = [str((_FIRST_DAY + pd.Timedelta(days=day)).date()) for day in days]
        return ends, [f"{low} to under {high}" for low, high in pairwise(said)]
    ends = ends or [float(numbers.max())]
    said = [f"{end:,.12g}" for end in ends]
    between = [f"{low} to under {high}" for low, high in pairwise(said)]
    return ends, [f"below {said[0]}", *between, f"{said[-1]} or more"]


def _ends(numbers: np.ndarray, bins: int, *, whole: bool) -> list[float]:
    """Return the round numbers nearest to quantiles at which to cut; 0 and 1 are never in one level.

    Examples
    --------
    >>> _ends(np.arange(18, 66), 4, whole=True), _ends(np.array([0] * 60 + [*range(1, 41)]), 4, whole=True)
    ([30.0, 40.0, 50.0], [1.0, 20.0])
    """
    ends = [1.0] if whole and numbers.min() == 0 else []
    for k in range(1, bins):
        low, high = np.quantile(numbers, [(k - 0.3) / bins, (k + 0.3) / bins])
        end = _round(float(low), float(high), whole)
        if numbers.min() < end <= numbers.max() and (not ends or end > ends[-1]):
            ends.append(end)
    return ends


def _round(low: float, high: float, whole: bool) -> float:
    """Return the roundest number from `low` to `high`.

    Examples
    --------
    >>> _round(27.4, 34.2, True), _round(2.93, 3.08, False), _round(5, 5, True)
    (30.0, 3.0, 5.0)
    """
    width = max(high - low, abs(high) * 1e-6, 1e-300)
    power = min(math.floor(math.log10(max(abs(low), abs(high), width))) + 1, 308)
    while True:
        for part in (1.0, 0.5, 0.2):
            step = part * 10.0**power
            found = math.ceil(low / step - 1e-9) * step
            if found <= high + 1e-9 * width and (not whole or found == round(found)):
                return float(f"{found:.12g}")
        power -= 1
        if whole and power < 0:
            return float(math.ceil(low))
