"""SHA-256 over the content of a table: the same values give the same digest on every machine."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa


def frame_digest(frame: pd.DataFrame) -> str:
    """Return the SHA-256 of a frame's row numbers, column names and values, in their order.

    Depends on the values alone: not on memory layout, chunks, or whether whole numbers are held as
    32 or 64 bits. All missing values are alike.
    """
    state = hashlib.sha256()
    for column in (frame.index.to_series(), *(frame[name] for name in frame.columns)):
        tag, parts = _canonical(column)
        header = json.dumps([str(column.name), tag, len(column)]).encode()
        for part in (header, *parts):
            state.update(len(part).to_bytes(8, "little"))
            state.update(part)
    return state.hexdigest()


def plain_digest(*values: Any) -> str:
    """Return the SHA-256 of plain data (JSON), keys in any order."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(column: pd.Series) -> tuple[str, tuple[bytes, ...]]:
    """Return a tag for the type of a column and its values as bytes."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return "datetime", (column.to_numpy(dtype="datetime64[us]").astype("<i8").tobytes(),)
    if pd.api.types.is_bool_dtype(column.dtype):
        return "boolean", (column.to_numpy().astype("u1").tobytes(),)
    if pd.api.types.is_integer_dtype(column.dtype):
        return "integer", (column.to_numpy().astype("<i8").tobytes(),)
    if pd.api.types.is_float_dtype(column.dtype):
        values = column.to_numpy(dtype="<f8") + 0.0  # -0.0 is 0.0
        values[np.isnan(values)] = np.nan
        return "number", (values.tobytes(),)
    texts = pa.table({"": column}).column(0).cast(pa.large_string()).fill_null("").combine_chunks()
    _, ends, letters = texts.buffers()
    ends = np.frombuffer(ends, dtype="<i8")[texts.offset : texts.offset + len(texts) + 1]
    lengths = np.where(column.isna().to_numpy(), -1, np.diff(ends))
    joined = letters.to_pybytes()[ends[0] : ends[-1]] if len(texts) else b""
    return "text", (lengths.astype("<i8").tobytes(), joined)
