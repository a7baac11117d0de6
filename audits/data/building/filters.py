"""Row filters and recodes of a spec: structured, so that nothing of it is ever evaluated as code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.data.frames import with_columns
from audits.data.spec import Keep, Recode
from audits.data.values import as_text, is_missing, match_level, near, text_of
from audits.errors import InputError

__all__ = ["apply_recodes", "kept_rows", "known_column", "known_columns", "rows_of"]


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
        source = known_column(f"data.recode.{name}.from", recode.source or name, frame)
        if not recode.mapping:
            raise InputError(f"data.recode.{name}.map", "must name at least one value")
        frame = with_columns(frame, {name: _recoded(frame[source], recode.mapping, name, notes)})
    return frame, notes


def _recoded(column: pd.Series, mapping: Mapping[Any, Any], name: str, notes: list[str]) -> pd.Series:
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
    values = _typed([new[i] for i in range(len(levels))])
    return pd.Series(values.take(codes, allow_fill=True), index=column.index, name=name)


def _typed(values: Sequence[Any]) -> pd.api.extensions.ExtensionArray:
    """Return values as numbers if all are, as text otherwise; None stays missing."""
    known = [value for value in values if not is_missing(value)]
    kinds = {bool if isinstance(value, (bool, np.bool_)) else type(value) for value in known}
    if known and all(issubclass(kind, (int, float, np.number)) and kind is not bool for kind in kinds):
        whole = len(known) == len(values) and all(float(value).is_integer() for value in known)
        numbers = [np.nan if is_missing(value) else value for value in values]
        return pd.array(numbers, dtype="int64" if whole else "float64")
    return pd.array([None if is_missing(value) else text_of(value) for value in values], dtype="str")


def kept_rows(
    frame: pd.DataFrame, rules: Sequence[Keep], times: pd.Series | None = None
) -> tuple[np.ndarray, dict[str, int], list[str]]:
    """Return which rows pass all filters (n,), how many each drops by reason, and notes.

    A row is counted under the first filter that drops it. One whose value is missing fails every
    condition but `not_in`, and is counted under a reason of its own. `times` says how many rows a line was
    gathered from.
    """
    kept = np.ones(len(frame), dtype=bool)
    reasons: dict[str, int] = {}
    notes: list[str] = []
    for i, rule in enumerate(rules):
        where = f"data.keep[{i}]"
        column = frame[known_column(f"{where}.column", rule.column, frame)]
        missing = column.isna().to_numpy()
        passes, reason = _condition(column, rule, where, notes)
        failed_missing = missing & (rule.not_in is None)
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
    if rule.not_missing:
        return np.ones(len(column), dtype=bool), f"{name} is missing"
    if rule.between is not None:
        low, high = (_bound(column, bound, f"{where}.between") for bound in rule.between)
        inside = ((column >= low) & (column <= high)).to_numpy(dtype=bool)
        return inside, f"{name} is not between {text_of(low)} and {text_of(high)}"
    if rule.at_least is not None:
        low = _bound(column, rule.at_least, f"{where}.at_least")
        return (column >= low).to_numpy(dtype=bool), f"{name} is below {text_of(low)}"
    high = _bound(column, rule.at_most, f"{where}.at_most")
    return (column <= high).to_numpy(dtype=bool), f"{name} is above {text_of(high)}"


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
