"""How the columns of the data feed the inputs of an ONNX model."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.data.values import as_text, near
from audits.errors import InputError
from audits.models.protocol import row_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from audits.data import AuditData

__all__ = [
    "Input",
    "batch_size",
    "check_columns",
    "column_for",
    "feed",
    "input_notes",
    "match_inputs",
    "text_columns",
]

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
    def width(self) -> int | None:
        """How many columns it takes; None for any number."""
        return 1 if len(self.shape) == 1 else self.shape[1]

    @property
    def is_matrix(self) -> bool:
        """Whether its columns were found by position, not by its name."""
        return len(self.columns) > 1 or _plain_name(self.columns[0]) != _plain_name(self.name)


def match_inputs(
    found: Sequence[Any],
    named: tuple[str, ...] | None,
    data: AuditData,
    model: str,
    given: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
) -> tuple[Input, ...]:
    """Return the inputs with the columns that feed them.

    Parameters
    ----------
    found : sequence
        The session's inputs, each with ``name``, ``type`` and ``shape``.
    named : tuple of str or None
        Columns named by the file's metadata, for a single matrix.
    data : AuditData
        Any of its columns but the label is fed.
    model : str
        The model, for messages.
    given : sequence of str, or mapping of str to sequence of str, optional
        `ModelSpec.columns`: those of the only matrix, or by input. Wins over `named`.

    Raises
    ------
    InputError
        If an input has a type or shape that no column has, a name that no column has, or is a matrix whose
        columns nobody named.
    """
    inputs = [_plain_input(each, model) for each in found]
    by_name = [column_for(each.name, data) for each in inputs]
    if isinstance(given, Mapping):
        return _match_given(inputs, by_name, given, data, model)
    named = tuple(given) if given is not None else named
    where = "model.columns" if given is not None else f"{model}, metadata columns"
    if named is not None:
        check_columns(named, data, where)
    single_columns = all(each.width in {1, None} for each in inputs)
    if single_columns and inputs and all(by_name) and (named is None or len(inputs) > 1):
        pairs = zip(inputs, by_name, strict=True)
        return tuple(dataclasses.replace(each, columns=(column or "",)) for each, column in pairs)
    if len(inputs) == 1 and len(inputs[0].shape) == 2:
        return (_match_matrix(inputs[0], named, data, model),)
    raise InputError(
        model,
        _mismatch(inputs, by_name, data),
        advice="say which columns feed which input: add under model, columns: "
        f"{{{', '.join(f'{each.name}: [COLUMN]' for each in inputs[:2])}{', …' if len(inputs) > 2 else ''}}}",
    )


def _plain_input(each: Any, model: str) -> Input:
    if each.type not in {_TEXT, *_NUMBERS} or len(each.shape) not in {1, 2}:
        raise InputError(
            model,
            "must take tensors of numbers or text with one row a person, but input "
            f"{each.name!r} is a {each.type} of {len(each.shape)} dimensions",
        )
    shape = tuple(size if isinstance(size, int) else None for size in each.shape)
    return Input(each.name, each.type, shape, ())


def check_columns(columns: Sequence[str], data: AuditData, where: str) -> None:
    """Raise `InputError` unless each is a column of the data that a model may read."""
    readable = _readable(data)
    if len(set(columns)) < len(columns):
        raise InputError(where, "must name each column once", list(columns))
    for column in columns:
        if column not in readable:
            rule = (
                "must not hold the label" if column in data.frame.columns else "must be columns of the data"
            )
            raise InputError(where, rule, column, near(column, readable))


def _readable(data: AuditData) -> tuple[str, ...]:
    """Return the features, and after them every other column but the label."""
    apart = {data.label, data.cut.column if data.cut is not None else None, *data.features}
    return (*data.features, *(str(name) for name in data.frame.columns if name not in apart))


def _match_given(
    inputs: Sequence[Input],
    by_name: Sequence[str | None],
    given: Mapping[str, Sequence[str]],
    data: AuditData,
    model: str,
) -> tuple[Input, ...]:
    """Return the inputs fed as `ModelSpec.columns` says, those that it does not name by their own names."""
    names = [each.name for each in inputs]
    for name in given:
        if name not in names:
            raise InputError("model.columns", f"must name inputs of the {model}", name, near(name, names))
    made = []
    for each, column in zip(inputs, by_name, strict=True):
        columns = tuple(given.get(each.name, () if column is None else (column,)))
        check_columns(columns, data, f"model.columns.{each.name}")
        if not columns or (each.width or len(columns)) != len(columns):
            raise InputError(
                f"model.columns.{each.name}",
                f"must name {each.width or 'the'} column{'' if each.width == 1 else 's'} that feed the input",
                list(columns),
            )
        made.append(dataclasses.replace(each, columns=columns))
    return tuple(made)


def _plain_name(name: str) -> str:
    return re.sub(r"\W", "_", name).lower()


def column_for(name: str, data: AuditData) -> str | None:
    """Return the column an input is named after; exporters turn spaces and hyphens into ``_``."""
    columns = _readable(data)
    if name in columns:
        return name
    near_ones = [column for column in columns if _plain_name(column) == _plain_name(name)]
    return near_ones[0] if len(near_ones) == 1 else None


def _match_matrix(matrix: Input, named: tuple[str, ...] | None, data: AuditData, model: str) -> Input:
    """Return a single matrix input with its columns: a position alone says nothing about which they are."""
    width = matrix.width
    likely = [name for name in data.features if matrix.type == _TEXT or is_number_column(data.frame[name])]
    if named is None and width == 1 and len(likely) == 1:
        named = (likely[0],)
    if named is None:
        line = (
            f"columns: [{', '.join(likely)}]"
            if width in {None, len(likely)}
            else "columns: [FIRST, SECOND, …]"
        )
        kind = "text" if matrix.type == _TEXT else "numeric"
        raise InputError(
            model,
            f"reads a matrix of {width or 'any number of'} columns in input {matrix.name!r} and does not "
            f"name them ({kind} features: {_words(likely)})",
            advice=f"add under model, in the order it was trained on: {line}",
        )
    if width is not None and width != len(named):
        raise InputError(
            model,
            f"takes {width} columns in input {matrix.name!r}, but {len(named)} are named: {_words(named)}",
            advice="give model.columns: as many as it was trained on, in their order",
        )
    return dataclasses.replace(matrix, columns=named)


def _mismatch(inputs: Sequence[Input], by_name: Sequence[str | None], data: AuditData) -> str:
    names = [each.name for each in inputs]
    absent = [name for name, column in zip(names, by_name, strict=True) if column is None]
    wide = [each.name for each in inputs if each.width not in {1, None}]
    surplus = [feature for feature in data.features if feature not in by_name]
    parts = [f"inputs without a column: {_words(absent)}" if absent else ""]
    parts.append(f"inputs wider than one column: {_words(wide)}" if wide else "")
    parts.append(f"features without an input: {_words(surplus)}" if surplus else "")
    lists = f"inputs {_words(names)}, columns {_words(_readable(data))}"
    return f"must take inputs named after columns of the data; {'; '.join(filter(None, parts))} ({lists})"


def _words(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_MOST_NAMES]) or "none"
    return shown + (f" … ({len(names)} in all)" if len(names) > _MOST_NAMES else "")


def input_notes(inputs: Sequence[Input], data: AuditData) -> Iterator[str]:
    """Yield, in sentences, what the user should know about how the inputs are fed."""
    read = [column for each in inputs for column in each.columns]
    if any(each.is_matrix for each in inputs):
        yield f"The model reads a matrix; its columns are, in this order: {', '.join(read)}."
    unread = [feature for feature in data.features if feature not in read]
    if unread:
        yield f"The model does not read the features {_words(unread)}."
    texts = text_columns(inputs)
    if texts:
        given = data.written.restore(data.frame[list(texts)], texts=texts)
        for column in texts:
            missing = int(given[column].isna().sum())
            if missing:
                yield f"{missing:,} empty cells of {column!r} are given to the model as empty text."


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


def is_number_column(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column)  # truth values count as 0 and 1


def _numbers(column: pd.Series, each: Input, model: str) -> np.ndarray:
    """Return a column as the number type of input `each`; nothing is rounded to fit."""
    wanted = _NUMBERS[each.type]
    if not is_number_column(column):
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
            advice="set data.missing to 'drop', or export the model with float inputs and the step that "
            "fills in what is missing",
        )
    return values.astype(wanted)
