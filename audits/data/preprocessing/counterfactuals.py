"""Columns that hold what people's features would have been, had they belonged to another group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from audits.checks import choices, one_of
from audits.data.audit_data import AuditData
from audits.data.values import as_text, holds_numbers, places_of
from audits.errors import InputError

_NUMBERS = frozenset({"continuous", "integer"})


def check_counterfactuals(
    where: str,
    columns: Mapping[str, str],
    data: AuditData,
    features: Iterable[str],
    *,
    what: str,
    known: pd.DataFrame | None = None,
) -> None:
    """Check that `columns` name for features of `features` the columns of their counterfactual values.

    Parameters
    ----------
    known : DataFrame, optional
        Rows with all values that categories may have; those of `data` by default.

    Raises
    ------
    InputError
        A key is not one of `features` (`what` says what these are), a column is absent or a feature
        itself, has missing values, other kinds of values than its feature, or values that no one has.
    """
    features = list(features)
    for feature, column in columns.items():
        one_of(where, feature, features, what=what)
        at = f"{where}.{feature}"
        one_of(at, column, data.frame.columns, what="a column of the data")
        if column in data.features:
            raise InputError(
                at, "must be a column that is not a feature", column, "leave it out of data.features"
            )
        values = data.frame[column]
        if values.isna().any():
            raise InputError(
                at, f"must know everyone, but {column!r} lacks {int(values.isna().sum()):,} values"
            )
        kind = data.kinds[feature]
        if kind in _NUMBERS:
            if not holds_numbers(values):
                raise InputError(at, "must be a column of numbers", column)
            if not np.isfinite(values.to_numpy(dtype=float)).all():
                raise InputError(at, "must be finite numbers", column)
        elif kind == "datetime":
            if not pd.api.types.is_datetime64_any_dtype(values):
                raise InputError(at, "must be a column of dates", column)
        else:
            own = (data.frame if known is None else known)[feature]
            strange = sorted(set(as_text(values)) - set(as_text(own.dropna())))
            if strange:
                raise InputError(
                    at, f"must have values of {feature!r}, but {column!r} has {choices(strange)} besides"
                )


def counterfactual_frame(
    data: AuditData, columns: Mapping[str, str], *, known: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the rows of `data` with the features that `columns` name as they would have been.

    `columns` must have been checked with the same `known`. Other features keep everyone's own value.
    """
    frame = data.frame.copy(deep=False)
    for feature, column in columns.items():
        own = (data.frame if known is None else known)[feature]
        frame[feature] = _like(data.frame[column], own, data.kinds[feature])
    return frame


def _like(values: pd.Series, feature: pd.Series, kind: str) -> pd.Series:
    """The values in a feature's own type where they fit into it: whole numbers stay whole."""
    if kind in _NUMBERS:
        if pd.api.types.is_integer_dtype(feature.dtype) and not (values == values.round()).all():
            return values
        return values.astype(feature.dtype)
    if kind == "datetime":
        return values
    known = feature.dropna().drop_duplicates()
    places = places_of(values, known)
    return pd.Series(known.array.take(places), index=values.index, name=feature.name)
