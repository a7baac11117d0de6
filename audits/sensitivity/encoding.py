"""What a monitor needs to encode rows and to rebuild the networks, as plain data and a table of weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from audits.data import FeatureSpace
from audits.data.blocks import Block, LevelBlock, NumberBlock
from audits.data.values import is_missing, text_of
from audits.models.dense import Dense, Ramps
from audits.sensitivity.measuring import Audited, Status

__all__ = [
    "describe_space",
    "network_arrays",
    "network_of",
    "parameter_table",
    "restore_space",
    "tables_of",
]

_RAMPS = ("columns", "scales", "shifts", "lows", "highs")


def describe_space(space: FeatureSpace) -> list[dict[str, Any]]:
    """Return one plain entry a raw column, in the order of the encoded columns."""
    return [_describe(block) for block in space.parts]


def _describe(block: Block) -> dict[str, Any]:
    levels = [None if is_missing(value) else text_of(value) for value in block.levels]
    raw = {"values": [_plain(value) for value in block.levels], "dtype": str(block.levels.dtype)}
    if isinstance(block, NumberBlock):
        return {
            "column": block.column,
            "kind": block.kind,
            "mean": block.mean,
            "sd": block.sd,
            "low": block.low,
            "high": block.high,
            "step": block.step,
            "fill": block.fill,
            "levels": levels,
            "marks_missing": len(block.names) == 2,
            **raw,
        }
    return {"column": block.column, "kind": "categorical", "levels": levels, **raw}


def _plain(value: Any) -> Any:
    """A raw value as JSON has it: texts and numbers as they are, None where missing, all else as text."""
    if is_missing(value):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, (bool, int, float, str)) else text_of(value)


def restore_space(encoding: Sequence[Mapping[str, Any]]) -> FeatureSpace:
    """Build the space again that `describe_space` described.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the description is none.
    """
    parts = tuple(_block(entry) for entry in encoding)
    columns, names = (
        tuple(part.column for part in parts),
        tuple(name for part in parts for name in part.names),
    )
    ends = np.cumsum([len(part.names) for part in parts]).tolist()
    blocks = {column: slice(a, b) for column, a, b in zip(columns, [0, *ends], ends, strict=False)}
    scale = {
        part.column: (part.mean, part.sd)
        for part in parts
        if isinstance(part, NumberBlock) and part.kind != "boolean"
    }
    return FeatureSpace(columns, names, blocks, scale, parts)


def _block(entry: Mapping[str, Any]) -> Block:
    column, levels = str(entry["column"]), pd.Series(entry["values"], dtype=entry["dtype"])
    if entry["kind"] == "categorical":
        return LevelBlock(column, tuple(f"{column}={text}" for text in entry["levels"]), levels)
    names = (column, f"{column} is missing") if entry["marks_missing"] else (column,)
    mean, sd, low, high, step, fill = (
        float(entry[name]) for name in ("mean", "sd", "low", "high", "step", "fill")
    )
    return NumberBlock(column, names, entry["kind"], mean, sd, low, high, step, fill, levels)


def network_arrays(network: Dense, prefix: str) -> dict[str, np.ndarray]:
    """Return the arrays of a network by name: ``F.weight.0``, ``F.bias.0`` …"""
    found = {f"{prefix}.weight.{k}": weight for k, weight in enumerate(network.weights)}
    found |= {f"{prefix}.bias.{k}": bias for k, bias in enumerate(network.biases)}
    if network.ramps is not None:
        found |= {
            f"{prefix}.ramp.{name}": np.asarray(getattr(network.ramps, name), dtype=float) for name in _RAMPS
        }
    return found


def network_of(arrays: Mapping[str, np.ndarray], prefix: str) -> Dense:
    """Rebuild what `network_arrays` named."""
    layers = sum(name.startswith(f"{prefix}.weight.") for name in arrays)
    ramps = None
    if f"{prefix}.ramp.columns" in arrays:
        parts = {name: arrays[f"{prefix}.ramp.{name}"] for name in _RAMPS}
        ramps = Ramps(**{**parts, "columns": parts["columns"].astype(int)})
    return Dense(
        tuple(np.ascontiguousarray(arrays[f"{prefix}.weight.{k}"]) for k in range(layers)),
        tuple(arrays[f"{prefix}.bias.{k}"] for k in range(layers)),
        ramps,
    )


def parameter_table(audited: Audited | None, statuses: Sequence[Status]) -> pd.DataFrame:
    """Return every number of the networks, one a row: ``array``, ``row``, ``column``, ``value``."""
    arrays: dict[str, np.ndarray] = {}
    if audited is not None:
        arrays |= network_arrays(audited.network, "F")
        if audited.favorable is not None:
            arrays["F.favorable"] = audited.favorable.astype(float)
    for status in statuses:
        arrays |= network_arrays(status.network, f"A:{status.attribute}")
    parts = []
    for name, array in arrays.items():
        table = np.atleast_2d(array)
        row, column = np.indices(table.shape).reshape(2, -1)
        parts.append(
            pd.DataFrame(
                {"array": name, "ndim": array.ndim, "row": row, "column": column, "value": table.ravel()}
            )
        )
    columns = ["array", "ndim", "row", "column", "value"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def tables_of(parameters: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the arrays that `parameter_table` listed."""
    found = {}
    for name, rows in parameters.groupby("array", sort=False):
        shape = (int(rows["row"].max()) + 1, int(rows["column"].max()) + 1)
        array = np.empty(shape)
        array[rows["row"], rows["column"]] = rows["value"]
        found[str(name)] = array if rows["ndim"].iloc[0] == 2 else array[0]
    return found
