"""Tables from elsewhere: the answer of a query, or the file at an address, as a file beside the spec.

Only the command line and `audits.check` fetch, for whoever may run them may read what the process reads;
specs that come from pages and saved audits never do. A fetched table is a file like any other from then on,
and its digest stands in the result.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import posixpath
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from audits.data.io.tables import Limits
from audits.errors import InputError, how_to_install, optional

__all__ = ["ALLOWED", "fetched"]

ALLOWED = "EVENHAND_FETCH"
"""Variable with the addresses that may be read: beginnings, separated by commas."""

_NOTED = ".evenhand-fetched"
"""File beside what was fetched, with the SHA-256 of each such file: only these are written again."""

# what a comment has taken stays taken: many of them are looked through once, not in every way to part them
_READS = re.compile(r"(?>\s|--[^\n]*\n|/\*.*?\*/)*+(SELECT|WITH)\b", re.IGNORECASE | re.DOTALL)
_CHUNK, _ROWS = 1 << 20, 50_000
_WAIT, _HOPS = 60.0, 5
_MOVED = {301, 302, 303, 307, 308}


def fetched(document: Any, base_dir: Path, name: str = "spec") -> Any:
    """Return a spec's plain data with ``data.path`` naming a file that was fetched, if it asks for one.

    ``data.query`` is put to DuckDB, which reads files that it names, or with ``data.database`` to the
    database whose SQLAlchemy address stands in the environment variable of that name; in either case it may
    only read. ``data.address`` (or an address as ``data.path``) is read over https, or through fsspec
    (s3://, gs://) where that is installed, if `ALLOWED` lets it.

    Parameters
    ----------
    document : mapping
        The spec; anything else is returned as it is.
    base_dir : Path
        Folder that paths start from, those inside the query too.
    name : str
        Name that the file takes after where ``data.path`` names none: ``NAME-data.arrow``.

    Raises
    ------
    InputError
        If nothing may be fetched, or it cannot be: names the key.
    """
    data = document.get("data") if isinstance(document, Mapping) else None
    if not isinstance(data, Mapping):
        return document
    path = data.get("path")
    if isinstance(path, str) and "://" in path and not data.get("address"):
        data = {**{key: value for key, value in data.items() if key != "path"}, "address": path}
    if not data.get("query") and not data.get("address"):
        return document
    for key in ("query", "address", "path", "database"):
        if data.get(key) is not None and not isinstance(data[key], str):
            raise InputError(f"data.{key}", "must be a text", data[key])
    query, address = str(data.get("query") or ""), data.get("address")
    if query and address:
        raise InputError("data.query", "cannot go with data.address", advice="leave one of them out")
    last = Path(unquote(urlsplit(address).path)).name if address else ""
    target = base_dir / (data.get("path") or last or f"{name}-data.arrow")
    with _written(target) as file:
        if address:
            _read_address(address, file)
        elif data.get("database"):
            _ask_database(str(query), data["database"], file)
        else:
            _ask_files(str(query), base_dir, file)
    told = str(target.relative_to(base_dir)) if target.is_relative_to(base_dir) else str(target)
    return {**document, "data": {**data, "path": told}}


@contextlib.contextmanager
def _written(target: Path) -> Iterator[Path]:
    """Give a place to write; what is there afterwards becomes `target`, whole or not at all.

    A file that was not fetched, or was changed since, is somebody's own and stays: `_NOTED` tells.
    """
    noted = target.parent / _NOTED
    try:
        known = _noted(noted)
        if target.exists() and known.get(target.name) != _digest(target):
            raise InputError(
                "data.path", "must not be a file that was there before, or was changed since it was fetched",
                target.name, "name another file for what is fetched, or move that one away",
            )  # fmt: skip
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=target.parent) as folder:
            place = Path(folder) / "table"
            yield place
            known[target.name] = _digest(place)
            noted.write_text(json.dumps(known, indent=1), encoding="utf-8")
            place.replace(target)
    except OSError as error:
        raise InputError(
            "data.path", f"cannot be written to ({error.strerror or error})", str(target)
        ) from None


def _noted(path: Path) -> dict[str, str]:
    """What was fetched into this folder; where the note is damaged nothing is written over."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return {}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _ask_files(query: str, base_dir: Path, target: Path) -> None:
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "file_search_path": str(base_dir),
    }
    try:
        with duckdb.connect(":memory:", config=settings) as connection:
            statements = connection.extract_statements(query)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise InputError("data.query", "must be one SELECT", query)
            batches = connection.sql(query).to_arrow_reader(_ROWS)
            _write(batches.schema, batches, target)
    except duckdb.Error as error:
        raise InputError("data.query", f"cannot be answered: {_first_line(error)}", query) from None


