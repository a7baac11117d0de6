"""Missing values: rows dropped, cells imputed (imputation), or a category of their own; always counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from audits.data.frames import with_columns
from audits.data.kinds import Kind
from audits.errors import InputError


def drop_incomplete(frame: pd.DataFrame, columns: tuple[str, ...], excluded: dict[str, int]) -> pd.DataFrame:
    """Return the rows with a value in all `columns`; the others are counted in `excluded`.

    A row can miss several values, so there is one reason that names all columns concerned.
    """
    missing = frame[list(columns)].isna()
    incomplete = missing.any(axis=1)
    if incomplete.any():
        concerned = [name for name in columns if missing[name].any()]
        shown = ", ".join(concerned[:5]) + (f" or {len(concerned) - 5} more" if len(concerned) > 5 else "")
        excluded[f"missing value in {shown}"] = int(incomplete.sum())
    return frame[~incomplete]


def fill_gaps(
    frame: pd.DataFrame, columns: tuple[str, ...], kinds: Mapping[str, Kind]
) -> tuple[pd.DataFrame, dict[str, tuple[pd.Index, Any]]]:
    """Return the frame with gaps in `columns` filled, and by column the rows filled and with what.

    Numbers and dates get the median (the lower of two middle ones, so that it is a value that
    occurs), others the commonest value (of equally common ones the first in order).

    Raises
    ------
    InputError
        If a column has no value to fill with.
    """
    filled: dict[str, tuple[pd.Index, Any]] = {}
    made = {}
    for name in columns:
        gaps = frame[name].isna()
        if not gaps.any():
            continue
        known = frame.loc[~gaps, name]
        if not len(known):
            raise InputError(
                f"data.features: {name!r}", "has no values from which to fill its gaps", advice="leave it out"
            )
        if kinds[name] in {"continuous", "integer", "datetime"}:
            value = known.sort_values().iloc[(len(known) - 1) // 2]
        else:
            value = known.mode().iloc[0]
        made[name], filled[name] = frame[name].fillna(value), (frame.index[gaps], value)
    return with_columns(frame, made), filled
