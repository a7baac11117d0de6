"""How the columns of the data feed the inputs of an ONNX model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.data.values import as_text, truth_values
from audits.errors import InputError
from audits.models.columns import given_as_texts, match_columns, plain_name, unread
from audits.models.protocol import row_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from audits.data import AuditData

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


@dataclass(frozen=True)
class Input:
    """One input tensor: its name, element type, shape (None where free) and the columns that feed it."""

    name: str
    type: str
    shape: tuple[int | None, ...]
    columns: tuple[str, ...]

    @property
    def width(self) -> int | None:
        """How many columns it takes; None for any number."""
        return 1 if len(self.shape) == 1 else self.shape[1]

    @property
    def is_matrix(self) -> bool:
        """Whether its columns were found by position, not by its name."""
        return len(self.columns) > 1 or plain_name(self.columns[0]) != plain_name(self.name)


def match_inputs(
    found: Sequence[Any],
    listed: tuple[str, ...] | None,
    data: AuditData,
    model: str,
    given: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
) -> tuple[Input, ...]:
    """Return the inputs with the columns that feed them.

    Parameters
    ----------
    found : sequence
        The session's inputs, each with ``name``, ``type`` and ``shape``.
    listed : tuple of str or None
        Columns named by the file's metadata, for a single matrix.
    data, model, given
        See `match_columns`; a list of columns is of the only matrix.

    Raises
    ------
    InputError
        If an input has a type or shape that no column has, or nothing says which columns feed it.
    """
    inputs = [_plain_input(each, model) for each in found]
    if len(inputs) > 1:
        listed, given = None, given if isinstance(given, Mapping) else None
    widths = {each.name: each.width for each in inputs}
    texts = any(each.type == _TEXT for each in inputs)
    columns = match_columns(widths, data, model, given, listed=listed, texts=texts)
    return tuple(dataclasses.replace(each, columns=own) for each, own in zip(inputs, columns, strict=True))


def _plain_input(each: Any, model: str) -> Input:
    if each.type not in {_TEXT, *_NUMBERS} or len(each.shape) not in {1, 2}:
        raise InputError(
            model,
            "must take tensors of numbers or text with one row a person, but input "
            f"{each.name!r} is a {each.type} of {len(each.shape)} dimensions",
        )
    shape = tuple(size if isinstance(size, int) else None for size in each.shape)
    return Input(each.name, each.type, shape, ())


def input_notes(inputs: Sequence[Input], data: AuditData) -> Iterator[str]:
    """Yield, in sentences, what the user should know about how the inputs are fed."""
    read = [column for each in inputs for column in each.columns]
    if any(each.is_matrix for each in inputs):
        yield f"The model reads a matrix; its columns are, in this order: {', '.join(read)}."
    yield from unread(read, data)
    yield from given_as_texts(text_columns(inputs), data)


def text_columns(inputs: Sequence[Input]) -> tuple[str, ...]:
    """Return the columns that are given as texts."""
    return tuple(dict.fromkeys(column for each in inputs if each.type == _TEXT for column in each.columns))


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


def _numbers(column: pd.Series, each: Input, model: str) -> np.ndarray:
    """Return a column as the number type of input `each`; nothing is rounded to fit."""
    wanted, column = _NUMBERS[each.type], truth_values(column)
    if not pd.api.types.is_numeric_dtype(column):  # truth values count as 0 and 1
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
            advice="set data.missing to 'drop', or export the model with float inputs and its imputation "
            "step",
        )
    return values.astype(wanted)
