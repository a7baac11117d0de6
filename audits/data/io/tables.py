"""What a read table is made of: options, limits, the table and the report of how it was read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd

from audits.checks import Strict, adapter, number_from
from audits.data.io.columns import ConvertedColumn, Markers
from audits.errors import InputError
from audits.stats.text import several

_MAX_SHOWN, _MAX = 5, 100
_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}


@dataclass(frozen=True)
class ReadOptions(Strict):
    """How to read text tables where detection should not decide. None: detect.

    Attributes
    ----------
    separator : str, optional
        One character; "tab" means a tab.
    header : bool, optional
        Whether the first line of the table holds the column names.
    names : tuple of str, optional
        Column names, for a file without a header or to replace its header. Without `header`, the file is
        assumed to have none unless its first line clearly is one.
    skip_rows : int or tuple of int, optional
        Lines to skip before the table; a tuple gives one number per file.
    encoding : str, optional
        A name that Python knows ("utf-8", "cp1252").
    missing : tuple of str, optional
        Exactly these texts mean "missing", in every column. An empty cell in a column of numbers or
        dates is always missing.
    decimal : {",", "."}, optional
        The decimal mark of numbers in text formats. The other mark, spaces and apostrophes then group
        thousands; currency and percent signs are removed. Detected where a file leaves no doubt.
    sheet : str, optional
        The sheet of a workbook; by default the first with a table.
    """

    separator: str | None = None
    header: bool | None = None
    names: tuple[str, ...] | None = None
    skip_rows: int | tuple[int, ...] | None = None
    encoding: str | None = None
    missing: tuple[str, ...] | None = None
    decimal: Literal[",", "."] | None = None
    sheet: str | None = None


def _most_file_bytes() -> int:
    return int(1e6 * number_from("EVENHAND_MAX_FILE_MB", 200, least=0.00001, most=1e9))


_LINES_A_ROW = 10  # empty ones, and those inside quotes


def _last_end(data: bytes, start: int, end: int) -> int:
    return max(data.rfind(b"\n", start, end), data.rfind(b"\r", start, end))


@dataclass(frozen=True)
class Limits:
    """What is refused for its size, with a message that names the limit.

    Attributes
    ----------
    file_bytes : int
        Size of a file as it lies on disk; by default ``EVENHAND_MAX_FILE_MB`` (200) megabytes.
    decompressed_bytes : int
        Size of a file after decompression.
    decoded_bytes : int
        Size of the values in memory, each written out: a dictionary can stand for far more than it holds.
    columns, rows, cells : int
        Of the whole table.
    line_bytes : int
        Of one line of a text file, and of one value of any other.
    name_letters : int
        Of a column's name, which pages, files and messages repeat.
    """

    file_bytes: int = field(default_factory=_most_file_bytes)
    decompressed_bytes: int = 500_000_000
    decoded_bytes: int = 2_000_000_000
    columns: int = 2_000
    rows: int = 5_000_000
    cells: int = 200_000_000
    line_bytes: int = 10_000_000
    name_letters: int = 10_000

    def check_lines(self, name: str, data: bytes, begun: int = 0) -> int:
        """Raise InputError if a line, `begun` bytes of it before, is too long; return those of the last."""
        start, most = 0, self.line_bytes - begun
        while len(data) - start > most:
            end = _last_end(data, start, start + max(most, 0))
            if end < 0:
                rule = f"has a line of more than {self.line_bytes / 1e6:,.0f} MB"
                raise InputError(name, rule, advice="check that it is a table with line ends")
            start, most = end + 1, self.line_bytes
        end = _last_end(data, start, len(data))
        return len(data) - end - 1 if end >= 0 else len(data) - start + (0 if start else begun)

    def check_line_ends(self, name: str, ends: int) -> None:
        """Raise InputError if a text has so many lines that most of them can be no rows."""
        most = _LINES_A_ROW * self.rows
        if ends > most:
            raise InputError(name, f"has more than {most:,} lines", advice="leave out those that are empty")

    def check_value(self, name: str, size: int) -> None:
        """Raise InputError if a value is too long, in bytes."""
        if size > self.line_bytes:
            rule = f"has a value of more than {self.line_bytes / 1e6:,.0f} MB"
            raise InputError(name, rule, advice="leave out columns with long texts")

    def check_unpacked(self, name: str, size: int, advice: str) -> None:
        """Raise InputError if a file unpacks to too many bytes."""
        if size > self.decompressed_bytes:
            most = self.decompressed_bytes / 1e6
            rule = f"unpacks to {size / 1e6:,.0f} MB; at most {most:,.0f} MB are read"
            raise InputError(name, rule, advice=advice)

    def check_names(self, name: str, columns: Sequence[str]) -> None:
        """Raise InputError if a column's name is too long."""
        longest = max(map(len, columns), default=0)
        if longest > self.name_letters:
            rule = (
                f"has a column whose name is {longest:,} letters long; at most {self.name_letters:,} are read"
            )
            raise InputError(name, rule, advice="rename it")

    def check(self, name: str, *, rows: int, columns: int) -> None:
        """Raise InputError if a table of this shape is too large."""
        for what, found, most, advice in (
            ("columns", columns, self.columns, "keep fewer"),
            ("rows", rows, self.rows, "draw a sample"),
            ("cells", rows * columns, self.cells, "keep fewer columns or draw a sample"),
        ):
            if found > most:
                raise InputError(name, f"has {found:,} {what}; at most {most:,} are read", advice=advice)


