"""Read tables from files.

Format, encoding, separator, header and missing markers are found, reported, and can be overridden;
what cannot be read says why in one sentence.
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import os
import stat
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from audits.checks import one_of
from audits.data.io.columns import ConvertedColumn, convert_texts
from audits.data.io.limits import parquet_files
from audits.data.io.tables import FileReport, FileSource, Limits, ReadOptions, ReadReport, Table, build_table
from audits.data.io.text_tables import name_columns, read_delimited, read_json_lines
from audits.data.io.typed_tables import (
    arrow_from_values,
    convert_typed,
    read_arrow,
    read_parquet,
    without_dictionaries,
)
from audits.errors import InputError

__all__ = ["FORMATS", "FileReport", "Limits", "ReadOptions", "ReadReport", "Table", "read_table"]

FORMATS = ("csv", "tsv", "parquet", "arrow", "xlsx", "jsonl")
_TEXT = frozenset({"csv", "tsv", "xlsx"})
_SUFFIXES = {
    suffix: kind
    for kind, suffixes in (
        ("parquet", (".parquet", ".pq")),
        ("arrow", (".arrow", ".arrows", ".feather")),
        ("xlsx", (".xlsx", ".xlsm")),
        ("jsonl", (".jsonl", ".ndjson", ".json")),
        ("tsv", (".tsv", ".tab")),
    )
    for suffix in suffixes
}
_MAGIC = ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"FEA1", "arrow"), (b"PK\x03\x04", "xlsx"))
_PACKED = {b"\x28\xb5\x2f\xfd": "zstd", b"BZh91AY&SY": "bzip2", b"\xfd7zXZ": "xz"}


@dataclass(frozen=True, eq=False)
class _Part:
    """One file read: a table of texts or of types, those of its columns to convert as text, its report."""

    table: pa.Table
    texts: tuple[str, ...]
    report: FileReport


def read_table(
    paths: Path | str | Sequence[Path | str],
    *,
    format: str | None = None,  # noqa: A002 - the spec's word
    options: ReadOptions | None = None,
    limits: Limits | None = None,
    columns: Callable[[Sequence[str]], Sequence[str]] | None = None,
) -> Table:
    """Read a file, several files with the same columns, or a folder of Parquet files.

    Parameters
    ----------
    paths : path or sequence of paths
        Rows of several files follow each other; columns are matched by name. CSV, TSV and JSON
        lines may be compressed (.gz).
    format : {"csv", "tsv", "parquet", "arrow", "xlsx", "jsonl"}, optional
        Found by content and ending if not given.
    options : ReadOptions, optional
        What detection should not decide.
    limits : Limits, optional
        What is refused for its size.
    columns : callable, optional
        Given the names that delimited text has, returns those that are wanted: others are not typed, unless
        they show what the decimal mark is.

    Returns
    -------
    Table
        All rows, numbered from 1, with a report of how they were read. Spaces around names and values of
        text formats are removed, and a decimal number keeps no trailing zeros; everything else stays as it
        was written, codes such as "007" too.

    Raises
    ------
    InputError
        Names the file (and row or column), what was found and what to do.
    """
    options, limits = options or ReadOptions(), limits or Limits()
    if format is not None:
        one_of("data.format", format, FORMATS)
    listed = [Path(paths)] if isinstance(paths, (str, Path)) else [Path(path) for path in paths]
    files = [file for path in listed for file in _files(path, format)]
    if not files:
        raise InputError("data.path", "must name at least one file")
    parts: list[_Part] = []
    for (file, root), skip in zip(files, _skips(options, len(files)), strict=True):
        like = tuple(parts[0].table.column_names) if parts else None
        parts.append(_read(file, root, format, FileSource(file.name, options, limits, skip, like)))
        limits.check_names(file.name, parts[-1].table.column_names)
        rows = sum(part.table.num_rows for part in parts)
        limits.check(file.name, rows=rows, columns=parts[0].table.num_columns)
    return _assemble(parts, options, columns)


def _files(path: Path, wanted: str | None) -> list[tuple[Path, Path]]:
    """Return the files of a path, each with the folder that was named (or its own)."""
    try:
        if path.is_dir():
            if wanted not in {None, "parquet"}:
                raise InputError(path.name, f"is a folder; only Parquet is read from folders, not {wanted}")
            found = parquet_files([path])
            if not found:
                raise InputError(path.name, "is a folder without Parquet files", advice="name a file")
            return [(file, path) for file in found]
        if not path.exists():
            raise InputError("data.path", "must be a file that exists", path.name)
        if not path.is_file():
            raise InputError("data.path", "must be a regular file", path.name)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("data.path", "cannot be looked up", path.name) from None
    return [(path, path.parent)]


def _skips(options: ReadOptions, files: int) -> list[int | None]:
    given = options.skip_rows
    skips: list[int | None] = list(given) if isinstance(given, tuple) else [given] * files
    if len(skips) != files:
        raise InputError("read.skip_rows", f"must give one number for each of the {files:,} files", given)
    if any(skip is not None and skip < 0 for skip in skips):
        raise InputError("read.skip_rows", "must be 0 or more lines", given)
    return skips


def _read(path: Path, root: Path, wanted: str | None, source: FileSource) -> _Part:
    name, limits, options = source.name, source.limits, source.options
    data = _bytes(path, limits)
    about: dict[str, Any] = {"name": name, "sha256": hashlib.sha256(data).hexdigest()}
    compressed = data[:2] == b"\x1f\x8b"
    if compressed:
        data = _unzip(data, name, limits)
    if not data:
        raise InputError(name, "is empty")
    kind = wanted or _detect(data, name)
    if not compressed and kind in {"csv", "tsv", "jsonl"}:
        limits.check_lines(name, data)
        limits.check_line_ends(name, data.count(b"\n"))
    if compressed and kind in {"parquet", "arrow", "xlsx"}:
        raise InputError(name, f"holds {kind} inside gzip", advice="unpack it first")
    about |= {"format": kind, "compressed": compressed, "names_given": options.names is not None}
    if kind in _TEXT:
        if kind == "tsv" and options.separator is None:
            source = dataclasses.replace(source, options=dataclasses.replace(options, separator="\t"))
        return _text_part(data, source, about)
    texts: tuple[str, ...] = ()
    if kind == "jsonl":
        columns, about["encoding"], about["blank_lines"] = read_json_lines(data, source)
        table, texts = arrow_from_values(columns)
    else:
        table = read_arrow(data, name, limits) if kind == "arrow" else read_parquet(data, name, limits)
    return _typed_part(table, texts, path.relative_to(root).parts[:-1], about, source)


def _typed_part(
    table: pa.Table,
    texts: tuple[str, ...],
    folders: Sequence[str],
    about: Mapping[str, Any],
    source: FileSource,
) -> _Part:
    """Name the columns, and add those that folders named "key=value" stand for."""
    names, notes = name_columns(source, tuple(table.column_names), table.num_columns)
    texts = tuple(new for old, new in zip(table.column_names, names, strict=True) if old in texts)
    table = without_dictionaries(table.rename_columns(list(names)))
    for key, value in (folder.split("=", 1) for folder in folders if "=" in folder):
        if key in table.column_names:
            rule = f"has the column {key!r} that its folder names too"
            raise InputError(source.name, rule, advice="rename either")
        table = table.append_column(key, pa.array([value] * table.num_rows, pa.string()))
        texts += (key,)
    return _Part(table, texts, FileReport(**about, rows=table.num_rows, notes=notes))


def _text_part(data: bytes, source: FileSource, about: Mapping[str, Any]) -> _Part:
    if about["format"] == "xlsx":
        from audits.data.io.sheets import read_sheet

        table, told = read_sheet(data, source)
    else:
        table, told = read_delimited(data, source)
    report = FileReport(**about, **told, rows=table.num_rows)
    return _Part(table, tuple(table.column_names), report)


def _bytes(path: Path, limits: Limits) -> bytes:
    try:
        with path.open("rb") as file:
            stated = os.fstat(file.fileno())
            size, data = stated.st_size, b""
            if not stat.S_ISREG(stated.st_mode):  # a pipe does not say how much it holds
                data = file.read(limits.file_bytes + 1)
            elif size <= limits.file_bytes:
                data = file.read()  # a number here would be taken from memory before anything is read
            size = max(size, len(data))
    except OSError as error:
        raise InputError(path.name, f"cannot be opened: {error.strerror}") from None
    if size > limits.file_bytes:
        raise InputError(
            path.name,
            f"has {size / 1e6:,.0f} MB; at most {limits.file_bytes / 1e6:,.0f} MB are read",
            advice="keep fewer rows or columns, or raise EVENHAND_MAX_FILE_MB",
        )
    return data


_CHUNK = 1 << 22


def _unzip(data: bytes, name: str, limits: Limits) -> bytes:
    parts: list[bytes] = []  # joined when their size is known: a whole that is too long is never held twice
    size = line = ends = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while part := file.read(_CHUNK):
                line, ends = limits.check_lines(name, part, line), ends + part.count(b"\n")
                limits.check_line_ends(name, ends)
                parts.append(part)
                size += len(part)
                if size > limits.decompressed_bytes:
                    break
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(name, f"is not a readable gzip file: {error}", advice="compress it again") from None
    if size > limits.decompressed_bytes:
        most = limits.decompressed_bytes / 1e6
        raise InputError(name, f"unpacks to more than {most:,.0f} MB", advice="keep fewer rows or columns")
    return b"".join(parts)


def _detect(data: bytes, name: str) -> str:
    """Return the format that the first bytes show, else the one the ending names, else "csv"."""
    for mark, meant in _MAGIC:
        if data.startswith(mark):
            return meant
    for mark, packer in _PACKED.items():
        if data.startswith(mark):
            raise InputError(name, f"is packed by {packer}", advice="unpack it first")
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise InputError(name, "is an old Excel file (.xls)", advice="save it as .xlsx or CSV")
    suffixes = [suffix.lower() for suffix in Path(name).suffixes if suffix.lower() != ".gz"]
    meant = _SUFFIXES.get(suffixes[-1] if suffixes else "", "csv")
    if meant == "jsonl" and data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        raise InputError(name, "is a JSON array", advice="write one object per line (JSON lines)")
    return "jsonl" if meant == "csv" and data.startswith(b'{"') else meant


def _assemble(
    parts: list[_Part], options: ReadOptions, columns: Callable[[Sequence[str]], Sequence[str]] | None
) -> Table:
    """Join the files' columns, convert them together, and number the rows."""
    first = parts[0]
    if len({part.report.format in _TEXT for part in parts}) > 1:
        raise InputError("data.path", "mixes text and typed formats", advice="use one format for all files")
    joined = _concatenate(parts)
    texts = {name for part in parts for name in part.texts}
    report_notes: tuple[str, ...] = ()
    if first.report.format in _TEXT:
        comma = all(part.report.separator == ";" for part in parts)
        if columns is not None and not comma:
            joined = joined.select(list(columns(joined.column_names)))
        converted = convert_texts(
            dict(zip(joined.column_names, joined.columns, strict=True)),
            markers=options.missing,
            comma=comma,
            decimal=options.decimal,
        )
        converted, report_notes = _without_empty(converted, parts)
    else:
        converted, report_notes = convert_typed(joined, markers=options.missing, texts=tuple(texts))
    if not converted:
        raise InputError(first.report.name, "has no columns that can be read")
    if not joined.num_rows:
        raise InputError(first.report.name, "has no rows")
    index = pd.RangeIndex(1, joined.num_rows + 1, name="row")
    files = tuple(part.report for part in parts)
    return build_table(converted, index, files, report_notes + _duplicate_files(parts))


