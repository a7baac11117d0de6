"""What a monitor needs to encode rows and to rebuild the networks, and its encoder of rows from outside.

Rows become points in plain Python and NumPy, as `FeatureSpace.encode(..., unknown="zero")` gives them for the
same values (tested against it), but each value is checked as it comes in, row and column of the first that is
wrong are named, and one row is quick.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.data import FeatureSpace
from audits.data.blocks import Block, LevelBlock, NumberBlock
from audits.data.values import is_missing, text_of
from audits.errors import InputError
from audits.models.networks.dense import BENDS, Dense, Ramps
from audits.sensitivity.measuring.gradients import Audited, Status

__all__ = [
    "RowEncoder",
    "columns_of",
    "describe_space",
    "moment_of",
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
    if network.bends:
        found[f"{prefix}.bends"] = np.array([float(BENDS.index(each)) for each in network.bends])
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
    bends = arrays.get(f"{prefix}.bends", np.empty(0))
    return Dense(
        tuple(np.ascontiguousarray(arrays[f"{prefix}.weight.{k}"]) for k in range(layers)),
        tuple(arrays[f"{prefix}.bias.{k}"] for k in range(layers)),
        ramps,
        tuple(BENDS[int(each)] for each in bends),
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


_NUMBERS = frozenset({int, float, type(None)})
_TEXTS = frozenset({str, int, float, bool, type(None)})
_EPOCH = datetime.datetime(1970, 1, 1)
_LONGEST_TEXT = 1000
_LONGEST_NAME = 200


def columns_of(rows: Sequence[Mapping[str, Any]], expected: Sequence[str]) -> dict[str, list[Any]]:
    """Turn rows into columns; every row must have exactly the `expected` ones.

    Raises
    ------
    InputError
        Naming the first row (from 0) that is no object, lacks a column or has another.
    """
    wanted = frozenset(expected)
    for place, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InputError(f"rows[{place}]", "must be an object of column names to values", row)
        if row.keys() != wanted:
            missing = [name for name in expected if name not in row]
            if missing:
                raise InputError(f"rows[{place}]", f"lacks {choices(missing)}")
            extra = sorted(str(name)[:_LONGEST_NAME] for name in row if name not in wanted)
            advice = f"send only {choices(list(expected), most=60)}"
            raise InputError(
                f"rows[{place}]", f"has columns that are not read: {choices(extra)}", advice=advice
            )
    return {name: [row[name] for row in rows] for name in expected}


class RowEncoder:
    """Encodes columns of values into points (n, d).

    Parameters
    ----------
    encoding : list of dict
        From `describe_space`: one entry a raw column.
    reads : sequence of str
        Columns that are sent; the others' points stay 0, where no network looks.

    Raises
    ------
    InputError
        If the description does not make sense.
    """

    def __init__(self, encoding: Sequence[Mapping[str, Any]], reads: Sequence[str]) -> None:
        self.reads = tuple(reads)
        self.columns = tuple(str(entry["column"]) for entry in encoding)
        self._parts: list[tuple[Mapping[str, Any], int, dict[str, int], int | None]] = []
        self.starts: list[int] = []
        at = 0
        for entry in encoding:
            texts = {text: code for code, text in enumerate(entry["levels"]) if text is not None}
            missing = entry["levels"].index(None) if None in entry["levels"] else None
            self._parts.append((entry, at, texts, missing))
            self.starts.append(at)
            at += _width(entry)
        self.width = at
        unknown = [name for name in self.reads if name not in self.columns]
        if unknown:
            raise InputError("bundle.reads", "must be encoded columns", unknown)

    @property
    def numbers(self) -> frozenset[str]:
        """Return the columns that hold numbers."""
        return frozenset(
            str(entry["column"])
            for entry, _, _, _ in self._parts
            if not entry["levels"] and entry["kind"] not in {"categorical", "datetime"}
        )

    def movable(self) -> np.ndarray:
        """Return which points hold numbers that can move a little, (d,) of 0 and 1."""
        found = np.zeros(self.width)
        for entry, at, _, _ in self._parts:
            if entry["kind"] not in {"categorical", "boolean"}:
                found[at] = 1.0
        return found

    def encode(self, columns: Mapping[str, Sequence[Any]], n: int) -> tuple[np.ndarray, dict[int, list[str]]]:
        """Return the points (n, d), and by row the columns whose value was never seen before.

        Raises
        ------
        InputError
            Naming row and column of the first value of a wrong type or that is not finite.
        """
        z = np.zeros((n, self.width))
        unseen: dict[int, list[str]] = {}
        for entry, at, texts, missing in self._parts:
            name = entry["column"]
            if name not in self.reads:
                continue
            values = columns[name]
            if entry["kind"] == "categorical":
                codes = [_code(value, texts, missing, name, place) for place, value in enumerate(values)]
                for place, code in enumerate(codes):
                    if code >= 0:
                        z[place, at + code] = 0.5
                    else:
                        unseen.setdefault(place, []).append(name)
                continue
            if entry["levels"]:
                codes = [_code(value, texts, None, name, place) for place, value in enumerate(values)]
                x = np.array([math.nan if code < 0 else float(code) for code in codes])
                strange = [
                    place for place, code in enumerate(codes) if code < 0 and values[place] is not None
                ]
            else:
                x, strange = _numbers(values, entry, name), []
            gone = np.isnan(x)
            own = (x - entry["mean"]) / entry["sd"]
            own[gone] = entry["fill"]
            z[:, at] = own
            if entry["marks_missing"]:
                z[:, at + 1] = gone
            else:
                strange = np.flatnonzero(gone).tolist()
            for place in strange:
                unseen.setdefault(place, []).append(name)
        return z, unseen


def _width(entry: Mapping[str, Any]) -> int:
    if entry["kind"] == "categorical":
        return len(entry["levels"])
    return 2 if entry["marks_missing"] else 1


def _code(value: Any, texts: Mapping[str, int], missing: int | None, name: str, place: int) -> int:
    """Return the place of a level, -1 for one never seen."""
    if type(value) is str:
        if len(value) > _LONGEST_TEXT:
            raise InputError(f"rows[{place}].{name}", f"must be at most {_LONGEST_TEXT} characters", value)
        return texts.get(value, -1)
    if value is None or (type(value) is float and math.isnan(value)):
        return -1 if missing is None else missing
    if type(value) not in _TEXTS and not isinstance(value, (datetime.date, np.generic)):
        raise InputError(f"rows[{place}].{name}", "must be text, a number, true, false or null", value)
    if isinstance(value, float) and math.isinf(value):
        raise InputError(f"rows[{place}].{name}", "must be text or a finite number", value)
    return texts.get(text_of(value), -1)


def _numbers(values: Sequence[Any], entry: Mapping[str, Any], name: str) -> np.ndarray:
    """Return numbers (n,), NaN where missing; dates as days since 1970."""
    if entry["kind"] == "datetime":
        return np.array([_days(value, name, place) for place, value in enumerate(values)])
    if not set(map(type, values)) <= _NUMBERS:
        for place, value in enumerate(values):
            if isinstance(value, (bool, np.bool_)) or not isinstance(
                value, (int, float, np.number, type(None))
            ):
                raise InputError(f"rows[{place}].{name}", "must be a number or null", value)
    try:
        x = np.array([math.nan if value is None else value for value in values], dtype=float)
    except OverflowError:
        place = next(k for k, value in enumerate(values) if isinstance(value, int) and abs(value) > 10**308)
        raise InputError(f"rows[{place}].{name}", "must be a number that is not this large") from None
    if np.isinf(x).any():
        place = int(np.argmax(np.isinf(x)))
        raise InputError(f"rows[{place}].{name}", "must be a finite number or null", float(x[place]))
    return x


def _days(value: Any, name: str, place: int) -> float:
    try:
        moment = moment_of(value)
    except ValueError:
        raise InputError(
            f"rows[{place}].{name}", "must be a date such as 2024-05-31, or null", value
        ) from None
    return math.nan if moment is None else (moment - _EPOCH) / datetime.timedelta(days=1)


def moment_of(value: Any) -> datetime.datetime | None:
    """Return a date as sent, without its time zone; None where missing.

    Raises
    ------
    ValueError
        If it is none.
    """
    if value is None or value != value:  # NaN, and pandas' NaT
        return None
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value[:64])
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time())
    if not isinstance(value, datetime.datetime):
        raise ValueError("no date")
    return value.replace(tzinfo=None)