def _ask_database(query: str, variable: str, target: Path) -> None:
    import pyarrow as pa
    import sqlalchemy as sa
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

    url = os.environ.get(variable)
    if not url:
        raise InputError(
            "data.database", "must name an environment variable with the database's address", variable,
            f"set {variable}=postgresql+psycopg://USER:PASSWORD@HOST/NAME; the spec never holds it",
        )  # fmt: skip
    if not _READS.match(query):
        raise InputError("data.query", "must be one SELECT", query)
    try:
        engine = sa.create_engine(url)
    except (ArgumentError, ImportError) as error:
        package = error.name if isinstance(error, ImportError) else None
        if package:
            rule = f"names a database whose driver {package!r} is not installed here"
            advice = how_to_install(package) if optional(package) else "install it"
        else:
            rule, advice = "names a database that cannot be opened", "write it as SQLAlchemy does"
        raise InputError(variable, rule, advice=advice) from None
    try:
        with engine.connect() as connection:
            if engine.dialect.name == "sqlite":
                connection.exec_driver_sql("PRAGMA query_only = ON")
            elif engine.dialect.name in {"postgresql", "mysql", "mariadb", "oracle"}:
                connection.exec_driver_sql("SET TRANSACTION READ ONLY")
            # without parameters a driver takes % as it stands
            connection = connection.execution_options(stream_results=True, no_parameters=True)
            rows = connection.exec_driver_sql(query)
            names, limits = list(rows.keys()), Limits()
            found: list[Any] = []
            for part in rows.partitions(_ROWS):
                found += part
                limits.check("data.query", rows=len(found), columns=len(names))
            connection.rollback()
    except SQLAlchemyError as error:
        # the driver's words alone: the address holds a password
        raise InputError(
            "data.query", f"cannot be answered: {_first_line(getattr(error, 'orig', None) or error)}", query
        ) from None
    finally:
        engine.dispose()
    columns = list(zip(*found, strict=True)) or [()] * len(names)
    arrays = []
    for name, values in zip(names, columns, strict=True):
        try:
            arrays.append(pa.array(values))
        except (pa.ArrowException, OverflowError):
            raise InputError(
                f"data.query, column {name!r}", "mixes types", advice="CAST it to one in the query"
            ) from None
    table = pa.Table.from_arrays(arrays, names=names)
    _write(table.schema, table.to_batches(), target)


def _write(schema: Any, batches: Any, target: Path) -> None:
    import pyarrow as pa

    limits, rows = Limits(), 0
    with pa.OSFile(str(target), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for batch in batches:
            rows += batch.num_rows
            limits.check("data.query", rows=rows, columns=len(schema))
            writer.write_batch(batch)


def _read_address(address: str, target: Path) -> None:
    _check_allowed(address)
    parts = _over_https(address) if address.startswith(("https:", "http:")) else _through_fsspec(address)
    most, size = Limits().file_bytes, 0
    with target.open("wb") as file:
        for part in parts:
            size += len(part)
            if size > most:
                raise InputError(
                    "data.address", f"gives more than {most / 1e6:,.0f} MB", address,
                    "keep fewer rows or columns, or raise EVENHAND_MAX_FILE_MB",
                )  # fmt: skip
            file.write(part)


def _check_allowed(address: str) -> None:
    """Refuse what does not begin as `ALLOWED` says; example.org.evil does not begin as example.org."""
    told = urlsplit(address)
    for begin in filter(None, map(str.strip, os.environ.get(ALLOWED, "").split(","))):
        known = urlsplit(begin)
        inside = posixpath.normpath(unquote(told.path) or "/")
        folder = posixpath.normpath(unquote(known.path) or "/").rstrip("/")
        if (told.scheme, told.netloc) == (known.scheme, known.netloc) and (
            inside == folder or inside.startswith(f"{folder}/")
        ):
            return
    place = f"{told.scheme}://{told.hostname or ''}/"
    raise InputError(
        "data.address", f"must begin as {ALLOWED} says", f"{told.scheme}://{told.hostname or ''}{told.path}",
        f"set {ALLOWED}={place} to allow it, or fetch the file and name its path",
    )  # fmt: skip


def _over_https(address: str) -> Iterator[bytes]:
    import urllib3

    try:
        with urllib3.PoolManager(retries=False, timeout=_WAIT) as pool:
            for _ in range(_HOPS):
                answer = pool.request("GET", address, redirect=False, preload_content=False)
                if answer.status not in _MOVED:
                    break
                address = urljoin(address, answer.headers.get("location", ""))
                _check_allowed(address)  # every hop: an allowed host may send elsewhere
            if answer.status != 200:
                raise InputError("data.address", f"answered {answer.status}", address)
            yield from answer.stream(_CHUNK)
    except urllib3.exceptions.HTTPError as error:
        advice = ""
        if isinstance(error, urllib3.exceptions.SSLError):
            advice = "where an authority of your own signs, name the file of its certificate in SSL_CERT_FILE"
        raise InputError("data.address", f"cannot be read: {_first_line(error)}", address, advice) from None


def _through_fsspec(address: str) -> Iterator[bytes]:
    scheme = urlsplit(address).scheme
    try:
        import fsspec

        with fsspec.open(address, "rb") as file:
            while part := file.read(_CHUNK):
                yield part
    except ImportError as error:
        package = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs"}.get(scheme)
        advice = f"pip install {package}" if package and error.name != "fsspec" else how_to_install("fsspec")
        raise InputError("data.address", f"needs a package for {scheme}://", address, advice) from None
    except FileNotFoundError:
        raise InputError("data.address", "names nothing that is there", address) from None
    except Exception as error:  # noqa: BLE001  (each kind of store has errors of its own: of credentials, say)
        raise InputError("data.address", f"cannot be read: {_first_line(error)}", address) from None


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
