"""XLSX workbooks: the sheet asked for or the first with a table, formulas by their values, all as text."""

from __future__ import annotations

import datetime
import io
import itertools
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from audits.data.io.detection import Layout, has_header
from audits.data.io.tables import Limits, ReadOptions
from audits.data.io.text_tables import TextFile, name_columns
from audits.data.values import near, text_of
from audits.errors import InputError

if TYPE_CHECKING:
    from openpyxl import Workbook

__all__ = ["read_sheet"]

_CHUNK, _OVERLAP = 1 << 20, 500
_MAX_ROWS = 1_048_576  # of any sheet, by the format
_LOOKED_AT = 50  # rows of a sheet that is not read: does it hold a table?
_ROW_NUMBER = re.compile(rb"<(?:[\w.-]{1,40}:)?row\s[^>]{0,400}?\br\s*=\s*[\"']\s*\+?0*(\d+)")
_DEFINITIONS = re.compile(rb"<!(?:DOCTYPE|ENTITY)")


@dataclass(frozen=True)
class _Row:
    number: int
    cells: list[str]

    @property
    def filled(self) -> int:
        return sum(bool(cell) for cell in self.cells)


@dataclass(frozen=True)
class _Chosen:
    title: str
    rows: list[_Row]
    others: tuple[str, ...]


