"""Formats that know their types: Parquet, Arrow and JSON values to pandas columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audits.data.io.columns import ConvertedColumn, Markers, convert_text, convert_texts
from audits.data.io.tables import Limits
from audits.data.values import TEXT, text_of
from audits.errors import InputError

_MAX_EXACT = 2**53
_NUMBER_BYTES = 8
_TEXTS = frozenset({pa.string(), pa.large_string(), pa.binary(), pa.large_binary()})
_MAX_BATCHES = 50_000
_BROKEN = (pa.ArrowException, OSError, ValueError, KeyError)


def read_parquet(data: bytes, name: str, limits: Limits) -> pa.Table:
    """Read one Parquet file; its size is checked by its metadata before anything is decoded.

    Raises
    ------
    InputError
        If it is damaged, truncated or too large.
    """
    try:
        with pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True) as file:
            groups = range(file.metadata.num_row_groups)
            size = sum(file.metadata.row_group(i).total_byte_size for i in groups)
            limits.check(name, rows=file.metadata.num_rows, columns=len(file.schema_arrow))
            limits.check_unpacked(name, size, "draw a sample")
            _check_chunks(file, groups)
            chunks = [
                file.metadata.row_group(i).column(j) for i in groups for j in range(file.metadata.num_columns)
            ]
            _check_decoded(name, _NUMBER_BYTES * sum(chunk.num_values for chunk in chunks), limits)
        coded = sorted({chunk.path_in_schema for chunk in chunks if _is_coded(chunk)})
        # texts stay numbers of a dictionary until it is known how long they are when written out
        with pq.ParquetFile(
            pa.BufferReader(data), page_checksum_verification=True, read_dictionary=coded or None
        ) as file:
            table = file.read()
            table.validate(full=True)
            _check_values(name, table, limits)
            return without_dictionaries(table)
    except _BROKEN as error:
        raise _broken(name, "Parquet", error) from None


def read_arrow(data: bytes, name: str, limits: Limits) -> pa.Table:
    """Read an Arrow file (Feather) or stream.

    Raises
    ------
    InputError
        If it is damaged, truncated or too large.
    """
    if data[:4] == b"FEA1":
        raise InputError(
            name, "is in Feather's first version, which is no longer supported", advice="save it again"
        )
    opened = pa.ipc.open_file if data[:6] == b"ARROW1" else pa.ipc.open_stream
    batches, rows, size = [], 0, 0
    try:
        reader = opened(pa.BufferReader(data))
        schema = reader.schema
        count = getattr(reader, "num_record_batches", None)
        stream = (reader.get_batch(i) for i in range(count)) if count is not None else reader
        for batch in stream:
            rows, size = rows + batch.num_rows, size + batch.nbytes
            limits.check(name, rows=rows, columns=len(schema))
            limits.check_unpacked(name, size, "draw a sample")
            batches.append(batch)
            if len(batches) > _MAX_BATCHES:  # each takes memory of its own, an empty one too
                rule = f"comes in more than {_MAX_BATCHES:,} batches"
                raise InputError(name, rule, advice="save it again in larger ones")
        table = pa.Table.from_batches(batches, schema)
        table.validate(full=True)
        _check_values(name, table, limits)
        return table
    except _BROKEN as error:
        raise _broken(name, "Arrow", error) from None


def _check_chunks(file: pq.ParquetFile, groups: Iterable[int]) -> None:
    """Raise what Arrow has against the columns of each row group.

    Asked for what is written about a column, pyarrow ends the process where that is damaged; the reader of
    batches looks at the same, and raises. A row of each group is as little as it reads.
    """
    for group in groups:
        next(file.iter_batches(batch_size=1, row_groups=[group]), None)


def _check_decoded(name: str, size: int, limits: Limits) -> None:
    if size > limits.decoded_bytes:
        raise InputError(
            name,
            f"holds {size / 1e6:,.0f} MB of values; at most {limits.decoded_bytes / 1e6:,.0f} MB are read",
            advice="draw a sample, or leave out columns with long texts",
        )


def _check_values(name: str, table: pa.Table, limits: Limits) -> None:
    """Refuse what is too much written out, and a text that is too long."""
    size, longest = 0, 0
    for column in table.columns:
        for chunk in column.chunks:
            written, most = _written_out(chunk)
            size, longest = size + written, max(longest, most)
    _check_decoded(name, size, limits)
    limits.check_value(name, longest)


def _is_coded(chunk: pq.ColumnChunkMetaData) -> bool:
    texts = chunk.physical_type == "BYTE_ARRAY" and "." not in chunk.path_in_schema
    return texts and any("DICTIONARY" in encoding for encoding in chunk.encodings)


def _written_out(values: pa.Array) -> tuple[int, int]:
    """Return the bytes of values, texts of dictionaries and views written out, and those of the longest."""
    kind = values.type
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        # the length begins each view of 16 bytes
        views = np.frombuffer(values.buffers()[1], dtype="<i4")[::4]
        lengths = views[values.offset : values.offset + len(values)].astype(np.int64)
        return int(lengths.sum()), int(lengths.max(initial=0))
    if pa.types.is_dictionary(kind) and kind.value_type in _TEXTS:
        lengths = pc.binary_length(values.dictionary.cast(pa.large_binary()))
        return pc.sum(pc.take(lengths, values.indices)).as_py() or 0, pc.max(lengths).as_py() or 0
    return values.nbytes, (pc.max(pc.binary_length(values)).as_py() or 0) if kind in _TEXTS else 0


def _broken(name: str, format_name: str, error: Exception) -> InputError:
    if isinstance(error, InputError):
        return error
    reason = str(error).strip().splitlines()[0][:160] if str(error).strip() else type(error).__name__
    return InputError(
        name, f"cannot be read as {format_name}; it is damaged or cut short ({reason.rstrip('.')})"
    )


def arrow_from_values(columns: Mapping[str, Sequence[object]]) -> tuple[pa.Table, tuple[str, ...]]:
    """Return JSON values as Arrow columns, and the names of those to convert as text.

    A column that mixes types becomes text to be converted as in a CSV file; so does one with whole
    numbers too large to be held exactly.
    """
    arrays, texts = {}, []
    for name, values in columns.items():
        types = {type(value) for value in values} - {type(None)}
        nested = bool(types & {dict, list})
        exact = int not in types or all(abs(v) <= _MAX_EXACT for v in values if type(v) is int)
        if nested or len(types) == 0:
            arrays[name] = pa.nulls(len(values), pa.list_(pa.null()) if nested else pa.null())
        elif types in ({int}, {float}, {int, float}) and exact:
            arrays[name] = pa.array(values, pa.int64() if types == {int} else pa.float64())
        elif types in ({bool}, {str}):
            arrays[name] = pa.array(values)
        else:
            texts.append(name)
            arrays[name] = pa.array(
                [None if value is None else text_of(value) for value in values], pa.string()
            )
    return pa.table(arrays), tuple(texts)


def without_dictionaries(table: pa.Table) -> pa.Table:
    """Return the table with its categorical columns as the values they stand for."""
    for position, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            plain = column.cast(column.type.value_type)
            table = table.set_column(position, table.column_names[position], plain)
    return table


def convert_typed(
    table: pa.Table, *, markers: Sequence[str] | None = None, texts: Sequence[str] = ()
) -> tuple[dict[str, ConvertedColumn], tuple[str, ...]]:
    """Convert Arrow columns to pandas ones; columns of nested values are left out, with a note.

    Parameters
    ----------
    table : Table
        With distinct column names.
    markers : sequence of str, optional
        Exactly these mean missing; a number among them also in columns of numbers.
    texts : sequence of str
        Columns to convert as those of a text file.
    """
    converted, notes = {}, []
    table = without_dictionaries(table)
    for name, column in zip(table.column_names, table.columns, strict=True):
        made = (
            convert_texts({name: column}, markers=markers)[name]
            if name in texts
            else _convert(name, column, markers)
        )
        if made is None:
            notes.append(f"Column {name!r} is left out: it holds values of type {column.type}.")
        else:
            converted[name] = made
    return converted, tuple(notes)


def _convert(name: str, column: pa.ChunkedArray, markers: Sequence[str] | None) -> ConvertedColumn | None:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return convert_text(name, column.cast(pa.large_string()), markers=markers)
    null = column.null_count
    missing = {"null": null} if null else {}
    if pa.types.is_null(kind):
        note = f"Column {name!r} has no values at all."
        return ConvertedColumn(pd.Series(np.full(len(column), np.nan)), missing, (note,))
    if pa.types.is_boolean(kind):
        if not null:
            return ConvertedColumn(pd.Series(column.to_numpy()), missing)
        words = pc.if_else(column, "True", "False")
        return ConvertedColumn(pd.Series(words.to_pandas(), dtype=TEXT), missing)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _dates(name, column, missing)
    if pa.types.is_duration(kind):
        parts = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]  # in its own unit: others may overflow
        column = pc.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), parts)
        note = f"Column {name!r} holds durations, read as seconds."
        return ConvertedColumn(pd.Series(column.to_numpy()), missing, (note,))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _numbers(name, column, markers)
    if pa.types.is_time(kind):
        return convert_text(name, column.cast(pa.large_string()), markers=markers)
    return None


def _dates(name: str, column: pa.ChunkedArray, missing: dict[str, int]) -> ConvertedColumn:
    zone = getattr(column.type, "tz", None)
    notes = (f"Times in column {name!r} are shown in UTC.",) if zone else ()
    moments = column.cast(pa.timestamp("us", tz=zone) if zone else pa.timestamp("us"), safe=False)
    values = (
        moments.cast(pa.timestamp("us")) if not zone else moments.cast(pa.int64()).cast(pa.timestamp("us"))
    )
    return ConvertedColumn(pd.Series(values.to_numpy()), missing, notes)


def _numbers(name: str, column: pa.ChunkedArray, markers: Sequence[str] | None) -> ConvertedColumn:
    null = column.null_count
    if pa.types.is_decimal(column.type):  # cast by itself, 0.35 would be the next number above it
        column = column.cast(pa.large_string())
    whole = pa.types.is_integer(column.type)
    if whole and len(column) > null:
        ends = pc.min_max(column).as_py()
        largest = max(abs(ends["min"]), abs(ends["max"]))
        if largest > (_MAX_EXACT if null or markers else 2**63 - 1):
            note = f"Column {name!r} has numbers too long to be held exactly, so it is read as text."
            text = convert_text(name, column.cast(pa.large_string()), markers=markers)
            return ConvertedColumn(text.values, text.missing, (note,), text.markers)
    values = column.cast(pa.int64() if whole and not null else pa.float64(), safe=not whole).to_numpy()
    missing = {"null": null} if null else {}
    nans = int(np.isnan(values).sum()) - null if values.dtype.kind == "f" else 0
    if nans:
        missing["NaN"] = nans
    codes, texts = np.where(np.isnan(values), 0, -1) if markers else np.zeros(0), {0: ""}
    for marker in markers or ():
        try:
            hits = values == float(marker)
        except ValueError:
            continue
        if hits.any():
            values = np.where(hits, np.nan, values.astype(float))
            missing[marker] = int(hits.sum())
            codes[hits] = len(texts)
            texts[len(texts)] = marker
    return ConvertedColumn(pd.Series(values), missing, (), Markers.of(codes, texts))
