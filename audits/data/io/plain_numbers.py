"""Columns of text that hold plainly written numbers and empty cells alone, without their distinct values.

Whatever `audits.data.io.columns` could take for anything else is left to it: the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# no sign of plus, and no zero before a digit: "007" is a code
_WHOLE = r"^(-?(0|[1-9][0-9]{0,16}))?$"
_NUMBER = r"^(-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?)?$"
_MAX_EXACT = 2**53
_LOOKED_AT = (0, 100, None)  # cells: few columns of words are looked at whole


def spoken_of(markers: Sequence[str] | None) -> bool:
    """Return whether a number may be one of the texts that are said to mean missing."""
    return any(marker and not marker.strip("0123456789-.eE+") for marker in markers or ())


def plain_numbers(column: pa.ChunkedArray, *, whole_only: bool = False) -> np.ndarray | None:
    """Return the numbers of a column of strings, NaN where a cell is empty; None if it may hold others.

    Parameters
    ----------
    column : ChunkedArray of strings
    whole_only : bool
        Whether a decimal point may mean something else here.

    Returns
    -------
    (n,) int64 or float64, or None
        Whole numbers as int64 unless cells are empty.
    """
    if column.type != pa.string() or column.null_count:
        return None
    whole = _all(column, _WHOLE)
    if not whole and (whole_only or not _all(column, _NUMBER)):
        return None
    known = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
    try:
        numbers = known.cast(pa.int64() if whole else pa.float64())
    except pa.ArrowInvalid:
        return None
    if numbers.null_count == len(numbers):
        return None
    values: np.ndarray = numbers.to_numpy()
    if (numbers.null_count or not whole) and np.nanmax(np.abs(values)) >= _MAX_EXACT:
        return None
    return values


def _all(column: pa.ChunkedArray, pattern: str) -> bool:
    parts = (
        column.slice(first or 0, None if last is None else last - (first or 0))
        for first, last in pairwise(_LOOKED_AT)
    )
    return all(pc.all(pc.match_substring_regex(part, pattern)).as_py() is not False for part in parts)
