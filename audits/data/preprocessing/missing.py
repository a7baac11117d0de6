"""Missing values: rows dropped, cells imputed (imputation), or a category of their own; always counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
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
    frame: pd.DataFrame,
    others: pd.DataFrame,
    columns: tuple[str, ...],
    kinds: Mapping[str, Kind],
    counts: np.ndarray | None,
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, tuple[pd.Index, Any]]]:
    """Return both frames with gaps in `columns` filled, and by column the rows filled and with what.

    Numbers and dates get the median (the lower of two middle ones, so that it is a value that
    occurs), others the commonest value (of equally common ones the first in order): those of `frame`, whose
    rows stand for `counts` people each (1 where it is None).

    Raises
    ------
    InputError
        If a column has no value to fill with.
    """
    filled: dict[str, tuple[pd.Index, Any]] = {}
    made, more = {}, {}
    weights = pd.Series(1.0 if counts is None else counts, frame.index)
    for name in columns:
        gaps, beside = frame[name].isna(), others[name].isna()
        if not (gaps.any() or beside.any()):
            continue
        known = frame.loc[~gaps, name]
        if not len(known):
            raise InputError(
                f"data.features: {name!r}", "has no values from which to fill its gaps", advice="leave it out"
            )
        people = weights[~gaps].groupby(known).sum()  # sorted by value
        if kinds[name] in {"continuous", "integer", "datetime"}:
            value = people.index[int((people.cumsum() < people.sum() / 2).sum())]
        else:
            value = people.idxmax()
        made[name], more[name] = frame[name].fillna(value), others[name].fillna(value)
        filled[name] = frame.index[gaps].append(others.index[beside]), value
    return with_columns(frame, made), with_columns(others, more), filled
