"""What pages have done for them outside the script thread: reading tables, carrying out runs.

Everything is remembered under our own digests together with the workspace's token, bounded for each workspace
as well as in all, and never shared between workspaces. Tables lie in processes of their own
(`app.tables.client`): what comes back from `table` and `data` are numbers, and slices fetched when they are
shown.
"""

from __future__ import annotations

import json
import logging
import shutil
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from app import examples
from app.answer_cache import Futures
from app.drafts.drafts import server_folder
from app.drafts.files import check_inside, check_paths, stamp_of, table_paths
from app.serving import tracing
from app.serving.downloads import DOWNLOADS
from app.state import note
from app.tables import exports
from app.tables.client import READERS
from app.tables.columns import ColumnProfile
from app.tables.handles import Ask, DataHandle, TableHandle
from app.tables.summary import Summary
from app.workspaces.workspace import Workspace, is_token
from audits.checks import adapter
from audits.data import data_spec
from audits.data.quality.findings import Finding
from audits.errors import InputError, RunFailed
from audits.models.inspection import ModelReport
from audits.reports.pdf import print_pdf
from audits.runs.cache import Cache, frame_bytes, result_bytes
from audits.runs.digests import digest_of, path_digest
from audits.runs.executors.job import Run
from audits.runs.executors.pool import ProcessExecutor
from audits.runs.executors.queue import RunLimits, worker_count
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult
from audits.runs.spec import Spec, parse_spec
from audits.runs.storage.saved import SavedRuns, keep_run
from audits.runs.storage.store import RunStore, home

_RESULT_BYTES, _RESULT_BYTES_EACH = 500_000_000, 300_000_000
_IDLE_SECONDS = 600.0
_FINISH_SECONDS = 5.0  # that runs have to finish when the server ends
READING = ("path", "format", "read")
"""What of a spec's data decides which table is read, and how."""
_BYTES_COLUMN, _BYTES_VALUE = 5_000, 150  # about, beside the values of the first rows

_log = logging.getLogger("evenhand")
_lock = threading.Lock()
_executor: ProcessExecutor | None = None
_results: Cache[RunResult] = Cache(result_bytes, _RESULT_BYTES, _RESULT_BYTES_EACH)
_examples: Cache[RunResult] = Cache(lambda _: 20_000, 20_000_000)  # shared, with own paths
_badges: Cache[str | None] = Cache(lambda _: 500, 2_000_000)
_specs: Cache[Spec] = Cache(lambda _: 10_000, 10_000_000)  # every page asks for those of all its audits
_keys: Cache[tuple[str, Path]] = Cache(
    lambda _: 700, 2_800_000
)  # of runs, which digests of files are part of


def _table_bytes(found: tuple[TableHandle, tuple[ColumnProfile, ...]]) -> int:
    held, profiles = found
    values = sum(len(each.values) for each in profiles)
    return frame_bytes(held.first) + _BYTES_COLUMN * len(profiles) + _BYTES_VALUE * values


def _data_bytes(found: tuple[DataHandle, Summary]) -> int:
    held, summary = found
    groups = sum(map(len, summary.groups.values()))
    return _BYTES_COLUMN * len(held.frame.columns) + _BYTES_VALUE * groups


def _words_bytes(found: object) -> int:
    return 2 * len(str(found))


_tables, _frames = Futures(_table_bytes), Futures(_data_bytes)
_models, _findings = Futures(_words_bytes), Futures(_words_bytes)
_trials: Cache[Run] = Cache(lambda _: 2_000, 2_000_000)
_trying: dict[str, Run] = {}
"""The last trial of each workspace."""


def executor() -> ProcessExecutor:
    """Return the server's one executor, its workers warming since the first call."""
    global _executor
    with _lock:
        if _executor is None:
            _executor = ProcessExecutor(limits=RunLimits.of_server(worker_count()))
        return _executor


def tidy() -> None:
    """Forget what is known of data that nobody has looked at for a while; it is read again when asked for."""
    for each in (_tables, _frames, _models, _findings):
        each.tidy(_IDLE_SECONDS)


def close() -> None:
    """End the workers, with the server: what is short is finished, the rest handed back to the next one."""
    global _executor
    with _lock:
        going = [] if _executor is None else _executor.going_on()
        if going:
            try:
                SavedRuns().hand_back()
            except (InputError, RunFailed):
                _log.exception("Unfinished runs cannot be handed back")
        until = time.monotonic() + _FINISH_SECONDS
        for run in going:
            if run.status == "running":
                run.wait(max(0.0, until - time.monotonic()))
        if _executor is not None:
            _executor.close()
        _executor = None


