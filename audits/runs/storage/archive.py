"""Rows and files on their way into one file, each with its digest: what `backups` and migrations write."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import os
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from audits.runs.version import VERSION

MANIFEST = "manifest.json"
OWN_TABLES = frozenset({"schema_version", "alembic_version"})
"""Tables with the schema's version, which are created again."""


def write_rows(connection: sa.Connection, target: Path) -> None:
    """Copy the rows of a database alone."""
    with packing(target) as pack:
        pack.finish(rows=pack_rows(connection, pack))
    target.chmod(0o600)


class Pack:
    """A copy that is being written."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self._digests: dict[str, str] = {}
        self.files, self.size, self.schema = 0, 0, 0

    def add(self, name: str, path: Path) -> None:
        """Add a file, with its digest; one that goes meanwhile was deleted."""
        try:
            with path.open("rb") as file:
                info = tarfile.TarInfo(name)
                info.size, info.mode = os.fstat(file.fileno()).st_size, 0o600
                info.mtime = os.fstat(file.fileno()).st_mtime
                told = _Digesting(file)
                self._archive.addfile(info, told)
        except FileNotFoundError:
            return
        self._digests[name] = told.digest.hexdigest()
        if name.startswith("home/"):
            self.files, self.size = self.files + 1, self.size + info.size

    def finish(self, *, rows: int) -> None:
        """Write what the copy holds."""
        facts = {
            "evenhand": VERSION,
            "schema": self.schema,
            "made": time.time(),
            "rows": rows,
            "size": self.size,
            "files": self._digests,
        }
        text = json.dumps(facts).encode()
        info = tarfile.TarInfo(MANIFEST)
        info.size, info.mode = len(text), 0o600
        self._archive.addfile(info, io.BytesIO(text))


class _Digesting:
    """A file whose digest is taken while it is read."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        part = self._file.read(size)
        self.digest.update(part)
        return part


@contextlib.contextmanager
def packing(target: Path) -> Iterator[Pack]:
    """Open a new file to pack into."""
    with tarfile.open(target, "w:gz", compresslevel=3) as archive:
        yield Pack(archive)


def as_stored(connection: sa.Connection) -> sa.MetaData:
    """Reflect every table with columns of no type: values go out and in as the driver has them.

    SQLite takes PostgreSQL's name of a column of bytes for one of numbers.
    """
    tables = sa.MetaData()

    @sa.event.listens_for(tables, "column_reflect")
    def _untyped(_inspector: Any, _table: Any, column: Any) -> None:
        column["type"] = sa.types.NullType()

    tables.reflect(connection)
    return tables


def pack_rows(connection: sa.Connection, pack: Pack) -> int:
    """Pack the rows of every table; return how many there are."""
    tables = as_stored(connection)
    number = 0
    for table in tables.sorted_tables:
        if table.name == "schema_version":
            pack.schema = int(connection.execute(sa.select(sa.func.max(table.c.version))).scalar() or 0)
        if table.name in OWN_TABLES:
            continue
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as file:
            for row in connection.execute(sa.select(table)):
                plain = {name: _plain(value) for name, value in row._mapping.items()}
                file.write(json.dumps(plain) + "\n")
                number += 1
            file.flush()
            pack.add(f"rows/{table.name}.jsonl", Path(file.name))
    return number


def _plain(value: Any) -> Any:
    if isinstance(value, (bytes, memoryview)):
        return {"base64": base64.b64encode(bytes(value)).decode("ascii")}
    return value
