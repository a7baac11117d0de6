"""Protected attributes as groups: text values, numbers cut into bins, the missing a group of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from audits.data.spec import DataSpec
from audits.data.values import MISSING, TEXT, as_text, holds_numbers, text_of
from audits.errors import InputError

if TYPE_CHECKING:
    from audits.data.audit_data import AuditData

MAX_GROUPS = 100
"""Values that a protected attribute may have at most."""


def protected_groups(frame: pd.DataFrame, spec: DataSpec, excluded: Mapping[str, int]) -> pd.DataFrame:
    """Return the group of each row by each protected attribute, (n, protected) of text.

    Parameters
    ----------
    excluded : mapping of str to int
        How many rows are used no more, by reason: it may be why one group is left.

    Raises
    ------
    InputError
        For an attribute without values, with one value, or with more than 100.
    """
    groups = {name: _group(frame[name], spec.bins.get(name), excluded) for name in spec.protected}
    return pd.DataFrame(groups, index=frame.index, columns=pd.Index(spec.protected, dtype="str"))


def reasons_told(excluded: Mapping[str, int]) -> str:
    """Return in words how many rows are left out for which reason."""
    return "; ".join(f"{count:,} because {reason}" for reason, count in excluded.items())


def _group(column: pd.Series, edges: Sequence[float] | int | None, excluded: Mapping[str, int]) -> pd.Series:
    where = f"data.protected: {column.name!r}"
    if column.isna().all():
        raise InputError(
            where, f"is missing in all {len(column):,} rows used", advice="choose another attribute"
        )
    texts = as_text(column) if edges is None else cut(column, edges_of(column, edges))
    values = texts.nunique()
    if values == 1:
        why = f" (left out: {reasons_told(excluded)})" if excluded else ""
        raise InputError(
            where,
            f"has one value only ({texts.dropna().iloc[0]!r}) in the {len(column):,} rows used{why}, so "
            "no groups",
            advice="choose another attribute, or check data.keep, data.recode and data.bins",
        )
    if values > MAX_GROUPS:
        number = pd.api.types.is_numeric_dtype(column.dtype)
        advice = (
            f"cut it: bins: {{{column.name}: [...]}}" if number else "recode it to fewer, or choose another"
        )
        raise InputError(where, f"has {values:,} values where at most {MAX_GROUPS} are groups", advice=advice)
    return texts.fillna(MISSING)


def edges_of(
    column: pd.Series, bins: Sequence[float] | int, times: pd.Series | None = None
) -> tuple[float, ...]:
    """Return the edges that a column is cut at; of a number of bins the quantiles of its values.

    Edges are values that occur, each the first of its bin; values that many people share make fewer bins
    than asked for.

    Parameters
    ----------
    times : Series, optional
        How many rows each row was gathered from, or how many people it stands for.

    Raises
    ------
    InputError
        For a column that is not of numbers, and for a number of bins of one that holds fewer than two.

    Examples
    --------
    >>> edges_of(pd.Series([30, 10, 20, 40, None]), 2)
    (10.0, 30.0, 40.0)
    """
    where = f"data.bins.{column.name}"
    if not holds_numbers(column) and column.notna().any():
        raise InputError(where, "can only cut a column of numbers", advice="recode it instead")
    if not isinstance(bins, int):
        return tuple(bins)
    values = column.to_numpy(dtype=float, na_value=np.nan)
    known = np.isfinite(values)
    rows = np.ones(len(values)) if times is None else times.loc[column.index].to_numpy(dtype=float)
    levels, place = np.unique(values[known], return_inverse=True)
    if len(levels) < 2:
        raise InputError(where, "needs at least two different numbers to cut at quantiles", bins)
    upto = np.bincount(place, rows[known]).cumsum()
    wanted = np.round(np.linspace(0, 1, bins + 1)[1:-1] * upto[-1], 6)
    inner = levels[np.searchsorted(upto, wanted, side="right")]
    return tuple(np.unique([levels[0], *inner, levels[-1]]).tolist())


def cut(column: pd.Series, edges: Sequence[float]) -> pd.Series:
    """Return the bin of each number as text; missing ones stay missing.

    Bins are closed on the left: [a, b), but the last one, [a, b]. Numbers outside become groups of
    their own, so that nobody is lost.

    Examples
    --------
    >>> cut(pd.Series([17, 18, 25, 60, 61]), (18, 25, 60)).tolist()
    ['below 18', '[18, 25)', '[25, 60]', '[25, 60]', 'above 60']
    """
    values = column.to_numpy(dtype=float, na_value=np.nan)
    codes = np.searchsorted(edges, values, side="right")
    codes[values == edges[-1]] = len(edges) - 1
    names = pd.array(bin_names(edges), dtype=TEXT)
    binned = names.take(np.where(np.isnan(values), -1, codes), allow_fill=True)
    return pd.Series(binned, index=column.index, name=column.name)


def bin_names(edges: Sequence[float]) -> list[str]:
    """Return the names of the bins in rising order, those outside the edges first and last."""
    texts = [text_of(edge) for edge in edges]
    inner = [f"[{low}, {high})" for low, high in pairwise(texts)]
    inner[-1] = inner[-1][:-1] + "]"
    return [f"below {texts[0]}", *inner, f"above {texts[-1]}"]


@dataclass(frozen=True)
class GroupSize:
    """A value of a protected attribute, its people, and the share of them with the favorable label."""

    value: str
    people: float
    favorable: float | None


def group_sizes(data: AuditData, attribute: str) -> tuple[GroupSize, ...]:
    """Return the values of a protected attribute, largest first."""
    weights = data.row_weights
    values, codes = np.unique(data.groups[attribute].to_numpy(dtype=str), return_inverse=True)
    people = np.bincount(codes, weights, minlength=len(values))
    good = None if data.y is None else np.bincount(codes, weights * data.y, minlength=len(values))
    return tuple(
        GroupSize(str(values[k]), float(people[k]), None if good is None else float(good[k] / people[k]))
        for k in np.argsort(-people, kind="stable")
    )


def group_pair(sizes: Sequence[GroupSize]) -> tuple[str, str] | None:
    """Return source and target among the values of an attribute: the two largest, missing values aside.

    The source is the one with the smaller share of favorable labels; without labels, the smaller group. None
    where fewer than two values are known.

    Examples
    --------
    >>> group_pair([GroupSize("a", 60, 0.6), GroupSize("b", 50, 0.4), GroupSize("c", 9, 0.1)])
    ('b', 'a')
    """
    first = [size for size in sizes if size.value != MISSING][:2]
    if len(first) < 2:
        return None
    larger, smaller = first
    if (
        larger.favorable is not None
        and smaller.favorable is not None
        and larger.favorable <= smaller.favorable
    ):
        return larger.value, smaller.value
    return smaller.value, larger.value
