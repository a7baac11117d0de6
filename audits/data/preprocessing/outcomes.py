"""The label of a spec: which rows have one, and which of them is good for the person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.data.frames import with_columns
from audits.data.preprocessing.filters import SIDES, known_column, rows_of
from audits.data.spec import DataSpec, LabelCut
from audits.data.values import as_text, find_level, holds_numbers, near, places_of
from audits.errors import InputError

MAX_CLASSES = 100


@dataclass(frozen=True)
class Outcome:
    """The label's column, its favorable values as they stand in the data, and the same as text.

    Attributes
    ----------
    label : str or None
        None when the spec names no label; `favorable` is then what the spec says, unchecked.
    favorable : tuple
        Raw values.
    levels : tuple of str
        The same as text.
    """

    label: str | None
    favorable: tuple[object, ...]
    levels: tuple[str, ...]


def drop_unlabeled(
    frame: pd.DataFrame, spec: DataSpec, excluded: dict[str, int], times: pd.Series | None = None
) -> tuple[pd.DataFrame, Outcome]:
    """Return the rows with a label and what the label is; a cut becomes a column of its own.

    Parameters
    ----------
    frame : DataFrame (rows, columns)
        Recodes and filters applied.
    spec : DataSpec
        Its `label` and `favorable` are used.
    excluded : dict
        Gains the rows without a label.
    times : Series, optional
        How many rows a line was gathered from.

    Raises
    ------
    InputError
        For an unknown or empty column, a cut of a column that holds no numbers, a label with more
        than 100 values, no or an unknown favorable value.
    """
    given = spec.favorable if isinstance(spec.favorable, tuple) else (spec.favorable,)
    numeric = spec.outcome == "numeric"
    if spec.label is None:
        return frame, Outcome(None, () if spec.favorable is None or numeric else given, ())
    cut, source = spec.cut, str(spec.label_column)
    known_column("data.label.column" if cut else "data.label", source, frame)
    missing = frame[source].isna().to_numpy()
    if missing.all():
        raise InputError(
            "data.label", f"has no values: column {source!r} is empty in all {len(frame):,} rows"
        )
    if missing.any():
        excluded[f"label {source!r} is missing"] = rows_of(missing, frame, times)
        frame = frame[~missing]
    if numeric:
        _check_numbers(frame[source])
        return frame, Outcome(None, (), ())
    label = source
    if cut:
        label = cut.name
        if label in frame.columns:
            raise InputError("data.label", f"makes a column {label!r} that the data has already")
        made = cut_label(frame[source], cut)
        if made.all() or not made.any():
            low, high = frame[source].min(), frame[source].max()
            rule = f"must have people on both sides of the cut, but {source!r} runs from {low:g} to {high:g}"
            raise InputError("data.label", rule, label)
        frame = with_columns(frame, {label: made})
    if cut and spec.favorable is None:
        given = (True,)
    levels = _favorable_levels(frame[label], given, spec)
    raw = frame[label].drop_duplicates()
    place = places_of(raw, levels)  # in the order in which they are named, not that of the rows
    values = raw.iloc[np.argsort(place, kind="stable")][np.sort(place) >= 0].tolist()
    return frame, Outcome(label, tuple(values), levels)


def cut_label(column: pd.Series, cut: LabelCut) -> pd.Series:
    """Return on which side of the cut each number lies."""
    if not holds_numbers(column):
        raise InputError("data.label", f"can only cut a column of numbers, not {cut.column!r}")
    sides = ((passes, getattr(cut, name)) for name, (passes, _) in SIDES.items())
    return next(passes(column, bound) for passes, bound in sides if bound is not None)


def _check_numbers(column: pd.Series) -> None:
    """Raise InputError unless a numeric outcome is finite numbers that differ."""
    if not holds_numbers(column):
        raise InputError(
            "data.label",
            "must be a column of numbers where the outcome is numeric",
            column.name,
            "leave out data.outcome, and say which value is favorable",
        )
    infinite = np.isinf(column.to_numpy(dtype=float))
    if infinite.any():
        row = column.index[int(np.argmax(infinite))]
        raise InputError(
            f"column {column.name!r}, row {row}",
            "must be finite",
            float(column.iloc[int(np.argmax(infinite))]),
            "list it in data.read.missing",
        )


def _favorable_levels(column: pd.Series, given: tuple[object, ...], spec: DataSpec) -> tuple[str, ...]:
    levels = sorted(as_text(column).unique().tolist())
    if len(levels) > MAX_CLASSES:
        raise InputError(
            "data.label",
            f"has {len(levels):,} values where at most {MAX_CLASSES} are classes",
            spec.label,
            f"cut a number: label: {{column: {column.name}, at_least: NUMBER}}; or take it as it is: add "
            "outcome: numeric"
            if pd.api.types.is_numeric_dtype(column.dtype)
            else "choose a column with fewer values, or recode it",
        )
    if spec.favorable is None and spec.cut is None:
        raise InputError(
            "data.favorable",
            "is missing",
            advice=f"say which label is good for the person: {choices(levels)}",
        )
    if not given:
        raise InputError("data.favorable", "must name at least one label value", advice=near("", levels))
    where = "data.favorable"
    return tuple(
        dict.fromkeys(find_level(where, value, levels, rule="must be a label value") for value in given)
    )


def favorable_rows(frame: pd.DataFrame, outcome: Outcome) -> np.ndarray | None:
    """Return whether each row's label is favorable (n,); None without a label.

    Raises
    ------
    InputError
        If the rows have one class only: nothing could be learned or compared.
    """
    if outcome.label is None:
        return None
    texts = as_text(frame[outcome.label])
    y = texts.isin(outcome.levels).to_numpy()
    if texts.nunique() < 2:
        rule = f"must have two values, but {outcome.label!r} is {texts.iloc[0]!r} in all {len(frame):,} rows"
        raise InputError("data.label", rule, advice="check data.label, data.keep and data.missing")
    if y.all() or not y.any():
        what = "every label value" if y.all() else "no label value"
        raise InputError(
            "data.favorable",
            f"covers {what} of the {len(frame):,} rows used",
            list(outcome.levels),
            "name some, not all",
        )
    return y
