"""Which columns of the data feed which inputs of a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from audits.data.values import near, text_of, truth_values
from audits.errors import InputError

if TYPE_CHECKING:
    from audits.data import AuditData

_MAX_NAMES = 8


def match_columns(
    widths: Mapping[str, int | None],
    data: AuditData,
    model: str,
    given: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    *,
    listed: Sequence[str] | None = None,
    named: bool = True,
    texts: bool = False,
) -> list[tuple[str, ...]]:
    """Return the columns that feed each input, in the order of `widths`.

    Parameters
    ----------
    widths : mapping of str to int or None
        How many columns each input takes; None for any number.
    data : AuditData
        Any of its columns but the label is fed.
    model : str
        The model, for messages.
    given : sequence of str, or mapping of str to sequence of str, optional
        `ModelSpec.columns`: all columns in order, or those of inputs by name. Wins over `listed` and names.
    listed : sequence of str, optional
        All columns in order, as the file lists them.
    named : bool
        Whether the inputs have names of their own; else they are known by position only.
    texts : bool
        Whether a single input takes text.

    Raises
    ------
    InputError
        If an input has no column, or another number of them than it takes.
    """
    own = {name: column_for(name, data) if named else None for name in widths}
    order = listed if given is None else given
    if isinstance(order, Mapping):
        for name in order:
            if name not in widths:
                raise InputError(
                    "model.columns", f"must name inputs of the {model}", name, near(name, widths)
                )
        found = [tuple(order.get(name, filter(None, [own[name]]))) for name in widths]
    elif order is not None:
        check_columns(order, data, "model.columns" if given is not None else f"{model}, metadata columns")
        found = [tuple(order)] if len(widths) == 1 else [(column,) for column in order]
        total = next(iter(widths.values())) if len(widths) == 1 else len(widths)
        if total not in {None, len(order)}:
            inside = f" in input {next(iter(widths))!r}" if len(widths) == 1 else ""
            raise InputError(
                model,
                f"takes {total} columns{inside}, but {len(order)} are named: {_words(order)}",
                advice="give model.columns: as many as it was trained on, in their order",
            )
    elif all(own.values()) and set(widths.values()) <= {1, None}:
        found = [(column or "",) for column in own.values()]
    elif len(widths) == 1 or not named:
        found = [_only_column(widths, data, model, texts=texts)]
    else:
        found = [() if column is None or widths[name] != 1 else (column,) for name, column in own.items()]
    short = [name for name, columns in zip(widths, found, strict=True)
             if not columns or widths[name] not in {None, len(columns)}]  # fmt: skip
    if short or not widths:
        raise _mismatch(short, widths, own, data, model)
    for name, columns in zip(widths, found, strict=True):
        check_columns(columns, data, f"model.columns.{name}")
    return found


def _only_column(
    widths: Mapping[str, int | None], data: AuditData, model: str, *, texts: bool
) -> tuple[str, ...]:
    """Return the one column that can feed inputs which nobody named: a position alone says nothing."""
    width = next(iter(widths.values())) if len(widths) == 1 else len(widths)
    likely = [name for name in data.features if texts or pd.api.types.is_numeric_dtype(data.frame[name])]
    if width == 1 and len(likely) == 1:
        return (likely[0],)
    line = f"[{', '.join(likely)}]" if width in {None, len(likely)} else "[FIRST, SECOND, …]"
    raise InputError(
        model,
        f"reads {width or 'any number of'} columns and does not name them "
        f"({'text' if texts else 'numeric'} features: {_words(likely)})",
        advice=f"add under model, in the order it was trained on: columns: {line}",
    )


def _mismatch(
    short: Sequence[str],
    widths: Mapping[str, int | None],
    own: Mapping[str, str | None],
    data: AuditData,
    model: str,
) -> InputError:
    surplus = [feature for feature in data.features if feature not in own.values()]
    wide = [name for name, width in widths.items() if width not in {1, None}]
    absent = [name for name in short if own[name] is None and name not in wide]
    parts = [f"inputs without a column: {_words(absent)}" if absent else ""]
    parts.append(f"inputs of several columns: {_words(wide)}" if wide else "")
    parts.append(f"features without an input: {_words(surplus)}" if surplus else "")
    lists = f"inputs {_words(list(widths))}, columns {_words(_readable(data))}"
    line = f"{{{', '.join(f'{name}: [COLUMN]' for name in short[:2])}{', …' if len(short) > 2 else ''}}}"
    return InputError(
        model,
        f"must take inputs named after columns of the data; {'; '.join(filter(None, parts))} ({lists})",
        advice=f"say which columns feed which input: add under model, columns: {line}",
    )


def _readable(data: AuditData) -> tuple[str, ...]:
    """Return the features, and after them every other column but the label."""
    apart = {data.label, data.number, *data.features}
    return (*data.features, *(str(name) for name in data.frame.columns if name not in apart))


def check_columns(columns: Sequence[str], data: AuditData, where: str) -> None:
    """Raise `InputError` unless each is a column of the data that a model may read, named once."""
    readable = _readable(data)
    if len(set(columns)) < len(columns):
        raise InputError(where, "must name each column once", list(columns))
    for column in columns:
        if column not in readable:
            known = column in data.frame.columns
            rule = "must not hold the label" if known else "must be columns of the data"
            raise InputError(where, rule, column, near(column, readable))


def plain_name(name: str) -> str:
    """Return a name as exporters write it, spaces and hyphens as ``_``, in small letters."""
    return re.sub(r"\W", "_", name).lower()


def column_for(name: str, data: AuditData) -> str | None:
    """Return the column that an input is named after, None where none or more than one could be meant."""
    columns = _readable(data)
    if name in columns:
        return name
    close = [column for column in columns if plain_name(column) == plain_name(name)]
    return close[0] if len(close) == 1 else None


def unread(columns: Sequence[str], data: AuditData) -> Iterator[str]:
    """Yield, in a sentence, which features a model does not read."""
    left = [feature for feature in data.features if feature not in columns]
    if left:
        yield f"The model does not read the features {_words(left)}."


def given_as_texts(columns: Sequence[str], data: AuditData) -> Iterator[str]:
    """Yield, in sentences, what becomes of missing cells and of fractions in columns given as any text.

    Nothing in a file tells whether it was trained on ``"1.0"`` and ``"nan"`` or on ``"1"`` and ``""``.
    """
    given = data.written.restore(data.frame[list(columns)], texts=columns)
    for column in columns:
        texts = given[column]
        missing = int(texts.isna().sum())
        if missing:
            yield f"{missing:,} empty cells of {column!r} are given to the model as empty text."
        known = data.frame[column].dropna()
        if pd.api.types.is_float_dtype(known.dtype) and len(known):
            yield (
                f"Numbers of {column!r} are given to the model as texts such as {text_of(known.iloc[0])!r}: "
                "one that was trained on other texts, such as 1.0 for 1, does not know them."
            )
        elif truth_values(texts) is not texts:
            yield (
                f"Truth values of {column!r} are given to the model as texts such as {known.iloc[0]!r}: one "
                "that was trained on other texts, such as 1 for True, does not know them."
            )


def _words(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_MAX_NAMES]) or "none"
    return shown + (f" … ({len(names)} in all)" if len(names) > _MAX_NAMES else "")