def restart() -> None:
    """Start the runs again that a server handed back as it ended, or was killed at, each once."""
    for run in SavedRuns().handed_back():
        if not is_token(run.owner):
            continue
        try:
            restart_run(Workspace(run.owner), run.id, restarted=True)
        except (InputError, RunFailed) as error:  # another server was quicker, or its files are gone
            _log.warning("The run %s is not started again: %s", run.id, error)


def table(
    space: Workspace, section: Mapping[str, Any]
) -> Future[tuple[TableHandle, tuple[ColumnProfile, ...]]]:
    """Return the table that a spec's data section names, being read, with what its columns hold."""
    # what else is said of the data may be wrong, and then has to be told beside the control that says it
    ask, key, _ = _asking(space, {"data": {name: section[name] for name in READING if name in section}})

    def read() -> tuple[TableHandle, tuple[ColumnProfile, ...]]:
        told = ask("table")
        return TableHandle(told), tuple(map(adapter(ColumnProfile).validate_python, told["profiles"]))

    return _tables.get(space.token, key, read)


def data(space: Workspace, spec: Mapping[str, Any]) -> Future[tuple[DataHandle, Summary]]:
    """Return the data that a spec describes, being read and prepared, with their summary.

    Where they are larger than what is held, the spec's seed decides which rows are drawn.
    """
    ask, _, key = _asking(space, spec)

    def prepare() -> tuple[DataHandle, Summary]:
        summary = adapter(Summary).validate_python(ask("data"))
        return DataHandle(summary, ask), summary

    return _frames.get(space.token, key, prepare)


def findings(space: Workspace, spec: Mapping[str, Any], unlikely: str = "") -> Future[tuple[Finding, ...]]:
    """Return what is likely wrong with the data of a draft, being looked for where these lie.

    `unlikely` says how a model of them did, where it did better than is likely.
    """
    ask, _, key = _asking(space, spec)
    predictions = (spec["model"].get("predictions") or {}).get("label")

    def examine() -> tuple[Finding, ...]:
        told = ask("examine", predictions=predictions, unlikely=unlikely)["findings"]
        return tuple(map(adapter(Finding).validate_python, told))

    return _findings.get(space.token, digest_of([key, predictions, unlikely]), examine)


def model(space: Workspace, spec: Mapping[str, Any]) -> Future[ModelReport]:
    """Return what a spec's model file, service or column of predictions is found to be on its data.

    A file is opened where these lie; a service is asked about the first people by a process of its own.
    """
    ask, _, key = _asking(space, spec)
    section = dict(spec["model"])
    path = space.folder / section["path"] if "path" in section else None
    threshold = spec.get("threshold", 0.5) if "predictions" in section else 0.5

    def check() -> ModelReport:
        more = {"model": section, "folder": str(space.folder), "threshold": threshold}
        if path is not None:
            more["about"] = path
        elif "endpoint" in section:
            more["outside"] = True
        return adapter(ModelReport).validate_python(ask("model", **more)["model"])

    return _models.get(space.token, digest_of([key, path and stamp_of(path), section, threshold]), check)


def export(
    space: Workspace,
    found: RunResult,
    file: str,
    arguments: Mapping[str, Any] | None = None,
    data: DataHandle | None = None,
    *,
    pdf: bool = False,
) -> bytes:
    """Have a file of a result written; return what stands for it until the browser fetches it.

    It is written by a process of its own, as the tables are that it may hold, and from there to the disk. A
    result of another package's audit is written here: no such process runs other people's code.

    Parameters
    ----------
    file : {"people", "tables", "report"}
        Which, with what `app.tables.exports` takes for it as `arguments`.
    pdf : bool
        Whether the HTML that is written is printed.

    Raises
    ------
    InputError
        If that takes more memory or time than it may, or no browser is there to print with.
    RunFailed
        If the result is damaged, or the disk is full.
    """
    more = dict(arguments or {})
    with DOWNLOADS.writing(space.token) as into:
        if found.folder is None or any(AUDITS.brought(audit.name) for audit in found.audits):
            for part in exports.file_parts(found, file, more, lambda: data):
                into.write(part)
        else:
            asked = {"file": file, "arguments": more, "result": str(found.folder), "spec": found.spec}
            known = {} if data is None else dict(data.question)
            reads = [found.folder, *(_reads(space) if known else ())]
            size = sum(path.stat().st_size for path in found.folder.rglob("*") if path.is_file())
            READERS().export(space.token, {**known, **asked}, reads, size, into)
        if pdf:
            into.flush()
            page = Path(into.name).with_suffix(".html")
            shutil.copyfile(into.name, page)
            print_pdf(page, Path(into.name))
    return DOWNLOADS.offer(Path(into.name), space.token)