def read_sheet(
    data: bytes,
    name: str,
    options: ReadOptions,
    limits: Limits,
    *,
    skip: int | None,
    like: tuple[str, ...] | None,
) -> TextFile:
    """Read the sheet asked for, or the first that holds a table; cells become text, as in a CSV file.

    Columns and rows without any content are passed over, rows above the table too.

    Raises
    ------
    InputError
        For a file that is no workbook, unpacks to more than the limit, holds no table, or not that sheet.
    """
    import openpyxl  # slow to import, and most tables are none of its

    _refuse_bomb(data, name, limits)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of styles and filters that carry no data
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            chosen = _table(book, name, options.sheet, limits)
            rows = chosen.rows
            offered = [each.title for each in book.worksheets if each.title in chosen.others]
            if options.sheet is None:
                offered = [title for title in offered if _holds_table(book[title], name, limits)]
    except (InputError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - openpyxl raises whatever a damaged part makes it stumble over
        reason = type(error).__name__
        raise InputError(
            name, f"is not a readable XLSX workbook ({reason})", advice="save it again"
        ) from None
    blank = rows[-1].number - len(rows) if rows else 0
    if skip is not None:
        above = [row for row in rows if row.number <= skip]
    else:
        width = max(row.filled for row in rows)
        above = rows[: next(i for i, row in enumerate(rows) if 2 * row.filled > width)]
    rows = rows[len(above) :]
    if not rows:
        raise InputError(name, "holds no table after the skipped rows", skip, "check read.skip_rows")
    length = max(len(row.cells) for row in rows)
    padded = [row.cells + [""] * (length - len(row.cells)) for row in rows]
    used = [i for i in range(length) if any(cells[i] for cells in padded)]
    grid = [[cells[i] for i in used] for cells in padded]
    header = has_header(grid[:200], options, like)
    if header and len(grid) == 1:
        raise InputError(name, "has a header and no rows", advice="set read.header to false if it is data")
    names, naming = name_columns(name, tuple(grid[0]) if header else None, len(used), options.names, like)
    body = grid[header:]
    table = pa.table(
        {f"f{i}": pa.array(column, pa.string()) for i, column in enumerate(zip(*body, strict=True))}
    )
    skipped = tuple((row.number, " ".join(filter(None, row.cells))) for row in above)
    layout = Layout("", names if header else None, len(used), 0, 0, skipped, 0)
    notes = [f"Read from sheet {chosen.title!r}."]
    if chosen.others:
        notes.append(f"Sheets not read: {', '.join(map(repr, chosen.others[:5]))}.")
    sheets = (chosen.title, *offered)
    return TextFile(table.rename_columns(list(names)), "", layout, blank, (*notes, *naming), sheets)


def _refuse_bomb(data: bytes, name: str, limits: Limits) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if any(entry.filename == "content.xml" for entry in entries):
                raise InputError(name, "is an OpenDocument sheet", advice="save it as XLSX or CSV")
            _check_size(name, sum(entry.file_size for entry in entries), limits)
            for entry in entries:
                if entry.filename.lower().endswith((".xml", ".rels")):
                    with archive.open(entry) as part:
                        _refuse_part(part, entry.filename, name, limits)
    except (InputError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - zipfile, too: EOFError, struct.error, LZMAError and more
        raise InputError(name, "is not a readable XLSX workbook", advice="save it again") from None


def _refuse_part(part: IO[bytes], title: str, name: str, limits: Limits) -> None:
    """Refuse rows that no sheet has, definitions that unfold and long values, before a parser sees them."""
    before, last, length = b"", 0, 0
    while chunk := part.read(_CHUNK):
        length = length + len(chunk) if b"<" not in chunk else len(chunk) - chunk.rindex(b"<")
        limits.check_value(name, length)
        text = (before + chunk).replace(b"\x00", b"")  # UTF-16 as well
        seen = len(before) - before.count(0)
        if _DEFINITIONS.search(text):
            raise InputError(name, "defines XML entities, which no workbook needs", title, "save it again")
        for found in _ROW_NUMBER.finditer(text):
            if len(found[1]) > 7 or int(found[1]) > _MAX_ROWS:
                shown = found[1][:30].decode("ascii")
                raise InputError(
                    name, f"names row {shown}; a sheet has at most {_MAX_ROWS:,}", advice="save it again"
                )
            # what was in the chunk before too has been looked at, and a number at the end may go on
            if seen < found.end() < len(text):
                row = int(found[1])
                if row < last:  # who reads them in order leaves it out
                    rule = f"names row {row:,} after row {last:,}; rows must be in order"
                    raise InputError(name, rule, advice="save it again")
                last = row
        before = chunk[-_OVERLAP:]


def _check_size(name: str, size: int, limits: Limits) -> None:
    if size > limits.decompressed_bytes:
        most = limits.decompressed_bytes / 1e6
        rule = f"unpacks to {size / 1e6:,.0f} MB; at most {most:,.0f} MB are read"
        raise InputError(name, rule, advice="save it as CSV or Parquet")


def _table(book: Workbook, name: str, wanted: str | None, limits: Limits) -> _Chosen:
    """Return the sheet asked for, or the first that holds a table."""
    titles = [sheet.title for sheet in book.worksheets]
    if wanted is not None and wanted not in titles:
        raise InputError("read.sheet", f"must be a sheet of {name}", wanted, near(wanted, titles))
    first: tuple[str, list[_Row]] | None = None
    for sheet in book.worksheets:
        if wanted not in {None, sheet.title}:
            continue
        sheet.reset_dimensions()  # what the file claims may be wrong, and large
        rows = list(_rows(sheet, name, limits))
        if rows and (first is None or _is_table(rows)):
            first = sheet.title, rows
            if _is_table(rows):
                break
    if first is not None:
        return _Chosen(*first, tuple(title for title in titles if title != first[0]))
    if wanted is not None:
        raise InputError("read.sheet", "must be a sheet that holds a value", wanted, "choose another")
    raise InputError(name, "is empty: no sheet holds a value")


def _holds_table(sheet: Any, name: str, limits: Limits) -> bool:
    sheet.reset_dimensions()
    try:
        return _is_table(itertools.islice(_rows(sheet, name, limits), _LOOKED_AT))
    except InputError:  # beyond a limit, so it cannot be read instead
        return False


def _is_table(rows: Iterable[_Row]) -> bool:
    """Tell whether rows are more than a cover or a remark: two of them with two cells at least."""
    return sum(row.filled > 1 for row in rows) > 1


def _rows(sheet: Any, name: str, limits: Limits) -> Iterator[_Row]:
    found = size = 0
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells = [_cell(value) for value in values]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            found, size = found + 1, size + sum(map(len, cells))
            _check_size(name, size, limits)  # one shared text can stand in a million cells
            limits.check(name, rows=found - 1, columns=len(cells))
            yield _Row(number, cells)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.time | datetime.timedelta):
        return str(value)
    return text_of(value).strip()
