"""How a table lies in a text: its separator, header, and the lines before it.

Not DuckDB's sniffer (2.0): of the 86 tables that the tests write by hand and both read, it reads 12 as
something else. It splits ``1,234;0,5`` at its decimal commas, takes ``White,Male`` over people for a header
and ``0,1,2`` over measurements for a row, and a table with one line too short or too long for a single
column, where a sentence that names the line is wanted.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from audits.data.io.columns import is_number
from audits.data.io.tables import FileSource
from audits.errors import InputError

_SEPARATORS = ("\t", ";", "|", ",")
csv.field_size_limit(2**31 - 1)  # Arrow reads the table and has no limit; this only looks at it
_SAMPLE = 1_000_000
_MAX_RECORDS = 200
_MISSING = frozenset(["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "-"])


@dataclass(frozen=True)
class Layout:
    """Where and how the table lies in a text file.

    Attributes
    ----------
    separator : str
        One character; "" for a file of one column.
    names : tuple of str or None
        The header's cells, trimmed; None without a header.
    width : int
        Fields a row.
    offset : int
        Position of the first row of data, in bytes.
    lines : int
        Lines before the first row of data.
    skipped : tuple of (int, str)
        Lines passed over before the table: number from 1, and text.
    blank : int
        Empty lines before the first row of data.
    """

    separator: str
    names: tuple[str, ...] | None
    width: int
    offset: int
    lines: int
    skipped: tuple[tuple[int, str], ...]
    blank: int


@dataclass(frozen=True)
class _Record:
    fields: list[str]
    first: int  # line numbers from 1
    last: int

    @property
    def blank(self) -> bool:
        return not any(field.strip() for field in self.fields) and len(self.fields) <= 1


def find_layout(data: bytes, source: FileSource) -> Layout:
    r"""Find the table in a UTF-8 text with ``\n`` line ends.

    Parameters
    ----------
    data : bytes
        The whole text.
    source : FileSource
        What is given need not be found; a first line equal to the names of the file before is a header.

    Raises
    ------
    InputError
        For an empty file, one with nothing but a header, and options that do not fit it.
    """
    name, skip = source.name, source.skip
    sample = _sample(data, name)
    separator, records = _split(sample, source)
    counts = [len(record.fields) for record in records]
    width = _width(counts)
    if skip is None:
        while records and 2 * counts[0] <= width:
            records, counts = records[1:], counts[1:]
    if not records:
        raise InputError(name, "holds no table after the skipped lines", skip, "check read.skip_rows")
    start = records[0].first
    header = has_header([record.fields for record in records], source)
    if header and len(records[0].fields) != width:
        raise InputError(
            f"{name}, line {start:,}",
            f"has {len(records[0].fields):,} fields where the table has {width:,}",
            advice="is it part of the table? set read.skip_rows",
        )
    lines = records[0].last if header else start - 1
    offset = _offset(data, lines)
    if header and not data[offset:].strip():
        raise InputError(
            name, "has a header and no rows", advice="set read.header to false if its line is data"
        )
    before = sample.split("\n")[: start - 1]
    skipped = tuple((number, line.strip()) for number, line in enumerate(before, start=1) if line.strip())
    names = tuple(field.strip() for field in records[0].fields) if header else None
    return Layout(separator, names, width, offset, lines, skipped, len(before) - len(skipped))


def _sample(data: bytes, name: str) -> str:
    if not data.strip():
        raise InputError(name, "is empty" if not data else "holds only empty lines")
    if len(data) <= _SAMPLE:
        return data.decode()
    end = data.rfind(b"\n", 0, _SAMPLE)
    if data.find(b"\n") in {-1, end}:  # lines so long that the sample holds one at most
        end = data.find(b"\n", 8 * _SAMPLE)
    return data[: end if end > 0 else len(data)].decode()


def _offset(data: bytes, lines: int) -> int:
    position = 0
    for _ in range(lines):
        position = data.find(b"\n", position) + 1
        if position == 0:
            return len(data)
    return position


def _split(sample: str, source: FileSource) -> tuple[str, list[_Record]]:
    """Return the separator and the first records, without the skipped and the empty ones."""
    given = source.options.separator
    if given is not None:
        given = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}.get(given, given.strip(" ") or " ")
        if len(given) != 1 or given in '"\n\r' or not given.isascii():
            raise InputError("read.separator", "must be one character", given)
    best, records = _best(sample, source)
    if given is None or given == best:
        return best, records
    chosen = _records(sample, given, source)
    width = _width([len(record.fields) for record in records])
    if width > 1 and all(len(record.fields) == 1 for record in chosen):
        rule = f"splits {source.name} into 1 column where {best!r} would give {width:,}"
        raise InputError("read.separator", rule, given, "leave it out")
    return given, chosen


def _best(sample: str, source: FileSource) -> tuple[str, list[_Record]]:
    hinted = re.match(r"sep=(.)\s*\n", sample)  # spreadsheets write this line
    if hinted and hinted[1] in _SEPARATORS and source.skip is None:
        return hinted[1], _records(sample, hinted[1], source)[1:]
    best, best_records, best_score = "", _records(sample, "", source), (0.0, 0)
    for separator in _SEPARATORS:
        records = _records(sample, separator, source)
        counts = [len(record.fields) for record in records]
        width = _width(counts)
        table = counts[next((i for i, count in enumerate(counts) if 2 * count > width), 0) :]
        share = table.count(width) / max(len(table), 1)
        # Two fields in most lines could be prose with commas, unless the first line has two as well
        if width < 2 or share < (0.5 if width > 2 or table[0] == width else 0.8):
            continue
        score = (share * (0.5 + (table[0] == width)) * _atomic(records, separator), width)
        if score > best_score:
            best, best_records, best_score = separator, records, score
    return best, best_records


def _records(sample: str, separator: str, source: FileSource) -> list[_Record]:
    records: list[_Record] = []
    stream = io.StringIO(sample, newline="\n")
    skip = line = source.skip or 0
    for _ in range(skip):
        stream.readline()
    # One column needs a separator that cannot occur
    reader = csv.reader(stream, delimiter=separator or "\x1f", skipinitialspace=separator != " ")
    try:
        for fields in reader:
            record = _Record(fields, line + 1, skip + reader.line_num)
            line = record.last
            if not record.blank:
                records.append(record)
            if len(records) == _MAX_RECORDS:
                break
    except csv.Error as error:
        if len(records) < 2:
            where = f"{source.name}, line {line + 1:,}"
            raise InputError(where, f"cannot be split into fields: {error}") from None
    return records


def _width(counts: Sequence[int]) -> int:
    """Return the commonest number of fields above 1, the earliest of equals; 1 if there is none."""
    wide = Counter(count for count in counts if count > 1)
    return max(wide, key=wide.__getitem__) if wide else 1


def _atomic(records: Sequence[_Record], separator: str) -> float:
    """Return the share of cells in which no other separator is left (a decimal comma may be)."""
    cells = [field for record in records[:50] for field in record.fields]
    others = "".join(each for each in _SEPARATORS if each != separator)
    whole = sum(
        not any(mark in cell for mark in others)
        or (separator == ";" and is_number(cell.replace(",", ".", 1)))
        for cell in cells
    )
    return whole / max(len(cells), 1)


def has_header(rows: list[list[str]], source: FileSource) -> bool:
    """Return whether the first row holds names.

    It does if more columns of numbers begin with a text than with a number, or if it counts three
    columns or more (0, 1, 2, ..., as pandas writes them). Otherwise it does not if it holds a number
    or a missing marker. Among texts alone it does, unless one of its cells comes again below it, or
    names are given.
    """
    options = source.options
    if options.header is not None:
        return options.header
    first = tuple(cell.strip() for cell in rows[0])
    if first in {options.names, source.like}:
        return True
    most = max(5, 20_000 // len(first))
    below = [[cell.strip() for cell in row] for row in rows[1:most] if len(row) == len(first)]
    columns = list(zip(*below, strict=True)) or [()] * len(first)
    numbers = [cell for cell, column in zip(first, columns, strict=True) if _numeric(column)]
    named = sum(not _number_like(cell) and cell not in _MISSING for cell in numbers)
    counted = [str(number) for number in range(len(first))]
    if 2 * named > len(numbers) or (len(first) > 2 and list(first) in (counted, ["", *counted[:-1]])):
        return True
    if any(_number_like(cell) or cell in _MISSING - {""} for cell in first) or options.names is not None:
        return False
    return not any(cell in column for cell, column in zip(first, columns, strict=True) if cell)


def _numeric(cells: Sequence[str]) -> bool:
    known = [cell for cell in cells if cell not in _MISSING]
    return bool(known) and all(_number_like(cell) for cell in known)


def _number_like(cell: str) -> bool:
    return is_number(cell) or is_number(cell.replace(",", ".", 1))