def export_people(space: Workspace, data: DataHandle, rows: pd.Index) -> bytes:
    """Have the columns of people written as the data have them; return what stands for the file."""
    with DOWNLOADS.writing(space.token) as into:
        for part in exports.raw_parts(data, rows):
            into.write(part)
    return DOWNLOADS.offer(Path(into.name), space.token)


def forget(space: Workspace) -> None:
    """Drop all that is remembered of a workspace, and end the process that holds its tables."""
    DOWNLOADS.forget(space.token)
    for kept in (_tables, _frames, _models, _findings):
        kept.forget(space.token)
    for recent in (_results, _examples, _badges, _specs, _keys, _trials):
        recent.forget(space.token)
    READERS().forget(space.token)


def forget_run(space: Workspace, key: str) -> None:
    """Drop a run, its result, and what is remembered of it."""
    space.forget_run(key)
    executor().forget(space.token, key)
    _results.forget(space.token)
    _badges.forget(space.token)


def _asking(space: Workspace, asked: Mapping[str, Any]) -> tuple[Ask, str, str]:
    """Return what asks about the data of a spec, and the keys of its table and of its data."""
    section, seed = asked["data"], int(asked.get("seed", 0))
    spec = data_spec(section)
    paths = table_paths(space, spec)
    stamps = [stamp_of(path) for path in paths]
    reading = {"format": spec.format, "read": spec.to_dict().get("read")}
    table_key = digest_of([space.token, stamps, reading])
    described = {name: value for name, value in spec.to_dict().items() if name != "words"}  # said of results
    data_key = digest_of([space.token, stamps, described, seed])
    question = {
        "section": dict(section),
        "paths": [str(path) for path in paths],
        "table key": table_key,
        "data key": data_key,
        "seed": seed,
    }
    reads = _reads(space)
    size = sum(path.stat().st_size for path in paths if path.is_file())

    return _Asking(space.token, question, tuple(reads), size), table_key, data_key


def _reads(space: Workspace) -> list[Path]:
    """Return the folders that a process sees which opens the tables of a workspace."""
    folder = server_folder()
    return [space.folder] + ([folder] if folder is not None else [])


@dataclass(frozen=True)
class _Asking:
    """Asks about one data section; `question` says all that an answer about it depends on."""

    owner: str
    question: Mapping[str, Any]
    reads: tuple[Path, ...]
    size: int

    def __call__(
        self, what: str, about: Path | None = None, outside: bool = False, **more: Any
    ) -> dict[str, Any]:
        asked = {"ask": what, **self.question, **more}
        if outside:
            return READERS().outside(asked)
        name = Path(self.question["paths"][0]).name if about is None else about.name
        return READERS().ask(self.owner, asked, reads=self.reads, what=name, size=self.size)


@dataclass(frozen=True)
class SpecStatus:
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


def status_of(space: Workspace, spec: Mapping[str, Any]) -> SpecStatus:
    """Return how `spec` stands in this workspace.

    Raises
    ------
    InputError
        If the spec is wrong.
    """
    _, key, _ = _key(space, spec)
    records = [record for record in space.runs() if record["key"] == key]
    run = executor().run(records[0]["id"]) if records else None
    # first whether it goes on, then whether it is there: a run that ends in between is seen as going on
    going = run is not None and not run.finished
    return SpecStatus(key, run, going, RunStore(home(), writes=False).finished(key, space.token))


def submit(
    space: Workspace,
    spec: Mapping[str, Any],
    title: str,
    address: Mapping[str, list[str]] | None = None,
) -> Run:
    """Have `spec` carried out, note it in the workspace, and keep it among the saved audits.

    `address` holds the choices under which its page was drawn, so that links lead back to them.
    """
    space.check_writable()
    check_paths(space, spec)
    run = executor().submit(spec, space.folder, owner=space.token)
    tracing.follow(
        run, [name for each in spec["audits"] for name in ([each] if isinstance(each, str) else each)]
    )
    if run.key and not any(other["id"] == run.id for other in space.runs()):
        space.note_run(_record(run, spec, title, address))
        _keep(space, spec, title, run)
        note("ran", space, run.key)
    return run


def _record(
    run: Run, spec: Mapping[str, Any], title: str, address: Mapping[str, list[str]] | None = None
) -> dict[str, Any]:
    told = {"id": run.id, "key": run.key, "spec": dict(spec), "title": title, "submitted": time.time()}
    return {**told, "address": dict(address or {})}


def arrives_computed(space: Workspace, spec: Mapping[str, Any]) -> bool:
    """Lay out the result of an example's `spec` that is bundled with it; tell whether it is there."""
    _, key, file = _key(space, spec)
    store = RunStore(home())
    if store.finished(key, space.token):
        return True
    return file.is_file() and examples.lay_out(file, store, key, space.token)


