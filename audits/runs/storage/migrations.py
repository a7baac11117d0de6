"""Bringing a database's schema to another version: alembic, on the statements of `schema.MIGRATIONS`.

All happens in the transaction that is handed over, so that it counts as a whole or not at all. A database
from before alembic has its versions counted in the table ``schema_version``, which is kept: an older Evenhand
that finds a number there that it does not know refuses to touch it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

__all__ = ["upgrade"]

_ENVIRONMENT = """
from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
"""
_REVISION = """
from alembic import context, op

revision, down_revision = {revision!r}, {before!r}


def upgrade():
    for statement in context.config.attributes["statements"][{version} - 1]:
        op.get_bind().exec_driver_sql(statement)
    op.get_bind().exec_driver_sql("INSERT INTO schema_version VALUES ({version})")
"""


def upgrade(connection: sa.Connection, statements: Sequence[Sequence[str]], found: int, upto: int) -> None:
    """Bring the schema from version `found` to `upto`; `statements` are those of each version."""
    connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY)")
    with tempfile.TemporaryDirectory(prefix="evenhand-schema-") as name:
        folder = Path(name)
        (folder / "versions").mkdir()
        (folder / "env.py").write_text(_ENVIRONMENT)
        for version in range(1, len(statements) + 1):
            before = _revision(version - 1) if version > 1 else None
            text = _REVISION.format(revision=_revision(version), before=before, version=version)
            (folder / "versions" / f"{_revision(version)}.py").write_text(text)
        config = Config()
        config.set_main_option("script_location", str(folder))
        config.attributes |= {"connection": connection, "statements": statements}
        if found and "alembic_version" not in sa.inspect(connection).get_table_names():
            command.stamp(config, _revision(found))
        command.upgrade(config, _revision(upto))


def _revision(version: int) -> str:
    return f"{version:04d}"
