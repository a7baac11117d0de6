"""Rows from outside as points of a `FeatureSpace`: by its blocks, but each value is checked as it comes in.

Row and column of the first that is wrong are named, and one row is quick: no frame is made of it.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from audits.data.encoder import FeatureSpace
from audits.data.encoder_blocks import NumberBlock
from audits.data.values import MISSING_TEXTS, places_by_text, text_of
from audits.errors import InputError
from audits.text import join_names

_NUMBERS = frozenset({int, float, type(None)})
_TEXTS = frozenset({str, int, float, bool, type(None)})
_EPOCH = datetime.datetime(1970, 1, 1)
_MAX_TEXT = 1000
_MAX_NAME = 200


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
                raise InputError(f"rows[{place}]", f"lacks {join_names(missing, quoted=True)}")
            extra = sorted(str(name)[:_MAX_NAME] for name in row if name not in wanted)
            advice = f"send only {join_names(expected, most=60, quoted=True)}"
            told = f"has columns that are not read: {join_names(extra, quoted=True)}"
            raise InputError(f"rows[{place}]", told, advice=advice)
    return {name: [row[name] for row in rows] for name in expected}


class RowEncoder:
    """Encodes columns of values into points (n, d).

    Parameters
    ----------
    encoding : list of dict
        From `FeatureSpace.described`: one entry a raw column.
    reads : sequence of str
        Columns that are sent; the others' points stay 0, where no network looks.

    Raises
    ------
    InputError
        If a column of `reads` is none of the space.
    KeyError, TypeError, ValueError
        If the description is none.
    """

    def __init__(self, encoding: Sequence[Mapping[str, Any]], reads: Sequence[str]) -> None:
        self.space = space = FeatureSpace.restored(encoding, texts=True)
        self.reads, self.columns, self.width = tuple(reads), space.columns, len(space.names)
        self.starts = [space.blocks[column].start for column in space.columns]
        unknown = [name for name in self.reads if name not in self.columns]
        if unknown:
            raise InputError("bundle.reads", "must be encoded columns", unknown)
        # block, its columns, and the places of its levels by their texts, where it has levels
        self._read = [
            (block, space.blocks[block.column], places_by_text(block.levels))
            for block in space.parts
            if block.column in self.reads
        ]

    @property
    def numbers(self) -> frozenset[str]:
        """Return the columns that hold numbers."""
        return frozenset(
            block.column
            for block in self.space.parts
            if isinstance(block, NumberBlock) and not len(block.levels) and block.kind != "datetime"
        )

    def encode(self, columns: Mapping[str, Sequence[Any]], n: int) -> tuple[np.ndarray, dict[int, list[str]]]:
        """Return the points (n, d), and by row the columns whose value was never seen before.

        Raises
        ------
        InputError
            Naming row and column of the first value of a wrong type or that is not finite.
        """
        z = np.zeros((n, self.width))
        unseen: dict[int, list[str]] = {}
        for block, where, known in self._read:
            name, values, own = block.column, columns[block.column], z[:, where]
            if isinstance(block, NumberBlock):
                strange: Sequence[int] = ()
                if known:
                    places = [_place(value, known, name, row) for row, value in enumerate(values)]
                    x = np.array([math.nan if place < 0 else place for place in places], dtype=float)
                    strange = [k for k, place in enumerate(places) if place < 0 and values[k] is not None]
                elif block.kind == "datetime":
                    x = np.array([_days(value, name, row) for row, value in enumerate(values)])
                else:
                    x = _numbers(values, name)
                missing = block.write(x, own)
                if own.shape[1] == 1:  # nobody lacked it before
                    strange = np.flatnonzero(missing).tolist()
            else:
                places = [_place(value, known, name, row) for row, value in enumerate(values)]
                block.write(places, own)
                strange = [row for row, place in enumerate(places) if place < 0]
            for row in strange:
                unseen.setdefault(row, []).append(name)
        if not np.isfinite(z).all():  # once for all columns: it takes as long as encoding one
            self._refuse_infinite(columns)
        return z, unseen

    def _refuse_infinite(self, columns: Mapping[str, Sequence[Any]]) -> None:
        for name in self.reads:
            if name in self.numbers:
                for row, value in enumerate(columns[name]):
                    if value is not None and math.isinf(value):
                        where = f"rows[{row}].{name}"
                        raise InputError(where, "must be a finite number or null", float(value))


def _place(value: Any, known: Mapping[str | None, int], name: str, row: int) -> int:
    """Return the place of a level, -1 for one never seen; what a file would have as missing is, too."""
    if type(value) is str:
        if len(value) > _MAX_TEXT:
            raise InputError(f"rows[{row}].{name}", f"must be at most {_MAX_TEXT} characters", value)
        return known.get(None if value in MISSING_TEXTS and value not in known else value, -1)
    if value is None or (type(value) is float and math.isnan(value)):
        return known.get(None, -1)
    if type(value) not in _TEXTS and not isinstance(value, (datetime.date, np.generic)):
        raise InputError(f"rows[{row}].{name}", "must be text, a number, true, false or null", value)
    if isinstance(value, float) and math.isinf(value):
        raise InputError(f"rows[{row}].{name}", "must be text or a finite number", value)
    return known.get(text_of(value), -1)


def _numbers(values: Sequence[Any], name: str) -> np.ndarray:
    """Return numbers (n,), NaN where missing."""
    if not set(map(type, values)) <= _NUMBERS:
        for place, value in enumerate(values):
            if isinstance(value, (bool, np.bool_)) or not isinstance(
                value, (int, float, np.number, type(None))
            ):
                raise InputError(f"rows[{place}].{name}", "must be a number or null", value)
    try:
        return np.array([math.nan if value is None else value for value in values], dtype=float)
    except OverflowError:
        place = next(k for k, value in enumerate(values) if isinstance(value, int) and abs(value) > 10**308)
        raise InputError(f"rows[{place}].{name}", "must be a number that is not this large") from None


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
