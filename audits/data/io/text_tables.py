"""CSV, TSV and JSON lines: bytes to columns of text, with strict row lengths."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter, deque
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from audits.checks import keys_once, whole_text
from audits.data.io.detection import Layout, find_layout
from audits.data.io.encodings import to_utf8
from audits.data.io.tables import FileSource, Limits
from audits.errors import InputError

_BLOCK = 8 << 20
_LOOKED_AT, _LINES_LOOKED_AT = 4 << 20, 200
_TIMES_COLUMNS = 5  # a text may hold a separator or two more than the table has


def read_delimited(data: bytes, source: FileSource) -> tuple[pa.Table, dict[str, Any]]:
    """Read the bytes of a CSV or TSV file, decompressed.

    Returns
    -------
    table : Table
        Columns of strings.
    about : dict
        How they were found, by fields of `FileReport`.

    Raises
    ------
    InputError
        For anything that is not a table within the limits; a row of another length is named by
        row and line, with the number of fields expected and found.
    """
    name, limits = source.name, source.limits
    data, encoding, notes = to_utf8(data, name, source.options.encoding)
    _check_width(data, source)
    layout = find_layout(data, source)
    limits.check(name, rows=0, columns=layout.width)
    names, naming = name_columns(source, layout.names, layout.width)
    body = data[layout.offset :]
    lines = body.count(b"\n") + (not body.endswith(b"\n"))
    quoted = b'"' in body
    if not quoted:
        limits.check(name, rows=lines - body.count(b"\n\n"), columns=layout.width)
    plain = body
    # quotes open only right after a separator in Arrow's reader; a file of one column has none
    if quoted and layout.separator and b' "' in body and re.search(rb'[,;|\t] +"', body):
        plain = _strip_quote_spaces(body, layout)
    columns, blanks = _parse(plain, name, layout, limits)
    limits.check(name, rows=len(columns), columns=layout.width)
    broken = _line_breaks(columns) if quoted else 0
    if broken:
        _refuse_open_quotes(body, name, layout)
        notes += (f"{broken:,} line breaks inside quoted values.",)
    about = {
        "header": layout.names is not None,
        "skipped": layout.skipped,
        "blank_lines": layout.blank + blanks + max(lines - blanks - len(columns) - broken, 0),
        "notes": notes + naming,
        "encoding": encoding,
        "separator": layout.separator or None,
    }
    return columns.rename_columns(list(names)), about


def _check_width(data: bytes, source: FileSource) -> None:
    """Refuse lines of far too many fields before anything looks at them closer, which takes long."""
    given, limits = source.options.separator, source.limits
    separators = [given.encode()] if given else [b",", b";", b"\t", b"|"]
    for line in data[:_LOOKED_AT].split(b"\n")[:_LINES_LOOKED_AT]:
        fields = 1 + max(line.count(separator) for separator in separators)
        if fields > _TIMES_COLUMNS * limits.columns:
            limits.check(source.name, rows=1, columns=fields)


def name_columns(
    source: FileSource, header: tuple[str, ...] | None, width: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns' names and notes about them.

    An empty name becomes "unnamed_1" (by position); without header or given names, columns are
    named as in the file before, or "column_1", "column_2", ...

    Raises
    ------
    InputError
        If the number of given names differs from the columns', or a name stands twice.
    """
    name, given = source.name, source.options.names
    notes: tuple[str, ...] = ()
    if given is not None and len(given) != width:
        raise InputError("read.names", f"must name the {width:,} columns of {name}", f"{len(given):,} names")
    if given is not None or header is not None:
        raw = [each.strip() for each in (given or header or ())]
        names = tuple(each or f"unnamed_{position}" for position, each in enumerate(raw, start=1))
        empty = [new for new, each in zip(names, raw, strict=True) if not each]
        shown = ", ".join(empty[:5]) + (", ..." if len(empty) > 5 else "")
        notes = (f"Columns without a name are called {shown}.",) if empty else ()
    elif source.like is not None and len(source.like) == width:
        names, notes = source.like, ("No header found; columns are named as in the first file.",)
    else:
        names = tuple(f"column_{position}" for position in range(1, width + 1))
        last = f" to column_{width}" if width > 1 else ""
        notes = (f"No header found; columns are named column_1{last}; give read.names to name them.",)
    twice = sorted(each for each, count in Counter(names).items() if count > 1)
    if twice:
        raise InputError(
            f"{name}, column {twice[0]!r}",
            f"appears {names.count(twice[0])} times in the header",
            advice="rename all but one, or give read.names",
        )
    return names, notes


def _strip_quote_spaces(body: bytes, layout: Layout) -> bytes:
    """Return the same rows without spaces between a separator and a quote."""
    out = io.StringIO(newline="\n")
    reader = csv.reader(
        io.StringIO(body.decode(), newline="\n"), delimiter=layout.separator, skipinitialspace=True
    )
    csv.writer(out, delimiter=layout.separator, lineterminator="\n").writerows(reader)
    return out.getvalue().encode()


