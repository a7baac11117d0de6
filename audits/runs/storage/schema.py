"""The schema of the database, version by version: the statements of ``migrations/<version>.sql``.

It grows by further files, never by changing one: SQLite and PostgreSQL both understand their statements. A
database of an older version is brought up to date when it is opened, in one transaction; a copy of its rows,
for ``evenhand restore``, lies in ``backups`` then. An older Evenhand that finds a version it does not know
refuses to touch the database.
"""

from __future__ import annotations

import re
from pathlib import Path

_END = re.compile(r";\n")
_FILES = sorted((Path(__file__).parent / "migrations").glob("*.sql"), key=lambda path: int(path.stem))

MIGRATIONS: tuple[tuple[str, ...], ...] = tuple(
    tuple(_END.split(path.read_text(encoding="utf-8"))[:-1]) for path in _FILES
)
"""Statements of each version of the schema, oldest first."""
