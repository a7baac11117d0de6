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

from audits.data.io.detection import has_header
from audits.data.io.tables import FileSource, Limits
from audits.data.io.text_tables import name_columns
from audits.data.values import near, text_of
from audits.errors import InputError

if TYPE_CHECKING:
    from openpyxl import Workbook

_CHUNK, _OVERLAP = 1 << 20, 500
_MAX_ROWS = 1_048_576  # of any sheet, by the format
_LOOKED_AT = 50  # rows of a sheet that is not read: does it hold a table?
_ROW_NUMBER = re.compile(rb"<(?:[\w.-]{1,40}:)?row\s[^>]{0,400}?\br\s*=\s*[\"']\s*\+?0*(\d+)")
_SAVE_PLAIN = "save it as CSV or Parquet"
_DEFINITIONS = re.compile(rb"<!(?:DOCTYPE|ENTITY)")


@dataclass(frozen=True)
class _Row:
    number: int
    cells: list[str]

    @property
    def filled(self) -> int:
        return sum(bool(cell) for cell in self.cells)


def read_sheet(data: bytes, source: FileSource) -> tuple[pa.Table, dict[str, Any]]:
    """Read the sheet asked for, or the first that holds a table; cells become text, as in a CSV file.

    Columns and rows without any content are passed over, rows above the table too.

    Raises
    ------
    InputError
        For a file that is no workbook, unpacks to more than the limit, holds no table, or not that sheet.
    """
    import openpyxl  # slow to import, and most tables are none of its

    name, skip = source.name, source.skip
    _refuse_bomb(data, name, source.limits)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of styles and filters that carry no data
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            title, rows = _table(book, source)
            others = [each.title for each in book.worksheets if each.title != title]
            offered = others
            if source.options.sheet is None:
                offered = [other for other in others if _holds_table(book[other], source)]
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
    header = has_header(grid[:200], source)
    if header and len(grid) == 1:
        raise InputError(name, "has a header and no rows", advice="set read.header to false if it is data")
    names, naming = name_columns(source, tuple(grid[0]) if header else None, len(used))
    columns = zip(names, zip(*grid[header:], strict=True), strict=True)
    table = pa.table({column: pa.array(cells, pa.string()) for column, cells in columns})
    skipped = tuple((row.number, " ".join(filter(None, row.cells))) for row in above)
    notes = [f"Read from sheet {title!r}."]
    if others:
        notes.append(f"Sheets not read: {', '.join(map(repr, others[:5]))}.")
    about = {"header": header, "skipped": skipped, "blank_lines": blank, "notes": (*notes, *naming)}
    return table, {**about, "sheets": (title, *offered)}


def _refuse_bomb(data: bytes, name: str, limits: Limits) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if any(entry.filename == "content.xml" for entry in entries):
                raise InputError(name, "is an OpenDocument sheet", advice="save it as XLSX or CSV")
            if all(entry.filename != "[Content_Types].xml" for entry in entries):
                raise InputError(name, "is a ZIP archive and no workbook", advice="unpack it first")
            limits.check_unpacked(name, sum(entry.file_size for entry in entries), _SAVE_PLAIN)
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


def _table(book: Workbook, source: FileSource) -> tuple[str, list[_Row]]:
    """Return the sheet asked for, or the first that holds a table: its title and its rows."""
    name, wanted = source.name, source.options.sheet
    titles = [sheet.title for sheet in book.worksheets]
    if wanted is not None and wanted not in titles:
        raise InputError("read.sheet", f"must be a sheet of {name}", wanted, near(wanted, titles))
    first: tuple[str, list[_Row]] | None = None
    for sheet in book.worksheets:
        if wanted not in {None, sheet.title}:
            continue
        sheet.reset_dimensions()  # what the file claims may be wrong, and large
        rows = list(_rows(sheet, source))
        if rows and (first is None or _is_table(rows)):
            first = sheet.title, rows
            if _is_table(rows):
                break
    if first is not None:
        return first
    if wanted is not None:
        raise InputError("read.sheet", "must be a sheet that holds a value", wanted, "choose another")
    raise InputError(name, "is empty: no sheet holds a value")


def _holds_table(sheet: Any, source: FileSource) -> bool:
    sheet.reset_dimensions()
    try:
        return _is_table(itertools.islice(_rows(sheet, source), _LOOKED_AT))
    except InputError:  # beyond a limit, so it cannot be read instead
        return False


def _is_table(rows: Iterable[_Row]) -> bool:
    """Tell whether rows are more than a cover or a remark: two of them with two cells at least."""
    return sum(row.filled > 1 for row in rows) > 1


def _rows(sheet: Any, source: FileSource) -> Iterator[_Row]:
    found = size = 0
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells = [_cell(value) for value in values]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            found, size = found + 1, size + sum(map(len, cells))
            # one shared text can stand in a million cells
            source.limits.check_unpacked(source.name, size, _SAVE_PLAIN)
            source.limits.check(source.name, rows=found - 1, columns=len(cells))
            yield _Row(number, cells)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.time | datetime.timedelta):
        return str(value)
    return text_of(value).strip()