@dataclass(frozen=True, eq=False)
class FileSource:
    """One file to be read.

    Attributes
    ----------
    name : str
        What messages call it.
    options, limits :
        See `ReadOptions` and `Limits`.
    skip : int, optional
        Lines to skip before its table; detected if None.
    like : tuple of str, optional
        Names of the columns of the file before it.
    """

    name: str
    options: ReadOptions
    limits: Limits
    skip: int | None = None
    like: tuple[str, ...] | None = None


@dataclass(frozen=True)
class FileReport:
    """How one file was read.

    Attributes
    ----------
    name : str
        The file's name without its folder.
    sha256 : str
        Of the file's bytes.
    format : str
        "csv", "tsv", "parquet", "arrow", "xlsx" or "jsonl".
    rows : int
        Rows of data.
    compressed : bool
        Whether it came as .gz.
    encoding, separator, header :
        As detected or given; None where the format has no such thing.
    names_given : bool
        Whether the names come from the options.
    skipped : tuple of (int, str)
        Lines before the table that were passed over: number from 1, and text.
    blank_lines : int
        Empty lines that were passed over.
    notes : tuple of str
        What else the user should know, in sentences.
    sheets : tuple of str
        The sheets of a workbook that could be read, the one that was read first.
    """

    name: str
    sha256: str
    format: str
    rows: int
    compressed: bool = False
    encoding: str | None = None
    separator: str | None = None
    header: bool | None = None
    names_given: bool = False
    skipped: tuple[tuple[int, str], ...] = ()
    blank_lines: int = 0
    notes: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """Return the report in words."""
        how = [self.format.upper() + (" in gzip" if self.compressed else "")]
        if self.encoding:
            how.append(f"encoding {self.encoding}")
        if self.separator:
            how.append(f"separator {_SEPARATORS.get(self.separator, repr(self.separator))}")
        if self.header is not None:
            how.append("with a header" if self.header else "without a header")
        said = [f"{self.name}: {several(self.rows, 'row')} ({', '.join(how)})."]
        for number, text in self.skipped[:_MAX_SHOWN]:
            said.append(f"{self.name}: line {number} is not part of the table: {text[:_MAX]!r}.")
        if len(self.skipped) > _MAX_SHOWN:
            said.append(f"{self.name}: neither are {len(self.skipped) - _MAX_SHOWN:,} further lines.")
        if self.blank_lines:
            said.append(f"{self.name}: empty lines skipped: {self.blank_lines:,}.")
        return said + [f"{self.name}: {note}" for note in self.notes]