def plan(space: Workspace, spec: Mapping[str, Any], asked: Mapping[str, Any]) -> Run:
    """Have it simulated what the audits of `spec` could see; `asked` are arguments of the plan."""
    space.check_writable()
    return ask(space, spec, {"about": "audits.runs.plans.power:planned", **asked})


def ask(space: Workspace, spec: Mapping[str, Any], asked: Mapping[str, Any]) -> Run:
    """Have something asked about `spec`, in a process of its own as a run is: its model about one person."""
    check_paths(space, spec)
    return executor().submit(spec, space.folder, owner=space.token, ask=asked)


def trial(space: Workspace, spec: Mapping[str, Any], audits: Mapping[str, Mapping[str, Any]]) -> Run:
    """Have audits tried on a part of the people, once for each draft; see `audits.runs.plans.trial`.

    The trial of an earlier draft of the workspace ends.
    """
    _, _, key = _asking(space, spec)
    document = {**spec, "audits": [{name: dict(options)} for name, options in audits.items()]}
    asked = {"of": "audits.runs.plans.trial:trial", "audits": dict(audits)}
    name = digest_of([space.token, key, document])

    def begin() -> Run:
        return ask(space, document, asked)

    run = _trials.get(name, begin, space.token)
    if run.cancel_requested:
        _trials.forget(space.token)
        run = _trials.get(name, begin, space.token)
    with _lock:
        before, _trying[space.token] = _trying.get(space.token), run
    if before is not None and before is not run and not before.finished:
        before.cancel()
    return run


def _keep(space: Workspace, spec: Mapping[str, Any], title: str, run: Run) -> None:
    """Keep a run among the saved audits; where that cannot be, the run goes on and the log says why."""
    try:
        keep_run(run, spec, space.folder, title=title, owner=space.token)
    except (InputError, RunFailed):
        _log.exception("The run %s is not saved", run.id)


def restart_run(space: Workspace, identity: str, *, restarted: bool = False) -> None:
    """Have a saved audit carried out again that did not end well; by itself, if `restarted`."""
    space.check_writable()
    saved = SavedRuns()
    found = saved.begin_again(identity, space.token, restarted=restarted)
    run = executor().submit(found.spec, space.folder, owner=space.token)
    if run.key:
        space.note_run(_record(run, found.spec, found.title))
    saved.follow(found.id, run)
    note("ran", space, run.key)


def result(space: Workspace, spec: Mapping[str, Any]) -> RunResult:
    """Return the finished result of `spec`.

    Raises
    ------
    RunFailed
        If it is not there or not whole.
    """
    parsed, key, bundled = _key(space, spec)
    store = RunStore(home(), writes=False)
    if not store.finished(key, space.token):
        raise RunFailed("The result is no longer there; run the audit again.")

    def load() -> RunResult:
        return RunResult.load(store.folder(key, space.token))

    own = f"{space.token} {key}"
    if bundled.is_file():  # the same in every workspace but for its paths
        found = _results.get(bundled.name, load)
        return _examples.get(own, lambda: found.with_spec(parsed), space.token)
    return _results.get(own, lambda: load().with_spec(parsed), space.token)


def badge(space: Workspace, spec: Mapping[str, Any]) -> str | None:
    """Return the badge of the first audit of `spec` from its finished result; None in those of 0.1.0."""
    _, key, _ = _key(space, spec)
    path = RunStore(home(), writes=False).folder(key, space.token) / "results.json"

    def read() -> str | None:
        return json.loads(path.read_text(encoding="utf-8"))["audits"][0].get("badge")

    return _badges.get(f"{space.token} {key}", read, space.token)


def saved_result(space: Workspace, identity: str) -> RunResult:
    """Return what a saved audit found; its files are laid out once, not at every view.

    Raises
    ------
    InputError
        If there is no such audit, or it is not done.
    RunFailed
        If its files are damaged, or were deleted while they were read.
    """

    def load() -> RunResult:
        return SavedRuns().load(identity, space.token)

    return _results.get(f"{space.token} saved {identity}", load, space.token)


def _key(space: Workspace, spec: Mapping[str, Any]) -> tuple[Spec, str, Path]:
    """Check `spec`; return it, the key of its run, and where its result lies if it is an example's."""
    asked = json.dumps([space.token, dict(spec)], sort_keys=True)
    parsed = _specs.get(digest_of(asked), lambda: parse_spec(spec, space.folder), space.token)
    stamps = [check_inside(space, path, where, written) for where, written, path in parsed.paths()]

    def make() -> tuple[str, Path]:
        digests = [path_digest(path, where, written) for where, written, path in parsed.paths()]
        return parsed.key(digests), examples.result_file(parsed, digests)

    return parsed, *_keys.get(digest_of([asked, stamps]), make, space.token)
