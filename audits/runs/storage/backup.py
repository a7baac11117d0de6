"""All that a home folder and its database hold, in one file, and back again.

The file is a ``tar.gz``: ``rows/<table>.jsonl`` of the database, SQLite or PostgreSQL, ``home/…`` as it lies
on the disk, and ``manifest.json`` with the digest of each. It can be read back into either kind of database.
It holds people's data: keep it like the home folder.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from audits.errors import InputError, RunFailed
from audits.runs.digests import file_digest
from audits.runs.storage.archive import MANIFEST, OWN_TABLES, Pack, as_stored, pack_rows, packing
from audits.runs.storage.database import Database, database, database_url
from audits.runs.storage.schema import MIGRATIONS
from audits.runs.storage.store import home, make_private

_LEFT_OUT = ("evenhand.sqlite", "backups", "processes", "status", "control")  # rows, copies, who is running


@dataclass(frozen=True)
class CopySize:
    """How much was copied: rows of the database, and files and their bytes."""

    rows: int
    files: int
    size: int


def backup(target: Path, base: Path | None = None) -> CopySize:
    """Copy everything into the file `target`, while servers go on.

    Raises
    ------
    InputError
        If it exists already, or the home folder or the database cannot be used.
    RunFailed
        If it cannot be written.
    """
    folder = base or home()
    if target.exists():
        raise InputError(str(target), "exists already", advice="choose another name")
    if not folder.is_dir():
        raise InputError("EVENHAND_HOME", "must be a folder with something to copy", str(folder))
    kept = database(base)
    partial = target.with_name(f"{target.name}.partial")
    try:
        with tempfile.TemporaryDirectory(prefix=".backup-", dir=folder) as aside, packing(partial) as pack:
            with kept.writing() as connection:  # no deletion can fall between rows and files
                rows = pack_rows(connection, pack)
                linked = _link(folder / "artefacts", Path(aside) / "artefacts")
            roots = [(linked, "artefacts")] if linked else []
            roots += [(path, path.name) for path in sorted(folder.iterdir()) if _is_backed_up(path)]
            for root, name in roots:
                _pack_files(root, f"home/{name}", pack)
            pack.finish(rows=rows)
        partial.chmod(0o600)
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise RunFailed(f"The copy could not be written ({error.strerror}).") from error
    return CopySize(rows, pack.files, pack.size)


def restore(source: Path, base: Path | None = None) -> CopySize:
    """Lay out what `backup` copied, in an empty home folder and an empty database.

    Raises
    ------
    InputError
        If the file is no whole copy, or home or database hold something already.
    RunFailed
        If it cannot be laid out; nothing of it stays then.
    """
    folder = base or home()
    there = [path for path in folder.iterdir() if path.name not in _LEFT_OUT] if folder.is_dir() else []
    if there or (folder / "evenhand.sqlite").exists():
        raise InputError("EVENHAND_HOME", "must be empty, so that nothing is lost", str(folder))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_private(folder)
    staging = Path(tempfile.mkdtemp(prefix=".restore-", dir=folder))
    try:
        manifest = _unpack(source, staging)
        version = int(manifest["schema"])
        if version > len(MIGRATIONS):
            raise InputError(source.name, "was made by a newer version of Evenhand", advice="update this one")
        rows = _fill(Database(database_url(folder), upto=max(version, 1)), staging / "rows", manifest)
        Database(database_url(folder))  # and on to this Evenhand's schema
        for path in sorted((staging / "home").glob("*")) if (staging / "home").is_dir() else ():
            path.rename(folder / path.name)
    except OSError as error:
        (folder / "evenhand.sqlite").unlink(missing_ok=True)
        raise RunFailed(f"The copy could not be restored ({error.strerror}).") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    sizes = manifest["files"]
    return CopySize(rows, sum(name.startswith("home/") for name in sizes), int(manifest["size"]))


def _pack_files(root: Path, name: str, pack: Pack) -> None:
    if root.is_file():
        pack.add(name, root)
        return
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and ".partial" not in path.name:
            pack.add(f"{name}/{path.relative_to(root).as_posix()}", path)


def _is_backed_up(path: Path) -> bool:
    own = path.name.startswith((*_LEFT_OUT, ".backup-", ".restore-"))
    return not own and path.name != "artefacts" and not path.is_symlink()


def _link(source: Path, target: Path) -> Path | None:
    """Give files other names on the same disk, at once: they stay whatever is deleted meanwhile."""
    if not source.is_dir():
        return None
    for path in source.glob("??/*"):
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, place)
        except OSError:  # a file system without links
            shutil.copy2(path, place)
    return target if target.is_dir() else None


def _unpack(source: Path, staging: Path) -> dict[str, Any]:
    """Lay a copy out in `staging` and hold each file against its digest; return the manifest."""
    try:
        with tarfile.open(source, "r:gz") as archive:
            archive.extractall(staging, filter="data")
        manifest = json.loads((staging / MANIFEST).read_text(encoding="utf-8"))
        expected = dict(manifest["files"])
    except FileNotFoundError:
        raise InputError(source.name, "is not a complete copy, or does not exist", str(source)) from None
    except (tarfile.TarError, EOFError, ValueError, KeyError, TypeError) as error:
        raise InputError(source.name, f"is not a copy that `evenhand backup` made ({error})") from None
    found = {path.relative_to(staging).as_posix() for path in staging.rglob("*") if path.is_file()} - {
        MANIFEST
    }
    if found != expected.keys():
        raise InputError(source.name, "holds other files than it lists")
    for name, digest in expected.items():
        if file_digest(staging / name) != digest:
            raise InputError(source.name, f"is damaged at {name}")
    return dict(manifest)


def _fill(kept: Database, folder: Path, manifest: dict[str, Any]) -> int:
    number = 0
    with kept.writing() as connection:
        for table in as_stored(connection).sorted_tables:
            path = folder / f"{table.name}.jsonl"
            if table.name in OWN_TABLES or not path.is_file():
                continue
            if connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one():
                raise InputError("the database", "must be empty, so that nothing is lost", table.name)
            with path.open(encoding="utf-8") as lines:
                for line in lines:
                    row = {name: _value(value) for name, value in json.loads(line).items()}
                    if row.get("status") == "running":
                        row["process"] = ""  # whoever carries it out does so for the home that was copied
                    connection.execute(sa.insert(table), row)
                    number += 1
    if number != manifest["rows"]:
        raise RunFailed(f"{number:,} of {manifest['rows']:,} rows were restored.")
    return number


def _value(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value
