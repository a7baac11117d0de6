"""How the columns of the data feed the inputs of an ONNX model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.data.values import as_text
from audits.errors import InputError
from audits.models.protocol import row_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from audits.data import AuditData

__all__ = ["Input", "batch_size", "feed", "input_notes", "match_inputs"]

_TEXT = "tensor(string)"
_NUMBERS: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(int16)": np.int16,
    "tensor(int8)": np.int8,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
}
_MOST_NAMES = 8


@dataclass(frozen=True)
class Input:
    """One input tensor: its name, element type, shape (None where free) and the columns that feed it."""

    name: str
    type: str
    shape: tuple[int | None, ...]
    columns: tuple[str, ...]

    @property
    def is_matrix(self) -> bool:
        """Whether its columns were found by position, not by its name."""
        return len(self.columns) > 1 or _plain_name(self.columns[0]) != _plain_name(self.name)


def match_inputs(
    found: Sequence[Any], named: tuple[str, ...] | None, data: AuditData, model: str
) -> tuple[Input, ...]:
    """Return the inputs with the columns that feed them.

    Parameters
    ----------
    found : sequence
        The session's inputs, each with ``name``, ``type`` and ``shape``.
    named : tuple of str or None
        Columns named by the file's metadata, for a single matrix.
    data : AuditData
        Only its features are fed.
    model : str
        The model, for messages.

    Raises
    ------
    InputError
        If an input has a type or shape that no column has, a name that no feature has, or, for a
        single matrix, another width than there are columns for it.
    """
    inputs = [
        Input(each.name, each.type, tuple(size if isinstance(size, int) else None for size in each.shape), ())
        for each in found
    ]
    for each in inputs:
        if each.type not in {_TEXT, *_NUMBERS} or len(each.shape) not in {1, 2}:
            raise InputError(
                model,
                "must take tensors of numbers or text with one row a person, but input "
                f"{each.name!r} is a {each.type} of {len(each.shape)} dimensions",
            )
    by_name = [_column_for(each.name, data.features) for each in inputs]
    single_columns = all(len(each.shape) == 1 or each.shape[1] in {1, None} for each in inputs)
    if single_columns and inputs and all(by_name) and (named is None or len(inputs) > 1):
        pairs = zip(inputs, by_name, strict=True)
        return tuple(Input(each.name, each.type, each.shape, (column or "",)) for each, column in pairs)
    if len(inputs) == 1 and len(inputs[0].shape) == 2 and (named is not None or inputs[0].type != _TEXT):
        return (_match_matrix(inputs[0], named, data, model),)
    raise InputError(
        model, _mismatch(inputs, by_name, data), advice="rename or choose data.features to fit the model"
    )


def _plain_name(name: str) -> str:
    return re.sub(r"\W", "_", name).lower()


def _column_for(name: str, features: Sequence[str]) -> str | None:
    """Return the feature an input is named after; exporters turn spaces and hyphens into ``_``."""
    if name in features:
        return name
    near = [feature for feature in features if _plain_name(feature) == _plain_name(name)]
    return near[0] if len(near) == 1 else None


def _match_matrix(matrix: Input, named: tuple[str, ...] | None, data: AuditData, model: str) -> Input:
    """Return a single matrix input with its columns: those the file names, else the numeric features."""
    if named is not None:
        absent = [column for column in named if column not in data.features]
        if absent:
            raise InputError(
                model,
                f"names columns that are not among the features: {_words(absent)} "
                f"(features: {_words(data.features)})",
                advice="add them to data.features",
            )
    columns = named or tuple(name for name in data.features if _is_number(data.frame[name]))
    source = "columns named in its metadata" if named else "numeric feature columns"
    width = matrix.shape[1]
    if not columns or (width is not None and width != len(columns)):
        raise InputError(
            model,
            f"must find as many columns as its input {matrix.name!r} is wide, but that takes "
            f"{'some' if width is None else width} and there are {len(columns)} {source}"
            + (f": {_words(columns)}" if columns else ""),
            advice="choose data.features to fit the model, or name its columns, in order, as a JSON list in "
            "the metadata entry 'columns' of the file",
        )
    return Input(matrix.name, matrix.type, matrix.shape, columns)


def _mismatch(inputs: Sequence[Input], by_name: Sequence[str | None], data: AuditData) -> str:
    names = [each.name for each in inputs]
    absent = [name for name, column in zip(names, by_name, strict=True) if column is None]
    wide = [each.name for each in inputs if len(each.shape) == 2 and each.shape[1] not in {1, None}]
    surplus = [feature for feature in data.features if feature not in by_name]
    elsewhere = [name for name in absent if name in data.frame.columns]
    parts = [f"inputs without a feature column: {_words(absent)}" if absent else ""]
    parts.append(f"inputs wider than one column: {_words(wide)}" if wide else "")
    parts.append(f"feature columns without an input: {_words(surplus)}" if surplus else "")
    parts.append(f"in the data, but not among the features: {_words(elsewhere)}" if elsewhere else "")
    lists = f"inputs {_words(names)}, features {_words(data.features)}"
    return f"must take inputs named after feature columns; {'; '.join(filter(None, parts))} ({lists})"


def _words(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_MOST_NAMES]) or "none"
    return shown + (f" … ({len(names)} in all)" if len(names) > _MOST_NAMES else "")


def input_notes(inputs: Sequence[Input], data: AuditData) -> Iterator[str]:
    """Yield, in sentences, what the user should know about how the inputs are fed."""
    read = [column for each in inputs for column in each.columns]
    if inputs[0].is_matrix:
        yield f"The model reads one matrix; its columns were taken to be, in this order: {', '.join(read)}."
    unread = [feature for feature in data.features if feature not in read]
    if unread:
        yield f"The model does not read the features {_words(unread)}."
    for each in inputs:
        for column in each.columns:
            missing = int(data.frame[column].isna().sum())
            if missing and each.type == _TEXT:
                yield f"{missing:,} missing values of {column!r} are given to the model as empty text."


def batch_size(inputs: Sequence[Input], model: str) -> int | None:
    """Return the number of rows that the model insists on, or None if any number will do."""
    sizes = {each.shape[0] for each in inputs if each.shape[0] is not None}
    if len(sizes) > 1 or 0 in sizes:
        raise InputError(model, "must take the same number of rows in all its inputs", sorted(sizes))
    return sizes.pop() if sizes else None


def feed(each: Input, frame: pd.DataFrame, model: str) -> np.ndarray:
    """Return the tensor for one input, (n,), (n, 1) or (n, d), in the element type it asks for."""
    if each.type == _TEXT:
        columns = [as_text(frame[column]).fillna("").to_numpy(dtype=object) for column in each.columns]
    else:
        columns = [_numbers(frame[column], each, model) for column in each.columns]
    return columns[0] if len(each.shape) == 1 else np.column_stack(columns)


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column)  # truth values count as 0 and 1


def _numbers(column: pd.Series, each: Input, model: str) -> np.ndarray:
    """Return a column as the number type of input `each`; nothing is rounded to fit."""
    wanted = _NUMBERS[each.type]
    if not _is_number(column):
        raise InputError(
            model,
            f"takes numbers in input {each.name!r}, but column {column.name!r} holds none",
            column.iloc[0],
        )
    if np.issubdtype(wanted, np.floating):
        return column.to_numpy(np.float64, na_value=np.nan).astype(wanted)
    low, high = (0, 1) if wanted is np.bool_ else (np.iinfo(wanted).min, np.iinfo(wanted).max)
    if pd.api.types.is_integer_dtype(column) and not column.isna().any():
        values = column.to_numpy(np.int64)
        bad = (values < low) | (values > high)
    else:
        values = column.to_numpy(np.float64, na_value=np.nan)
        # the largest int64 is no float: the bound above it is
        bad = ~((values >= low) & (values < float(high) + 1) & (values == np.rint(values)))
    if bad.any():
        frame = column.to_frame()
        raise InputError(
            model,
            f"takes {each.type.removeprefix('tensor(')[:-1]} in input {each.name!r}, but {int(bad.sum()):,} "
            f"of {len(bad):,} values of column {column.name!r} are missing or do not fit "
            f"({row_words(frame, bad)})",
            advice="set data.missing to 'drop' or 'impute', or export the model with float inputs",
        )
    return values.astype(wanted)
