"""Slices of tables as they travel from the process that holds a table: JSON, nothing that could run here."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from audits.data.values import plain_value

_RAW_KINDS = "iufbM"  # whole numbers, floats, truth values, dates


def pack(value: Any) -> dict[str, Any]:
    """Return a table, a flat array, row numbers, or what is plain already, as plain data."""
    if isinstance(value, pd.DataFrame):
        return {
            "columns": [str(name) for name in value.columns],
            "values": [_pack_column(value.iloc[:, place]) for place in range(value.shape[1])],
            "index": _pack_column(value.index.to_series()),
            "index name": value.index.name,
        }
    if isinstance(value, pd.Index):
        value = np.asarray(value, dtype=np.int64)
    if not isinstance(value, np.ndarray):
        return {"plain": value}
    content = np.ascontiguousarray(value)
    return {"dtype": content.dtype.str, "base64": base64.b64encode(content.tobytes()).decode("ascii")}


def unpack(packed: Mapping[str, Any]) -> Any:
    """Return what `pack` packed; row numbers as an array."""
    if "columns" in packed:
        index = pd.Index(_unpack_column(packed["index"]), name=packed["index name"])
        columns = dict(enumerate(_unpack_column(each).set_axis(index) for each in packed["values"]))
        return pd.DataFrame(columns, index=index).set_axis(packed["columns"], axis=1)
    if "base64" not in packed:
        return packed["plain"]
    dtype = np.dtype(packed["dtype"])
    if dtype.kind not in _RAW_KINDS:
        raise ValueError(f"arrays of {dtype} do not travel")
    return np.frombuffer(base64.b64decode(packed["base64"]), dtype=dtype).copy()


def unpack_rows(packed: Mapping[str, Any] | None) -> pd.Index | None:
    """Return row numbers that `pack` packed; None, for all rows, stays."""
    numbers = None if packed is None else unpack(packed)
    return None if numbers is None else pd.Index(numbers, name="row")


def _pack_column(column: pd.Series) -> dict[str, Any]:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in _RAW_KINDS:
        return pack(column.to_numpy())
    kind = "str" if isinstance(column.dtype, pd.StringDtype) else "object"
    return {"dtype": kind, "list": [plain_value(each) for each in column.tolist()]}


def _unpack_column(packed: Mapping[str, Any]) -> pd.Series:
    if "list" in packed:
        return pd.Series(packed["list"], dtype="str" if packed["dtype"] == "str" else object)
    return pd.Series(unpack(packed))
