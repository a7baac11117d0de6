"""The one database: SQLite under ``EVENHAND_HOME``, or ``EVENHAND_DATABASE_URL``.

SQLite runs in WAL mode, so that readers never wait for the writer; writers wait for each other. PostgreSQL
is for several machines; they then share one ``EVENHAND_HOME``, where files lie. Whoever waits for a lock
gives up after 30 seconds, or as the address says (``?timeout=5`` for SQLite;
``?options=-c%20lock_timeout%3D5s`` for PostgreSQL).
"""

from __future__ import annotations

import functools
import logging
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError, SQLAlchemyError

from audits.errors import InputError, RunFailed, not_installed, os_refusal
from audits.runs.storage.schema import MIGRATIONS
from audits.runs.storage.store import home, make_folder

_BUSY_SECONDS = 30
_CONNECT_SECONDS = 10
_AGAIN_SECONDS = 0.02
_LOCK = 0x45564E48  # any number that all our processes agree on
_URL = "EVENHAND_DATABASE_URL"
_log = logging.getLogger("evenhand")


class Database:
    """An engine whose schema is up to date.

    Parameters
    ----------
    url : str
        As SQLAlchemy writes it: ``sqlite:////path`` or ``postgresql+psycopg://user@host/name``.
    upto : int, optional
        Version of the schema that it is brought to; by default the latest.

    Raises
    ------
    InputError
        If the URL is wrong, the database cannot be reached, or a newer Evenhand made it.
    """

    def __init__(self, url: str, upto: int | None = None) -> None:
        try:
            parsed = sa.make_url(url)
            if parsed.get_backend_name() not in {"sqlite", "postgresql"}:
                raise InputError(_URL, "must name SQLite or PostgreSQL", parsed.get_backend_name())
            if parsed.drivername == "postgresql":
                parsed = parsed.set(drivername="postgresql+psycopg")
            self.engine = _engine(parsed)
            self._writer = self.engine.execution_options(writes=True)
        except (ArgumentError, NoSuchModuleError, ModuleNotFoundError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            if isinstance(error, ModuleNotFoundError) and error.name:
                raise not_installed(_URL, error.name) from None
            raise InputError(
                _URL, "must be a database address", advice="such as postgresql://user@host/name"
            ) from None
        try:
            self._migrate(upto or len(MIGRATIONS))
        except SQLAlchemyError as error:
            _log.error("The database %s: %s", parsed.render_as_string(hide_password=True), _words(error))
            raise InputError(
                _URL, f"must name a usable database; this one is not ({_reason(error)})"
            ) from None

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Open a connection that sees one state of the database and changes nothing."""
        with self._sql_errors(), self.engine.connect() as connection:
            yield connection

    def rows(self, asked: sa.Select[Any] | sa.CompoundSelect[Any]) -> Sequence[sa.Row[Any]]:
        """Return the rows that a question finds."""
        with self.reading() as connection:
            return connection.execute(asked).all()

    def change(self, change: sa.Update | sa.Delete) -> int:
        """Change or delete rows in a transaction of its own; return how many."""
        with self.writing() as connection:
            return connection.execute(change).rowcount

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Open a transaction that no other `writing` anywhere overlaps; all of it counts, or nothing."""
        with self._sql_errors(), self._writer.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            yield connection

    def scrub(self) -> None:
        """Have SQLite write its log back and empty it: what was deleted stood there too.

        Readers that are at it keep the log; it is emptied by the next call then.
        """
        if self.engine.dialect.name == "sqlite":
            with self._sql_errors(), self.engine.connect() as connection:
                driver = connection.connection.driver_connection
                if driver is not None:
                    connection.rollback()
                    driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _sql_errors(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise RunFailed(f"The database of saved audits could not be used ({_reason(error)}).") from error

    def _migrate(self, upto: int) -> None:
        with self.engine.connect() as connection:
            if _version(connection) == upto:
                return
        with self._writer.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            found = _version(connection)
            if found > len(MIGRATIONS):
                raise InputError(
                    "the database",
                    f"was made by a newer version of Evenhand (schema {found}; this one knows "
                    f"{len(MIGRATIONS)})",
                    advice="update Evenhand, or choose another EVENHAND_HOME or EVENHAND_DATABASE_URL",
                )
            if 0 < found < upto:
                _copy_aside(connection, found)
            if found < upto:
                _upgrade(connection, found, upto)


def _upgrade(connection: sa.Connection, found: int, upto: int) -> None:
    """Bring the schema from version `found` to `upto`, in the transaction that is open."""
    connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY)")
    for version, statements in enumerate(MIGRATIONS[found:upto], start=found + 1):
        for statement in statements:
            connection.exec_driver_sql(statement)
        connection.execute(sa.text("INSERT INTO schema_version VALUES (:version)"), {"version": version})


def _version(connection: sa.Connection) -> int:
    if "schema_version" not in sa.inspect(connection).get_table_names():
        return 0
    return int(connection.exec_driver_sql("SELECT MAX(version) FROM schema_version").scalar() or 0)


def _copy_aside(connection: sa.Connection, found: int) -> None:
    """Keep all rows as they were before the schema changes."""
    from audits.runs.storage.archive import write_rows

    folder = home() / "backups"
    rule = "is from an older version of Evenhand, and no copy of it can be kept"
    with os_refusal("the database", rule, advice="make room; it is left as it was"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"schema-{found}-{time.strftime('%Y%m%d-%H%M%S')}.tar.gz"
        write_rows(connection, path)
    _log.warning("The database's schema changes; an earlier copy is in %s", path)


def database(base: Path | None = None) -> Database:
    """Return the process's database: ``EVENHAND_DATABASE_URL``, else SQLite in the home folder `base`."""
    return _cached_database(database_url(base or home()))


def database_url(folder: Path) -> str:
    """Return where the database of a home folder is; the folder is made."""
    url = os.environ.get(_URL)
    if not url:
        make_folder(folder)
        url = sa.URL.create("sqlite", database=str(folder / "evenhand.sqlite")).render_as_string()
    return url


@functools.lru_cache(maxsize=8)
def _cached_database(url: str) -> Database:
    return Database(url)


def is_unreachable(error: Exception) -> bool:
    """Tell whether the database is down, locked or of others: nothing can be stored now."""
    unusable = isinstance(error, InputError) and error.where in {_URL, "the database"}
    return unusable or isinstance(error.__cause__, OperationalError)


def is_full(error: Exception) -> bool:
    """Tell whether there was no room on the database's disk."""
    cause = error.__cause__
    original = getattr(cause, "orig", None)
    words = str(original or "")
    return "disk is full" in words or getattr(original, "sqlstate", None) == "53100"


def _engine(url: sa.URL) -> sa.Engine:
    if url.get_backend_name() == "postgresql":
        waits = {"connect_timeout": _CONNECT_SECONDS, "options": f"-c lock_timeout={_BUSY_SECONDS}s"}
        return sa.create_engine(url, pool_pre_ping=True, connect_args=_unless_in(url, waits))
    engine = sa.create_engine(url, connect_args=_unless_in(url, {"timeout": _BUSY_SECONDS}))

    @sa.event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin below, not where the driver thinks fit
        _write_ahead(connection)
        for pragma in (
            "synchronous = FULL",
            "foreign_keys = ON",
            "secure_delete = ON",  # what is deleted is overwritten
        ):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        # a reader that turns writer in mid-transaction would fail instead of waiting
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _write_ahead(connection: Any) -> None:
    """Have SQLite write ahead; wait for whoever has the file meanwhile, which it does not do by itself."""
    until = time.monotonic() + connection.execute("PRAGMA busy_timeout").fetchone()[0] / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_AGAIN_SECONDS)


def _unless_in(url: sa.URL, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the address does not make itself."""
    return {name: value for name, value in settings.items() if name not in url.query}


def _reason(error: SQLAlchemyError) -> str:
    """Word an error without the host that a driver names in it: pages show this."""
    original = getattr(error, "orig", None)
    if original is None or type(original).__module__.startswith("sqlite3"):
        return _words(error)
    _log.error("The database: %s", _words(error))
    if getattr(original, "sqlstate", None) is None:
        return "it cannot be reached"
    return f"it answers {type(original).__name__}"


def _words(error: SQLAlchemyError) -> str:
    return " ".join(str(getattr(error, "orig", None) or error).split())[:200]
