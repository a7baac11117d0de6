"""Single cells that carry a column's whole spread: scaled by them, everyone else is alike."""

from __future__ import annotations

import numpy as np

from audits.data.audit_data import AuditData
from audits.data.values import text_of
from audits.errors import InputError
from audits.stats.text import number

_MIN = 20
_OF_PEOPLE = 200  # one row in so many, at least one, may be such a cell
_TIMES = 1000.0
_NAMED = 3


def heavy_cells(x: np.ndarray) -> np.ndarray:
    """Return positions of the cells without which `x` (n,) has less than a thousandth of its spread.

    At most one in 200 people, at least one, may have such a cell; missing ones (NaN) count as none. Where
    the others do not vary at all, as in a rare yes or no, there are none.

    Examples
    --------
    >>> ages = np.r_[np.arange(20.0, 60.0), 1e308]
    >>> heavy_cells(ages).tolist(), heavy_cells(ages[:-1]).tolist()
    ([40], [])
    >>> heavy_cells(np.r_[np.zeros(40), 1e308]).tolist()
    []
    """
    known = np.flatnonzero(np.isfinite(x))
    if known.size < _MIN:
        return known[:0]
    largest = float(np.abs(x[known]).max())
    if largest == 0:
        return known[:0]
    scaled = x[known] / largest  # squares of the largest stay finite
    most = max(1, known.size // _OF_PEOPLE)
    few = np.argpartition(-np.abs(scaled - np.median(scaled)), most - 1)[:most]
    # the rest by its own scale: its squares may vanish beside the largest cell's
    rest = np.delete(x[known], few)
    rest = rest - np.median(rest)
    width = float(np.abs(rest).max())
    if width == 0:
        return known[:0]
    spread = width * float(np.std(rest / width)) / largest
    if spread >= float(np.std(scaled)) / _TIMES:
        return known[:0]
    far = np.abs(scaled[few] - np.median(scaled)) > _TIMES * spread
    return np.sort(known[few[far]])


def _as_missing(values: np.ndarray) -> str:
    return ", ".join(f'"{text_of(each)}": null' for each in np.unique(values)[:_NAMED])


def check_spread(data: AuditData, where: str = "data.features") -> None:
    """Raise `InputError` if single cells of a feature carry its whole spread: names column, rows, values."""
    for column in data.features:
        if data.kinds[column] not in {"continuous", "integer"} or column not in data.frame:
            continue
        x = data.frame[column].to_numpy(dtype=float, na_value=np.nan)
        cells = heavy_cells(x)
        if cells.size:
            rows = ", ".join(f"row {data.frame.index[k]}: {text_of(x[k])}" for k in cells[:_NAMED])
            more = f" and {cells.size - _NAMED:,} more" if cells.size > _NAMED else ""
            rest = np.delete(x, cells)
            rest = rest[np.isfinite(rest)]
            raise InputError(
                where,
                f"must not hold single values that make up a column's whole spread, but {column!r} does "
                f"({rows}{more}; everyone else lies between {number(float(rest.min()))} and "
                f"{number(float(rest.max()))}): on their scale, all others would look the same",
                advice=f"take them as missing (recode: {{{column}: {{map: {{{_as_missing(x[cells])}}}}}}})",
            )
