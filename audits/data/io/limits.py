"""Tables that are better read in batches, told by their metadata alone."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from audits.data.io.tables import Limits

COUNTED_FROM = 1_000_000
"""Rows from which people of a table are counted, where counts are all that the audits need."""
_TEXTS = frozenset({".csv", ".tsv", ".tab"})
_LINE_BYTES = 2  # at least: a letter and its end
_BLOCK = 1 << 22


def parquet_files(paths: Sequence[Path]) -> list[Path]:
    """Return the Parquet files that paths name, those in folders in the order of their names.

    Empty unless every path is a folder of Parquet files or ends in .parquet or .pq.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(path.rglob("*.parquet"))
            found += [file for file in inside if not any(p[:1] in "._" for p in file.relative_to(path).parts)]
        elif path.is_file() and path.suffix.lower() in {".parquet", ".pq"}:
            found.append(path)
        else:
            return []
    return found


def _metadata(paths: Sequence[Path]) -> list[tuple[pq.FileMetaData, int]]:
    """Return what Parquet files state of themselves, and their bytes; nothing if one cannot be read."""
    try:
        return [(pq.read_metadata(file), file.stat().st_size) for file in parquet_files(paths)]
    except (pa.ArrowException, OSError, ValueError):
        return []


def parquet_rows(paths: Sequence[Path]) -> int | None:
    """Return the rows of Parquet `paths` by their metadata; None for other files, and damaged ones."""
    found = _metadata(paths)
    return sum(stated.num_rows for stated, _ in found) if found else None


def text_lines(paths: Sequence[Path]) -> int | None:
    """Return the lines of delimited text, as many as there are rows or a few more.

    None for other files, packed ones, those that are too large to be read, and those that are too small to
    have `COUNTED_FROM` lines: they are not read.
    """
    try:
        seen = [path.stat() for path in paths if path.is_file() and path.suffix.lower() in _TEXTS]
        size, most = sum(each.st_size for each in seen), Limits().file_bytes
        if len(seen) < len(paths) or any(each.st_size > most for each in seen):
            return None
        if size < COUNTED_FROM * _LINE_BYTES:
            return None
        stamps = [(each.st_size, each.st_mtime_ns, each.st_ino) for each in seen]
        return sum(_line_ends(path, stamp) for path, stamp in zip(paths, stamps, strict=True))
    except OSError:
        return None


@functools.lru_cache(maxsize=16)
def _line_ends(path: Path, _stamp: tuple[int, int, int]) -> int:
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(functools.partial(file.read, _BLOCK), b""))


def beyond_limits(paths: Sequence[Path]) -> bool:
    """Return whether `paths` are Parquet with more rows, cells or bytes than `read_table` reads.

    Files that cannot be read are not: whoever reads them says why.
    """
    limits, rows, columns = Limits(), 0, 0
    for stated, size in _metadata(paths):
        unpacked = sum(stated.row_group(k).total_byte_size for k in range(stated.num_row_groups))
        if size > limits.file_bytes or unpacked > limits.decompressed_bytes:
            return True
        rows, columns = rows + stated.num_rows, stated.num_columns
    return rows > limits.rows or rows * columns > limits.cells