def _duplicate_files(parts: Sequence[_Part]) -> tuple[str, ...]:
    """Say which files hold the same bytes as an earlier one: nobody means to count people twice."""
    first: dict[str, str] = {}
    notes = []
    for part in parts:
        name, sha256 = part.report.name, part.report.sha256
        if sha256 in first:
            notes.append(f"{name} holds the same bytes as {first[sha256]}: its rows count twice.")
        first.setdefault(sha256, name)
    return tuple(notes)


def _without_empty(
    converted: Mapping[str, ConvertedColumn], parts: Sequence[_Part]
) -> tuple[dict[str, ConvertedColumn], tuple[str, ...]]:
    """Drop columns with neither a name nor a value: lines that end in separators make them."""
    if any(part.report.names_given for part in parts):
        return dict(converted), ()
    empty = [
        name
        for name, each in converted.items()
        if name.startswith("unnamed_") and each.values.isna().all() and set(each.missing) <= {""}
    ]
    notes = tuple(f"Column {name!r} is left out: it has neither a name nor a value." for name in empty)
    return {name: each for name, each in converted.items() if name not in empty}, notes


def _concatenate(parts: Sequence[_Part]) -> pa.Table:
    tables = [_align_columns(part, parts[0]) for part in parts]
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException:
        pass
    schema = tables[0].schema
    for part, table in zip(parts, tables, strict=True):
        for name, kind in zip(table.column_names, table.schema.types, strict=True):
            if kind != schema.field(name).type:
                where, before = f"{part.report.name}, column {name!r}", parts[0].report.name
                raise InputError(
                    where, f"must have the type {schema.field(name).type} as in {before}", str(kind)
                )
    raise InputError("data.path", "names files whose columns have types that do not fit together")


def _align_columns(part: _Part, first: _Part) -> pa.Table:
    """Return the file's columns in the first file's order."""
    wanted, found = first.table.column_names, part.table.column_names
    absent, extra = [n for n in wanted if n not in found], [n for n in found if n not in wanted]
    if absent or extra:
        what = f"lacks {absent[0]!r}" if absent else f"has {extra[0]!r} besides"
        raise InputError(
            part.report.name,
            f"must have the same columns as {first.report.name}; it {what}",
            advice="read the files one by one, or give read.names and read.header",
        )
    return part.table.select(wanted)