def _parse(body: bytes, name: str, layout: Layout, limits: Limits) -> tuple[pa.Table, int]:
    """Return columns of strings and the number of lines of nothing but spaces."""
    names = [f"f{position}" for position in range(layout.width)]
    blanks: list[None] = []

    def ragged(row: arrow_csv.InvalidRow) -> str:
        if row.text.strip(" \t"):
            return "error"
        blanks.append(None)
        return "skip"

    def read(block: int) -> pa.Table:
        blanks.clear()
        return arrow_csv.read_csv(
            pa.BufferReader(body),
            read_options=arrow_csv.ReadOptions(column_names=names, block_size=block),
            parse_options=arrow_csv.ParseOptions(
                delimiter=layout.separator or "\x1f",
                newlines_in_values=b'"' in body,
                invalid_row_handler=ragged,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )

    reason = ""
    for block in (_BLOCK, len(body) + 1):  # a row may be longer than a block
        try:
            return read(min(block, limits.line_bytes, len(body) + 1)), len(blanks)
        except pa.ArrowInvalid as error:
            reason = str(error)
        if "straddl" not in reason:
            break
    else:
        rule = f"has a row of more than {limits.line_bytes / 1e6:,.0f} MB, as where a quote is not closed"
        raise InputError(name, rule, advice='double the quotes inside values ("") and close each')
    _refuse_ragged(body, name, layout)
    _refuse_open_quotes(body, name, layout)
    raise InputError(name, f"cannot be read as a table: {reason.splitlines()[0][:200]}")


def _reader(body: bytes, layout: Layout, *, strict: bool) -> Any:
    stream = io.StringIO(body.decode(), newline="\n")
    separator = layout.separator or "\x1f"
    return csv.reader(stream, delimiter=separator, skipinitialspace=separator != " ", strict=strict)


def _refuse_ragged(body: bytes, name: str, layout: Layout) -> None:
    """Name the first row of another length; only ever called when there is one."""
    reader = _reader(body, layout, strict=False)
    row, line = 0, layout.lines
    try:
        for fields in reader:
            start, line = line + 1, layout.lines + reader.line_num
            if len(fields) <= 1 and not "".join(fields).strip():
                continue
            row += 1
            if len(fields) != layout.width:
                raise InputError(
                    f"{name}, row {row:,} (line {start:,})",
                    f"must have {layout.width:,} fields as the table has",
                    len(fields),
                    "quote values that hold the separator, or remove the line if it is not part of the table",
                )
    except csv.Error:
        return


def _refuse_open_quotes(body: bytes, name: str, layout: Layout) -> None:
    """Raise InputError if a quote is opened and not closed properly: it would swallow rows."""
    reader = _reader(body, layout, strict=True)
    try:
        deque(reader, maxlen=0)
    except csv.Error as error:
        raise InputError(
            f"{name}, line {layout.lines + reader.line_num:,}",
            f"has a quoted value that is not closed properly ({error})",
            advice='double the quotes inside values ("") and close each',
        ) from None


def _line_breaks(columns: pa.Table) -> int:
    """Return the line breaks inside cells, counted in the bytes that hold a whole column."""
    found = 0
    for chunk in chain.from_iterable(column.chunks for column in columns.columns):
        _, places, text = chunk.buffers()
        ends = np.frombuffer(places, np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        found += 0 if text is None else memoryview(text)[ends[0] : ends[-1]].tobytes().count(b"\n")
    return found


def read_json_lines(data: bytes, source: FileSource) -> tuple[dict[str, list], str, int]:
    """Read JSON lines into columns of Python values: one object a line, absent keys None.

    Returns
    -------
    columns : dict of str to list
    encoding : str
    blank : int
        Empty lines passed over.

    Raises
    ------
    InputError
        Names the first line that is no JSON object or has a key twice, and what exceeds a limit.
    """
    name, limits = source.name, source.limits
    data, encoding, _ = to_utf8(data, name, source.options.encoding)
    every = data.split(b"\n")
    lines = [line for line in every if line.strip()]
    if not lines:
        raise InputError(name, "is empty")
    limits.check(name, rows=len(lines), columns=1)
    try:
        rows = json.loads(
            b"[" + b",".join(lines) + b"]", object_pairs_hook=keys_once, parse_constant=_constant
        )
    except (ValueError, RecursionError):
        rows = []
    if len(rows) != len(lines) or not all(isinstance(row, dict) for row in rows):
        raise _bad_line(every, name)
    whole_text(name, data, rows)
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    limits.check(name, rows=len(rows), columns=len(names))
    if not names:
        raise InputError(name, "has no columns: its objects are empty")
    blank = len(every) - len(lines) - data.endswith(b"\n")
    return {key: [row.get(key) for row in rows] for key in names}, encoding, blank


_constant: Callable[[str], float | None] = {
    "NaN": None,
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}.get


def _bad_line(lines: list[bytes], name: str) -> InputError:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, object_pairs_hook=keys_once)
        except RecursionError:
            return InputError(f"{name}, line {number:,}", "is nested too deeply")
        except ValueError as error:
            reason = "a number has too many digits" if "4300 digits" in str(error) else error
            return InputError(
                f"{name}, line {number:,}", f"is not JSON: {reason}", advice="write one object per line"
            )
        if not isinstance(value, dict):
            return InputError(
                f"{name}, line {number:,}", "must be a JSON object", value, "write one object per line"
            )
    return InputError(name, "is not JSON lines", advice="write one object per line")
