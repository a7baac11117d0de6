"""Tables from elsewhere: the answer of a query, or the file at an address, as a file beside the spec.

Only the command line and `evenhand.check` fetch, for whoever may run them may read what the process reads;
specs that come from pages and saved audits never do. A fetched table is a file like any other from then on,
and its digest stands in the result.
"""

from __future__ import annotations

import contextlib
import json
import os
import posixpath
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from audits.checks import list_from, number_from
from audits.data.io.large_table import duckdb_megabytes
from audits.data.io.tables import Limits
from audits.errors import InputError, first_line, how_to_install, is_installed, not_installed, os_refusal
from audits.runs.digests import file_digest
from audits.runs.executors.sandbox_pool import LimitReached, SandboxPool
from audits.runs.source.confinement import confine

ALLOWED = "EVENHAND_FETCH"
"""Variable with the addresses that may be read: prefixes, separated by commas."""

_NOTED = ".evenhand-fetched"
"""File beside the fetched files, with the SHA-256 of each; only these are overwritten."""

_QUERY_SECONDS = 600.0
_LIBRARIES = 1_000  # megabytes beside what DuckDB takes
_CHUNK = 1 << 20
_WAIT, _HOPS = 60.0, 5
_MOVED = {301, 302, 303, 307, 308}


def fetch_data(document: Any, base_dir: Path, name: str = "spec", folders: Sequence[Path] = ()) -> Any:
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
    folders : sequence of Path
        Where given, the only folders in which is read and written.

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
    confine([("data.path", target)], folders)
    with _atomic_file(target) as file:
        if address:
            _read_address(address, file)
        else:
            _ask(query, data.get("database"), base_dir, file, folders)
    told = str(target.relative_to(base_dir)) if target.is_relative_to(base_dir) else str(target)
    return {**document, "data": {**data, "path": told}}


@contextlib.contextmanager
def _atomic_file(target: Path) -> Iterator[Path]:
    """Give a place to write; what is there afterwards becomes `target`, whole or not at all.

    A file that was not fetched, or was changed since, is someone's own and stays: `_NOTED` tells.
    """
    noted = target.parent / _NOTED
    with os_refusal("data.path", "cannot be written to", str(target)):
        known = _read_note(noted)
        if target.exists() and known.get(target.name) != file_digest(target):
            raise InputError(
                "data.path", "must not be a file that existed before, or was changed since it was fetched",
                target.name, "name another file for the download, or move that one away",
            )  # fmt: skip
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=target.parent) as folder:
            place = Path(folder) / "table"
            yield place
            known[target.name] = file_digest(place)
            noted.write_text(json.dumps(known, indent=1), encoding="utf-8")
            place.replace(target)


def _read_note(path: Path) -> dict[str, str]:
    """What was fetched into this folder; where the note is damaged nothing is written over."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return {}


def _ask(query: str, variable: str | None, base_dir: Path, target: Path, folders: Sequence[Path]) -> None:
    """Have a process of its own answer `query`, within limits of memory and time."""
    question: dict[str, Any] = {"query": query, "target": str(target), "base_dir": str(base_dir.absolute())}
    if variable:
        if not os.environ.get(variable):
            raise InputError(
                "data.database", "must name an environment variable with the database's address", variable,
                f"set {variable}=postgresql+psycopg://USER:PASSWORD@HOST/NAME; the spec never holds it",
            )  # fmt: skip
        # drivers look for certificates and passwords in more places than could be listed
        question |= {"variable": variable, "environment": dict(os.environ)}
    elif not is_installed("duckdb"):
        raise not_installed("data.query", "duckdb")
    seconds = number_from("EVENHAND_QUERY_SECONDS", _QUERY_SECONDS, least=1, most=1e6)
    memory = (duckdb_megabytes() + _LIBRARIES) * 1_000_000
    pool = SandboxPool("audits.runs.source.query:answer")
    try:
        child = pool.child(
            memory=memory, network=bool(variable), writes=[target.parent],
            reads=[folder.resolve() for folder in folders] or [Path("/")],
        )  # fmt: skip
        child.ask({**question, "confined": bool(folders)}, seconds)
    except LimitReached as error:
        setting = "EVENHAND_MEMORY" if error.what == "memory" else "EVENHAND_QUERY_SECONDS"
        rule = f"takes more than the allowed {error.what}, {error.amount}"
        raise InputError("data.query", rule, advice=f"ask for less, or raise {setting}") from None
    finally:
        pool.close()


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
    for begin in list_from(ALLOWED):
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
            advice = "if your own authority signs, name its certificate file in SSL_CERT_FILE"
        raise InputError("data.address", f"cannot be read: {first_line(error)}", address, advice) from None


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
        raise InputError("data.address", "names nothing that exists", address) from None
    except Exception as error:  # noqa: BLE001  (each kind of store has errors of its own: of credentials, say)
        raise InputError("data.address", f"cannot be read: {first_line(error)}", address) from None
