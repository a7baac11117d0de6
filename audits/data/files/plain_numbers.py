"""Columns of text that hold plainly written numbers and empty cells alone, without their distinct values.

Whatever `audits.data.files.columns` could take for anything else is left to it: the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

__all__ = ["plain_numbers", "spoken_of"]

_WHOLE = b"0123456789-"
_FRACTIONS = _WHOLE + b".eE+"
_LONGEST_WHOLE = 18
_LARGEST_EXACT = 2**53
_ZERO, _NINE, _MINUS, _PLUS = b"09-+"


def spoken_of(markers: Sequence[str] | None) -> bool:
    """Return whether a number may be one of the texts that are said to mean missing."""
    return any(marker and not marker.encode().translate(None, _FRACTIONS) for marker in markers or ())


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
    whole, gaps, cells = True, False, []
    for chunk in column.chunks:
        if not len(chunk):
            continue
        text, starts, lengths = _bytes_of(chunk)
        if text.translate(None, _FRACTIONS) or _padded(text, starts, lengths):
            return None
        whole = whole and not text.translate(None, _WHOLE)
        if (whole_only and not whole) or (whole and lengths.max() > _LONGEST_WHOLE):
            return None
        gaps = gaps or bool((lengths == 0).any())
        cells.append(_known(chunk, lengths > 0))
    try:
        numbers = [each.cast(pa.int64() if whole else pa.float64()) for each in cells]
    except pa.ArrowInvalid:
        return None
    if not numbers or all(each.null_count == len(each) for each in numbers):
        return None
    values: np.ndarray = np.concatenate([each.to_numpy(zero_copy_only=False) for each in numbers])
    if (gaps or not whole) and np.nanmax(np.abs(values)) >= _LARGEST_EXACT:
        return None
    return values


def _bytes_of(chunk: pa.StringArray) -> tuple[bytes, np.ndarray, np.ndarray]:
    """Return the bytes of all cells, where each begins (n,), and how long it is (n,)."""
    _, places, text = chunk.buffers()
    ends = np.frombuffer(places, np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    held = b"" if text is None else memoryview(text)[ends[0] : ends[-1]].tobytes()
    return held, ends[:-1] - ends[0], np.diff(ends)


def _padded(text: bytes, starts: np.ndarray, lengths: np.ndarray) -> bool:
    """Return whether a cell begins with "+", which Arrow does not read, or with a zero before a digit."""
    letters = np.frombuffer(text + b"\0\0\0", np.uint8)
    if (letters[starts[lengths > 0]] == _PLUS).any():
        return True
    signed = (letters[starts] == _MINUS) & (lengths > 0)
    first, left = starts + signed, lengths - signed
    begun = first[(letters[first] == _ZERO) & (left > 1)]
    return bool(((letters[begun + 1] >= _ZERO) & (letters[begun + 1] <= _NINE)).any())


def _known(chunk: pa.StringArray, known: np.ndarray) -> pa.StringArray:
    """Return a chunk in which the cells that are not `known` (n,) are null."""
    if known.all():
        return chunk
    bits = np.packbits(np.concatenate([np.zeros(chunk.offset, dtype=bool), known]), bitorder="little")
    buffers = [pa.py_buffer(bits), *chunk.buffers()[1:]]
    return pa.Array.from_buffers(pa.string(), len(chunk), buffers, offset=chunk.offset)
