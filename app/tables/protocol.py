"""Slices of tables as they travel from the process that holds a table: JSON, nothing that could run here."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from audits.data.values import is_missing, text_of

__all__ = ["pack_arguments", "pack_array", "pack_frame", "unpack_arguments", "unpack_array", "unpack_frame"]

_PLAIN = frozenset({str, int, float, bool})
_RAW_KINDS = "iufbM"  # whole numbers, floats, truth values, dates


def pack_array(values: np.ndarray) -> dict[str, Any]:
    """Return a flat array of numbers, truth values or dates as plain data."""
    content = np.ascontiguousarray(values)
    return {"dtype": content.dtype.str, "base64": base64.b64encode(content.tobytes()).decode("ascii")}


def unpack_array(packed: Mapping[str, Any]) -> np.ndarray:
    """Return what `pack_array` packed."""
    dtype = np.dtype(packed["dtype"])
    if dtype.kind not in _RAW_KINDS:
        raise ValueError(f"arrays of {dtype} do not travel")
    return np.frombuffer(base64.b64decode(packed["base64"]), dtype=dtype).copy()


def pack_rows(rows: pd.Index | None) -> dict[str, Any] | None:
    """Return row numbers as plain data; None, for all rows, stays."""
    return None if rows is None else pack_array(np.asarray(rows, dtype=np.int64))


def pack_arguments(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a function is told as plain data: arrays packed, all else as it is."""
    arrays = {
        name: {"array": pack_array(each)} for name, each in told.items() if isinstance(each, np.ndarray)
    }
    return {name: arrays.get(name, {"plain": each}) for name, each in told.items()}


def unpack_arguments(packed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `pack_arguments` packed."""
    return {
        name: unpack_array(each["array"]) if "array" in each else each["plain"]
        for name, each in packed.items()
    }


def pack_frame(frame: pd.DataFrame) -> dict[str, Any]:
    """Return a frame as plain data: columns, and an index of numbers or texts."""
    return {
        "columns": [str(name) for name in frame.columns],
        "values": [_pack(frame.iloc[:, place]) for place in range(frame.shape[1])],
        "index": _pack(frame.index.to_series()),
        "index name": frame.index.name,
    }


def unpack_frame(packed: Mapping[str, Any]) -> pd.DataFrame:
    """Return what `pack_frame` packed."""
    index = pd.Index(_unpack(packed["index"]), name=packed["index name"])
    columns = {place: pd.Series(_unpack(each)).set_axis(index) for place, each in enumerate(packed["values"])}
    return pd.DataFrame(columns, index=index).set_axis(packed["columns"], axis=1)


def _pack(column: pd.Series) -> dict[str, Any]:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in _RAW_KINDS:
        return pack_array(column.to_numpy())
    kind = "str" if isinstance(column.dtype, pd.StringDtype) else "object"
    if kind == "str":  # each text once: people share most of theirs
        places, texts = pd.factorize(column)
        if len(texts) < len(column) / 2:
            return {"dtype": kind, "list": list(texts), "places": pack_array(places.astype(np.int32))}
    return {"dtype": kind, "list": [_value(each) for each in column.tolist()]}


def _unpack(packed: Mapping[str, Any]) -> Any:
    if "base64" in packed:
        return unpack_array(packed)
    if packed["dtype"] == "str":
        texts = pd.array(packed["list"], dtype="str")
        return texts.take(unpack_array(packed["places"]), allow_fill=True) if "places" in packed else texts
    return pd.Series(packed["list"], dtype=object)


def _value(value: object) -> Any:
    if type(value) in _PLAIN:
        return value
    if is_missing(value):
        return None
    return value.item() if isinstance(value, (np.number, np.bool_)) else text_of(value)
