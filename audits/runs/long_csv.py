"""CSV of long tables, byte for byte what pandas writes, made of whole columns instead of row by row."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["write_long"]

_ROWS = 100_000
_PLAIN_FROM, _PLAIN_TO = 1e-3, 1e9  # between them Arrow writes what is no whole number as Python does


def write_long(frame: pd.DataFrame, path: Path, *, index: bool) -> bool:
    """Write `frame` as `DataFrame.to_csv` does; return False, and write nothing, if a column may differ."""
    columns = [frame.iloc[:, place] for place in range(frame.shape[1])]
    if index:
        columns.insert(0, frame.index.to_series())
    if isinstance(frame.index, pd.MultiIndex) or len(columns) < 2:  # an empty row of one cell is quoted
        return False
    if not all(_known(column) for column in columns):
        return False
    with path.open("wb") as file:
        file.write(frame.iloc[:0].to_csv(index=index, lineterminator="\n").encode())
        for start in range(0, len(frame), _ROWS):
            cells = [_cells(column.iloc[start : start + _ROWS]) for column in columns]
            comma, end, nothing = (pa.scalar(each, pa.large_string()) for each in (",", "\n", ""))
            lines = pc.binary_join_element_wise(*cells, comma)
            text = pc.binary_join_element_wise(lines, nothing, end)
            file.write(memoryview(text.buffers()[2])[: pc.sum(pc.binary_length(text)).as_py()])
    return True


def _known(column: pd.Series) -> bool:
    kind = column.dtype
    return isinstance(kind, pd.StringDtype) or (
        isinstance(kind, np.dtype) and (kind.kind in "biu" or kind == np.float64)
    )


def _cells(column: pd.Series) -> pa.Array:
    """Return the cells of a column as they are written."""
    if isinstance(column.dtype, pd.StringDtype):
        codes, texts = pd.factorize(column)
        written = pa.array([*(_quoted(value) for value in texts), ""], pa.large_string())
        return written.take(pa.array(np.where(codes < 0, len(texts), codes)))
    values = column.to_numpy()
    if values.dtype.kind == "b":
        return pa.array(["False", "True"], pa.large_string()).take(pa.array(values.astype(np.int8)))
    written = pa.array(values).cast(pa.large_string())
    if values.dtype.kind != "f":
        return written
    with np.errstate(invalid="ignore"):
        size = np.abs(values)
        plain = (size >= _PLAIN_FROM) & (size < _PLAIN_TO) & (values != np.rint(values))
    if plain.all():
        return written
    others = ["" if number != number else repr(number) for number in values[~plain].tolist()]
    return pc.replace_with_mask(written, pa.array(~plain), pa.array(others, pa.large_string()))


def _quoted(text: str) -> str:
    """Return a text as the csv module writes it between others."""
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator="\n").writerow([text, ""])
    return line.getvalue()[:-2]
