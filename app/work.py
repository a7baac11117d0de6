"""What pages have done for them outside the script thread: reading tables, carrying out runs.

Everything is remembered under our own digests together with the workspace's token, bounded in number, and
never shared between workspaces.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.columns import ColumnProfile, profile
from app.summary import Summary, summarise
from app.workspace import Workspace
from audits.data import AuditData, DataSpec, Table, build_data, data_spec, read_table
from audits.errors import InputError, RunFailed
from audits.results import tables
from audits.runs.digests import digest_of, path_digest
from audits.runs.executors import ProcessExecutor
from audits.runs.handle import Run
from audits.runs.recent import Recent
from audits.runs.result import RunResult
from audits.runs.saved import SavedRuns
from audits.runs.spec import Spec, parse_spec
from audits.runs.store import RunStore, home

__all__ = ["Standing", "close", "data", "executor", "result", "standing", "start_again", "submit", "table"]

_TABLES, _DATA, _RESULTS = 2, 3, 6
_READERS = 2

_lock = threading.Lock()
_executor: ProcessExecutor | None = None
_readers = ThreadPoolExecutor(_READERS, thread_name_prefix="evenhand-read")
_preparers = ThreadPoolExecutor(_READERS, thread_name_prefix="evenhand-prepare")  # they wait for readers
_digests: Recent[str] = Recent(200, lambda _: 1)
_results: Recent[RunResult] = Recent(_RESULTS, lambda found: _cells(found))
_parsed: Recent[tuple[Spec, str]] = Recent(200, lambda _: 1)


class _Futures:
    """The last futures by key; one that failed for another reason than the input is tried again."""

    def __init__(self, most: int, pool: ThreadPoolExecutor) -> None:
        self._most = most
        self._pool = pool
        self._kept: OrderedDict[str, Future[Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, make: Callable[[], Any]) -> Future[Any]:
        with self._lock:
            future = self._kept.get(key)
            if future is None or _broken(future):
                future = self._kept[key] = self._pool.submit(make)
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return future


def _broken(future: Future[Any]) -> bool:
    return future.done() and (error := future.exception()) is not None and not isinstance(error, InputError)


_tables, _frames = _Futures(_TABLES, _readers), _Futures(_DATA, _preparers)


def executor() -> ProcessExecutor:
    """Return the server's one executor, its workers warming since the first call."""
    global _executor
    with _lock:
        if _executor is None:
            _executor = ProcessExecutor()
        return _executor


def close() -> None:
    """End the workers and readers, with the server."""
    global _executor
    with _lock:
        if _executor is not None:
            _executor.close()
        _executor = None


def table(space: Workspace, section: Mapping[str, Any]) -> Future[tuple[Table, tuple[ColumnProfile, ...]]]:
    """Return the table that a spec's data section names, being read, with what its columns hold."""
    spec = data_spec(section)
    paths = _paths(space, spec)
    reading = {"format": spec.format, "read": spec.to_dict().get("read")}
    key = digest_of([space.token, [_stamp(path) for path in paths], reading])

    def read() -> tuple[Table, tuple[ColumnProfile, ...]]:
        found = read_table(paths, format=spec.format, options=spec.read)
        return found, profile(found)

    return _tables.get(key, read)


def data(space: Workspace, section: Mapping[str, Any]) -> Future[tuple[AuditData, Summary]]:
    """Return the data that a spec's data section describes, being read and prepared, with their summary."""
    spec = data_spec(section)
    key = digest_of([space.token, [_stamp(path) for path in _paths(space, spec)], spec.to_dict()])

    def prepare() -> tuple[AuditData, Summary]:
        made = build_data(table(space, section).result()[0], spec)
        return made, summarise(made)

    return _frames.get(key, prepare)