@dataclass(frozen=True)
class ReadReport:
    """How a table was read.

    Attributes
    ----------
    files : tuple of FileReport
        One a file, in the order in which the rows follow each other.
    missing : mapping of str to mapping of str to int
        Cells found missing: column, marker, count. The marker is the text that stood in the cell,
        "" for an empty cell and "null" for a missing value of a typed format.
    notes : tuple of str
        What the user should know about the columns, in sentences.
    """

    files: tuple[FileReport, ...]
    missing: Mapping[str, Mapping[str, int]]
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Rows read from all files."""
        return sum(file.rows for file in self.files)

    @property
    def sha256(self) -> str:
        """Digest of the only file's bytes; of the files' digests in order, if there are several."""
        if len(self.files) == 1:
            return self.files[0].sha256
        return hashlib.sha256("\n".join(file.sha256 for file in self.files).encode()).hexdigest()

    def markers(self) -> dict[str, int]:
        """Return the missing markers found, with their cells over all columns."""
        total: dict[str, int] = {}
        for counts in self.missing.values():
            for marker, count in counts.items():
                total[marker] = total.get(marker, 0) + count
        return total

    def sentences(self) -> list[str]:
        """Return the report in words."""
        said = [sentence for file in self.files for sentence in file.sentences()]
        for marker, count in self.markers().items():
            columns = [column for column, counts in self.missing.items() if marker in counts]
            shown = ", ".join(columns[:5]) + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")
            what = {"": "empty cells", "null": "null"}.get(marker, repr(marker))
            said.append(f"Read as missing: {what}, {count:,} cells ({shown}).")
        return said + list(self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        plain = adapter(ReadReport).dump_python(self, mode="json")
        for file in plain["files"]:
            del file["sheets"]
        return {"rows": self.rows, "sha256": self.sha256, **plain}


@dataclass(frozen=True, eq=False)
class Table:
    """A table as read: raw columns, and how they came to be.

    Attributes
    ----------
    frame : DataFrame (rows, columns)
        Numbers as int64 or float64, dates as datetime64, everything else as text (``str``), true
        booleans of typed formats as bool. The index holds row numbers from 1, named "row".
    report : ReadReport
        How it was read.
    markers : mapping of str to Markers
        What stands in the cells read as missing, by column.
    gathered : DataFrame, optional
        Where a line stands for all rows that agree in what is audited: what it was gathered from, see
        `audits.data.groupby.count_rows`.
    """

    frame: pd.DataFrame
    report: ReadReport
    markers: Mapping[str, Markers] = field(default_factory=dict)
    gathered: pd.DataFrame | None = None


def build_table(
    converted: Mapping[str, ConvertedColumn],
    index: pd.Index,
    files: tuple[FileReport, ...] = (),
    notes: Sequence[str] = (),
) -> Table:
    """Return converted columns as a table of rows numbered by `index`; their notes follow `notes`."""
    columns = {name: _without_minus_zero(each.values).set_axis(index) for name, each in converted.items()}
    frame = pd.DataFrame(columns, index=index)
    missing = {name: dict(each.missing) for name, each in converted.items() if each.missing}
    notes = (*notes, *(note for each in converted.values() for note in each.notes))
    markers = {name: each.markers for name, each in converted.items() if each.markers}
    return Table(frame, ReadReport(files, missing, notes), markers)


def _without_minus_zero(values: pd.Series) -> pd.Series:
    """Return numbers of which -0.0 is 0.0, as in comparing: by their texts or bytes they would be two."""
    return values + 0.0 if pd.api.types.is_float_dtype(values.dtype) else values
