"""Row filters and recodes of a spec: structured, so that nothing of it is ever evaluated as code."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.data.frames import with_columns
from audits.data.preprocessing.dates import date_part
from audits.data.spec import Keep, Recode
from audits.data.values import TEXT, as_text, is_missing, match_level, near, text_of
from audits.errors import InputError

EVERYONE_ELSE = "everyone else"
"""The value of people outside the group that a recode makes."""

_RANGE = re.compile(r"(\d+)-(\d+)", re.ASCII)
SIDES: dict[str, tuple[Callable[[Any, Any], pd.Series], str]] = {
    "at_least": (operator.ge, "below"),
    "at_most": (operator.le, "above"),
    "above": (operator.gt, "at most"),
    "below": (operator.lt, "at least"),
}
"""What passes a bound, and how the others are called."""


def known_column(where: str, column: str, frame: pd.DataFrame) -> str:
    """Return `column` if the table has it; the error suggests a near name."""
    if column not in frame.columns:
        raise InputError(
            where, "must be a column of the data", column, near(str(column), map(str, frame.columns))
        )
    return column


def known_columns(where: str, columns: Sequence[str], frame: pd.DataFrame) -> None:
    """Raise `InputError` unless the table has all of the columns; it names all that it lacks."""
    absent = [column for column in columns if column not in frame.columns]
    if len(absent) < 2:
        for column in absent:
            known_column(where, column, frame)
        return
    raise InputError(
        where,
        f"must be columns of the data, but {choices(absent)} are not",
        advice=f"choose {choices(frame.columns)}",
    )


def apply_recodes(frame: pd.DataFrame, recodes: Mapping[str, Recode]) -> tuple[pd.DataFrame, list[str]]:
    """Return the frame with recoded columns, and notes on what the maps did not name.

    Recodes are applied in their order, so that one may read what an earlier one made.
    """
    notes: list[str] = []
    for name, recode in recodes.items():
        if recode.is_group:
            inside = _group(frame, recode, f"data.recode.{name}", notes)
            values = pd.array([name, EVERYONE_ELSE], dtype=TEXT).take(np.where(inside, 0, 1))
            frame = with_columns(frame, {name: pd.Series(values, index=frame.index, name=name)})
            continue
        source = known_column(f"data.recode.{name}.from", recode.source or name, frame)
        if recode.take is not None:
            frame = with_columns(frame, {name: date_part(frame, source, recode, f"data.recode.{name}")})
            continue
        if recode.until is not None:
            raise InputError(f"data.recode.{name}.until", "only applies with take: days or years")
        if not recode.mapping:
            raise InputError(f"data.recode.{name}.map", "must name at least one value")
        frame = with_columns(frame, {name: _recode(frame[source], recode.mapping, name, notes)})
    return frame, notes


def _group(frame: pd.DataFrame, recode: Recode, where: str, notes: list[str]) -> np.ndarray:
    """Return which rows belong to the group that a recode makes (n,)."""
    if recode.mapping or recode.source is not None:
        raise InputError(where, "must have either a map or who belongs to the group (where, rows)")
    inside, _, more = kept_rows(frame, recode.where, where=f"{where}.where")
    notes += more
    if recode.rows:
        inside &= frame.index.isin(rows_named(recode.rows, frame.index, f"{where}.rows"))
    return inside


def rows_named(rows: Sequence[int | str], index: pd.Index, where: str) -> pd.Index:
    """Return the row numbers that a spec names; "9-14" means all from 9 to 14.

    Raises
    ------
    InputError
        If the table lacks one.

    Examples
    --------
    >>> rows_named([2, "4-6"], pd.RangeIndex(1, 10), "rows").tolist()
    [2, 4, 5, 6]
    """
    named: list[int | str] = []
    for each in rows:
        ends = _RANGE.fullmatch(each) if isinstance(each, str) and index.dtype.kind in "iu" else None
        if ends is None:
            named.append(each)
            continue
        inside = index[(index >= int(ends[1])) & (index <= int(ends[2]))]
        if len(inside) != int(ends[2]) - int(ends[1]) + 1:
            raise InputError(where, "must be row numbers of the data", each)
        named += inside.tolist()
    absent = [each for each in named if each not in index]
    if absent:
        raise InputError(where, "must be row numbers of the data", absent[0])
    return pd.Index(named)


def numbers_in_ranges(rows: Sequence[int]) -> list[int | str]:
    """Return row numbers as `rows_named` reads them, neighbors as one range.

    Examples
    --------
    >>> numbers_in_ranges([2, 4, 5, 6, 9, 10])
    [2, '4-6', 9, 10]
    """
    ordered = np.sort(np.asarray(rows, dtype=np.int64))
    told: list[int | str] = []
    for run in np.split(ordered, np.flatnonzero(np.diff(ordered) != 1) + 1):
        told += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else run.tolist()
    return told


def _recode(column: pd.Series, mapping: Mapping[Any, Any], name: str, notes: list[str]) -> pd.Series:
    codes, distinct = pd.factorize(column)
    levels = [text_of(value) for value in distinct]
    new = dict(enumerate(distinct))
    absent: list[str] = []
    named: set[int] = set()
    for old, value in mapping.items():
        level = match_level(old, levels)
        if level is None:
            absent.append(text_of(old))
        else:
            position = levels.index(level)
            new[position], named = value, named | {position}
    if absent:
        notes.append(f"Recode of {name!r}: {choices(absent)} does not occur in {column.name!r}.")
    left = [levels[i] for i in new if i not in named]
    if left:
        rows = int((~np.isin(codes, sorted(named)) & (codes >= 0)).sum())
        kept = "1 row keeps its" if rows == 1 else f"{rows:,} rows keep their"
        notes.append(f"Recode of {name!r}: {kept} value ({choices(left, most=5)}).")
    values = _typed_array([new[i] for i in range(len(levels))])
    return pd.Series(values.take(codes, allow_fill=True), index=column.index, name=name)


def _typed_array(values: Sequence[Any]) -> pd.api.extensions.ExtensionArray:
    """Return values as numbers if all are, as text otherwise; None stays missing."""
    known = [value for value in values if not is_missing(value)]
    kinds = {bool if isinstance(value, (bool, np.bool_)) else type(value) for value in known}
    if known and all(issubclass(kind, (int, float, np.number)) and kind is not bool for kind in kinds):
        whole = len(known) == len(values) and all(float(value).is_integer() for value in known)
        numbers = [np.nan if is_missing(value) else value for value in values]
        return pd.array(numbers, dtype="int64" if whole else "float64")
    return pd.array([None if is_missing(value) else text_of(value) for value in values], dtype=TEXT)


def kept_rows(
    frame: pd.DataFrame, rules: Sequence[Keep], times: pd.Series | None = None, where: str = "data.keep"
) -> tuple[np.ndarray, dict[str, int], list[str]]:
    """Return which rows pass all filters (n,), how many each drops by reason, and notes.

    A row is counted under the first filter that drops it. One whose value is missing fails every
    condition but `not_in` and `missing`, and is counted under a reason of its own. `times` says how many rows
    a line was gathered from; `where` what a message calls the filters.
    """
    kept = np.ones(len(frame), dtype=bool)
    reasons: dict[str, int] = {}
    notes: list[str] = []
    for i, rule in enumerate(rules):
        place = f"{where}[{i}]"
        column = frame[known_column(f"{place}.column", rule.column, frame)]
        missing = column.isna().to_numpy()
        passes, reason = _condition(column, rule, place, notes)
        failed_missing = missing & (rule.not_in is None and rule.missing is None)
        for drops, why in ((~passes & ~missing, reason), (failed_missing, f"{rule.column} is missing")):
            count = rows_of(kept & drops, frame, times)
            kept &= ~drops
            if count:
                reasons[why] = reasons.get(why, 0) + count
    return kept, reasons, notes


def rows_of(mask: np.ndarray, frame: pd.DataFrame, times: pd.Series | None) -> int:
    """Return how many rows the lines of a mask were gathered from; by default one each."""
    return int(mask.sum()) if times is None else int(times.loc[frame.index[mask]].sum())


def _condition(column: pd.Series, rule: Keep, where: str, notes: list[str]) -> tuple[np.ndarray, str]:
    """Return which known values pass, and the reason in words why the others do not."""
    name = rule.column
    if rule.within is not None or rule.not_in is not None:
        wanted = rule.within if rule.within is not None else rule.not_in or ()
        # A value to keep that nobody has is likely a slip; one to drop is often a precaution
        found = _isin(column, wanted, name, notes if rule.within is not None else [])
        listed = choices([text_of(value) for value in wanted])
        return (
            (found, f"{name} is not {listed}") if rule.within is not None else (~found, f"{name} is {listed}")
        )
    if rule.missing:
        return np.zeros(len(column), dtype=bool), f"{name} is known"
    if rule.not_missing:
        return np.ones(len(column), dtype=bool), f"{name} is missing"
    if rule.between is not None:
        low, high = (_bound(column, bound, f"{where}.between") for bound in rule.between)
        inside = ((column >= low) & (column <= high)).to_numpy(dtype=bool, na_value=False)
        return inside, f"{name} is not between {text_of(low)} and {text_of(high)}"
    for key, (passes, fails) in SIDES.items():
        if (given := getattr(rule, key)) is not None:
            bound = _bound(column, given, f"{where}.{key}")
            inside = passes(column, bound).to_numpy(dtype=bool, na_value=False)
            return inside, f"{name} is {fails} {text_of(bound)}"
    raise AssertionError("a rule has one condition")  # `check_rules` has looked


def _isin(column: pd.Series, wanted: Sequence[Any], name: str, notes: list[str]) -> np.ndarray:
    texts = as_text(column)
    levels = texts.dropna().unique().tolist()
    found = {text_of(value): match_level(value, levels) for value in wanted}
    absent = [text for text, level in found.items() if level is None]
    if absent:
        notes.append(f"Filter on {name!r}: {choices(absent)} does not occur.")
    return texts.isin([level for level in found.values() if level is not None]).to_numpy()


def _bound(column: pd.Series, bound: Any, where: str) -> Any:
    """Return a filter's bound as a number, or as a date for a column of dates."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        try:
            if not isinstance(bound, (int, float)):
                return pd.Timestamp(bound).tz_localize(None)
        except ValueError:
            pass
        raise InputError(
            where, f"must be a date, as column {column.name!r} is", bound, "write it as 2024-12-31"
        )
    if (
        isinstance(bound, (int, float))
        and not isinstance(bound, bool)
        and pd.api.types.is_numeric_dtype(column.dtype)
    ):
        return bound
    if not pd.api.types.is_numeric_dtype(column.dtype):
        raise InputError(
            where, f"needs numbers, but column {column.name!r} holds text", bound, "use in or not_in"
        )
    raise InputError(where, "must be a number", bound)