@dataclass(frozen=True)
class Standing:
    """How a spec stood at one moment, which a script draws from beginning to end.

    Attributes
    ----------
    key : str
        Of the run.
    run : Run or None
        What is or was carried out for it.
    going : bool
        Whether that was queued or running.
    finished : bool
        Whether a result lay ready.
    """

    key: str
    run: Run | None
    going: bool
    finished: bool


def standing(space: Workspace, spec: Mapping[str, Any]) -> Standing:
    """Return how `spec` stands in this workspace.

    Raises
    ------
    InputError
        If the spec is wrong.
    """
    _, key = _key(space, spec)
    records = [record for record in space.runs() if record["key"] == key]
    run = executor().run(records[0]["id"]) if records else None
    # first whether it goes on, then whether it is there: a run that ends in between is seen as going on
    going = run is not None and not run.finished
    return Standing(key, run, going, RunStore(home()).finished(key))


def submit(space: Workspace, spec: Mapping[str, Any], title: str) -> Run:
    """Have `spec` carried out, note it in the workspace, and keep it among the saved audits."""
    run = executor().submit(spec, space.folder, owner=space.token)
    record = {"id": run.id, "key": run.key, "spec": dict(spec), "title": title, "submitted": time.time()}
    if run.key and not any(other["id"] == run.id for other in space.runs()):
        space.note_run(record)
        _keep(space, spec, title, run)
    return run


def _keep(space: Workspace, spec: Mapping[str, Any], title: str, run: Run) -> None:
    """Keep a run among the saved audits; where that cannot be, the run goes on and the log says why."""
    try:
        saved = SavedRuns()
        saved.follow(saved.begin(spec, space.folder, title=title, owner=space.token, key=run.key), run)
    except (InputError, RunFailed):
        logging.getLogger("evenhand").exception("The run %s is not saved", run.id)


def start_again(space: Workspace, identity: str) -> None:
    """Have a saved audit carried out again that did not end well."""
    saved = SavedRuns()
    found = saved.begin_again(identity, space.token)
    run = executor().submit(found.spec, space.folder, owner=space.token)
    if run.key:
        record = {
            "id": run.id,
            "key": run.key,
            "spec": found.spec,
            "title": found.title,
            "submitted": time.time(),
        }
        space.note_run(record)
    saved.follow(found.id, run)


def result(space: Workspace, spec: Mapping[str, Any]) -> RunResult:
    """Return the finished result of `spec`.

    Raises
    ------
    RunFailed
        If it is not there or not whole.
    """
    parsed, key = _key(space, spec)
    store = RunStore(home())
    if not store.finished(key):
        raise RunFailed("The result is no longer there; run the audit again.")
    return _results.get(f"{space.token} {key}", lambda: RunResult.load(store.folder(key)).with_spec(parsed))


def _key(space: Workspace, spec: Mapping[str, Any]) -> tuple[Spec, str]:
    """Check `spec` and return it with the key of its run."""
    parsed = parse_spec(spec, space.folder)
    stamps = [_stamp(path) for _, _, path in parsed.paths()]

    def make() -> tuple[Spec, str]:
        found = [_digest(path, where, written) for where, written, path in parsed.paths()]
        return parsed, parsed.key(found)

    return _parsed.get(json.dumps([space.token, stamps, dict(spec)], sort_keys=True), make)


def _cells(found: RunResult) -> int:
    return sum(table.size for audit in found.audits for table in tables(audit.result).values())


def _paths(space: Workspace, spec: DataSpec) -> list[Path]:
    written = [spec.path] if isinstance(spec.path, str) else list(spec.path or ())
    if not written:
        raise InputError("data.path", "is missing", advice="choose a file first")
    return [space.folder / path for path in written]


def _digest(path: Path, where: str, written: str) -> str:
    return _digests.get(_stamp(path), lambda: path_digest(path, where, written))


def _stamp(path: Path) -> str:
    """Return what changes when a file is replaced."""
    try:
        found = path.stat()
    except OSError:
        return f"{path} absent"
    return f"{path} {found.st_size} {found.st_mtime_ns} {found.st_ino}"
