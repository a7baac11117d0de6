"""Taking one person out of a home folder: rows of uploads, what was found with them, what was measured.

A result holds rows of the table that it came from, so an audit of a file with this person in it is deleted
whole: it can be run again on what is left. Which column tells people apart is said by ``person`` in the spec,
or by whoever asks.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from audits.errors import InputError, RunFailed
from audits.runs.executors import system
from audits.runs.executors.sandbox_pool import SandboxPool
from audits.runs.storage.audit_log import AuditLog
from audits.runs.storage.database import database
from audits.runs.storage.saved import SavedRun, SavedRuns
from audits.runs.storage.store import RunStore, home, write_json

_CLIENT_ID = "client_id"  # the column of every table that holds a sender's own name of a person
_INBOXES = ("inbox", "done", "failed")
_IDS = ("id",)
_MEMORY, _SECONDS = 4 << 30, 3600.0  # of the process that reads and rewrites files


@dataclass
class Erasure:
    """What was taken out, or would be.

    Attributes
    ----------
    files : dict
        Rows by file.
    audits : list of str
        Ids of saved audits deleted with what they found.
    measured : int
        Rows of monitors.
    elsewhere : dict
        Columns that hold the value but are not said to tell people apart, by file: nothing was done there.
    unread : dict
        Files that could not be read, and why.
    """

    files: dict[str, int] = field(default_factory=dict)
    audits: list[str] = field(default_factory=list)
    measured: int = 0
    elsewhere: dict[str, list[str]] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)


def erase_person(
    person: str, *, column: str | None = None, base: Path | None = None, look: bool = False
) -> Erasure:
    """Take out all that is kept of one person.

    Parameters
    ----------
    person : str
        What the column that tells people apart holds for this person.
    column : str, optional
        That column; by default what each workspace's spec names as ``person``.
    look : bool
        Whether only to say what would be taken out.

    Raises
    ------
    InputError
        If `person` is empty.
    RunFailed
        If the database or the audit log cannot be used.
    """
    if not person.strip():
        raise InputError("--person", "must not be empty", person)
    folder = base or home()
    told = Erasure()
    saved = SavedRuns(base)
    runs = saved.list()
    touched: set[Path] = set()
    with contextlib.closing(SandboxPool("audits.runs.storage.row_removal:rows_of")) as pool:
        process = pool.child(memory=_MEMORY, writes=(folder,))
        for path, columns, reading in _files(folder, runs, column):
            name = str(path.relative_to(folder))
            try:
                question = {"path": str(path), "value": person, "columns": columns, "look": look}
                found = process.ask({**question, **reading}, _SECONDS)
            except (InputError, RunFailed) as error:
                told.unread[name] = str(error)
                continue
            if found["rows"]:
                touched.add(path)
                told.files[name] = found["rows"]
            if found["other"]:
                told.elsewhere[name] = found["other"]
    store = RunStore(folder)
    for run in runs:
        if touched.intersection(_spec_paths(Path(run.base_dir), run.spec.get("data", {}))):
            told.audits.append(run.id)
            if not look:
                saved.delete(run.id)
                store.discard(store.folder(run.key, run.owner))
                _forget_run(Path(run.base_dir), run.key)
    told.measured = _erase_measurements(person, base, look)
    if not look:
        AuditLog(folder).note("erased", what="one person")
    return told


def _files(
    folder: Path, runs: list[SavedRun], column: str | None
) -> Iterator[tuple[Path, list[str], dict[str, Any]]]:
    """Yield each file with the columns that tell its people apart, and how it is read."""
    for space in sorted((folder / "workspaces").glob("*")):
        sections = list(_sections(space, runs))
        for path in sorted((space / "files").glob("*/*")):
            mine = [each for each in sections if path in _spec_paths(space, each)]
            yield path, _columns(mine or sections, column), _reading(mine)
    for monitor in sorted((folder / "monitors").glob("*")):
        for name in _INBOXES:
            for path in sorted((monitor / name).glob("*")):
                if path.is_file() and path.suffix != ".txt":
                    yield path, [column] if column else list(_IDS), {}


def _sections(space: Path, runs: list[SavedRun]) -> Iterator[Mapping[str, Any]]:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        yield json.loads((space / "draft.json").read_text(encoding="utf-8"))["spec"]["data"]
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        for run in json.loads((space / "runs.json").read_text(encoding="utf-8")):
            yield run["spec"]["data"]
    for run in runs:
        if Path(run.base_dir) == space:
            yield run.spec["data"]


def _columns(sections: list[Mapping[str, Any]], column: str | None) -> list[str]:
    if column:
        return [column]
    return list(dict.fromkeys(str(each["person"]) for each in sections if each.get("person")))


def _reading(sections: list[Mapping[str, Any]]) -> dict[str, Any]:
    first = sections[0] if sections else {}
    return {name: first[name] for name in ("format", "read") if first.get(name)}


def _spec_paths(folder: Path, section: Mapping[str, Any]) -> list[Path]:
    written = section.get("path") or ()
    return [folder / each for each in ([written] if isinstance(written, str) else written)]


def _forget_run(space: Path, key: str) -> None:
    path = space / "runs.json"
    with contextlib.suppress(FileNotFoundError, ValueError), system.alone(path.with_suffix(".lock")):
        runs = json.loads(path.read_text(encoding="utf-8"))
        write_json(path, [run for run in runs if run.get("key") != key])


def _erase_measurements(person: str, base: Path | None, look: bool) -> int:
    kept = database(base)
    tables, number = sa.MetaData(), 0
    with kept.writing() as connection:
        tables.reflect(connection)
        for table in tables.sorted_tables:
            if _CLIENT_ID not in table.c:
                continue
            mine = table.c[_CLIENT_ID] == person
            number += connection.execute(
                sa.select(sa.func.count()).select_from(table).where(mine)
            ).scalar_one()
            if not look:
                connection.execute(sa.delete(table).where(mine))
    kept.scrub()
    return number
