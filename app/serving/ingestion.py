"""Predictions coming in: read, measured, and stored before they are answered.

What waits for a monitor is measured together, and stored together in one transaction, so that many small
requests share a call of the model and a write to disk. A request is answered when its transaction is on disk.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import shutil
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from app.serving.clock import Clock
from app.serving.tracing import span
from app.serving.webhook import Delivery
from app.tables.client import READERS
from audits.errors import InputError, RunFailed
from audits.monitor.batches import Batch
from audits.monitor.bundle import Scored
from audits.monitor.inbox import inbox, take_files
from audits.monitor.ingestion import Arrival, file_batches, read_json
from audits.monitor.monitors import MAX_PEOPLE, Monitors, StoredMonitor
from audits.monitor.recoding import as_audited
from audits.monitor.scoring import Scorer
from audits.monitor.storage import Known, Stored
from audits.runs.storage.database import database, is_unreachable
from audits.runs.storage.store import home

MAX_IN_PROCESS = 16_384
"""Bytes of a body that is read where pages are served; larger ones go undecoded to a sandbox."""

_MAX_WAITING = 200
_MAX_TOGETHER = 64
_SKEW_SECONDS = 300.0
_MAX_READ = 20  # monitors whose history is read before anyone asks
_log = logging.getLogger("evenhand")


class Busy(RuntimeError):
    """More batches wait than are worth keeping waiting."""


@dataclass(frozen=True)
class FileOutcome:
    """What came of a file: people stored, flags and alarms among them, and people stored `before`."""

    people: int
    flagged: int
    alarms: int
    before: int


@dataclass(eq=False)
class _Job:
    """A batch that came; `done` is what was measured, and how it was stored."""

    arrival: Arrival
    sha256: str
    key: str | None
    kind: str
    context: Context
    done: Future[tuple[Batch, Stored]] = field(default_factory=Future)


class Ingest:
    """The service behind the monitors' routes; start and close it with the server."""

    def __init__(
        self,
        monitors: Monitors | None = None,
        scorer: Scorer | None = None,
        *,
        tick_seconds: float = 5.0,
        prune_seconds: float = 600.0,
    ) -> None:
        self._monitors = monitors
        self._tick_seconds, self._prune_seconds = tick_seconds, prune_seconds
        self._arrived: dict[str, list[_Job]] = {}  # by monitor, not yet measured
        self._lock = threading.Lock()
        self._storing = threading.Lock()  # the database would have all but one ask again and again
        self._waiting = 0  # batches of requests, not yet stored
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="evenhand-measure")
        self._delivery = Delivery()
        self._raised = threading.Event()
        self._scorer = scorer or Scorer()
        self._clock = Clock()
        self._read: set[str] = set()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    @property
    def monitors(self) -> Monitors:
        """The monitors of the process's database.

        Raises
        ------
        RunFailed
            If the database cannot be used.
        """
        if self._monitors is None:
            try:
                self._monitors = Monitors(database())
            except InputError as error:  # the fault is the server's, not the sender's
                raise RunFailed(str(error)) from error
        return self._monitors

    def start(self) -> None:
        """Begin to look after alarms, files dropped and retention; what is sent is stored from now on."""
        for run in (self._tend, self._deliver):
            thread = threading.Thread(target=run, name=f"evenhand{run.__name__}", daemon=True)
            thread.start()
            self._threads.append(thread)

    @property
    def alive(self) -> bool:
        """Whether what is put here is stored, told of and looked after: it was started and goes on."""
        return bool(self._threads) and all(thread.is_alive() for thread in self._threads)

    @property
    def stuck(self) -> list[str]:
        """Webhooks that have not answered for more than a minute."""
        return self._delivery.stuck

    def close(self) -> None:
        """Store what waits, then end."""
        self._stop.set()
        self._raised.set()
        until = time.monotonic() + 60
        while self._arrived and time.monotonic() < until:
            time.sleep(0.01)
        self._pool.shutdown(wait=True)
        for thread in self._threads:
            thread.join(timeout=60)
        self._delivery.close()
        self._scorer.close()

    async def find(self, identity: str) -> StoredMonitor:
        """Return a monitor as it is now.

        Raises
        ------
        InputError
            If there is none.
        """
        return await run_in_threadpool(self._load, identity)

    def _load(self, identity: str) -> StoredMonitor:
        found = self.monitors.get(identity)
        _ = found.bundle.encoder  # ready now
        return found

    async def answer(self, monitor: StoredMonitor, body: bytes, kind: str, key: str | None) -> dict[str, Any]:
        """Measure and store what a request brought; return what it is answered with.

        Raises
        ------
        InputError
            If the body is wrong.
        RunFailed
            If the database cannot be used: nothing was stored.
        Busy
            If too much waits already.
        """
        if not self.alive:  # nobody would ever answer
            raise RunFailed("The prediction store has not started on this server.")
        if self._waiting > _MAX_WAITING:
            raise Busy
        self._waiting += 1
        try:
            with span("monitor.batch", monitor=monitor.id, kind=kind, bytes=len(body)) as told:
                arrival = await self._arrival(monitor, body, kind)
                told["people"] = arrival.people
                job = _Job(arrival, hashlib.sha256(body).hexdigest(), key, kind, copy_context())
                self._add(monitor, job)
                batch, stored = await asyncio.wrap_future(job.done)
                told["alarms"] = len(stored.alarms)
        finally:
            self._waiting -= 1
        return _answer_of(monitor, batch, stored)

    async def _arrival(self, monitor: StoredMonitor, body: bytes, kind: str) -> Arrival:
        """Read a body: a small one of JSON here, every other in a sandbox."""
        bundle = monitor.bundle
        if kind == "json" and len(body) <= MAX_IN_PROCESS:
            return read_json(body, bundle.reads)
        return await run_in_threadpool(READERS().body, monitor.id, body, kind, bundle.reads)

    def _add(self, monitor: StoredMonitor, job: _Job) -> None:
        with self._lock:
            if monitor.id in self._arrived:  # whoever measures there takes this, too
                self._arrived[monitor.id].append(job)
                return
            self._arrived[monitor.id] = [job]
        self._pool.submit(self._work_off, monitor)

    def _work_off(self, monitor: StoredMonitor) -> None:
        """Measure and store what waits for a monitor; what came meanwhile when others have had their turn."""
        with self._lock:
            waiting = self._arrived[monitor.id]
            people = accumulate(job.arrival.people for job in waiting[:_MAX_TOGETHER])
            number = max(1, sum(some <= MAX_PEOPLE for some in people))
            jobs = waiting[:number]
            del waiting[:number]
        self._store(monitor, jobs)
        with self._lock:
            if not waiting:
                del self._arrived[monitor.id]
                return
        self._pool.submit(self._work_off, monitor)

    def _store(self, monitor: StoredMonitor, jobs: Sequence[_Job]) -> None:
        """Measure and store jobs together; if that fails, one by one, so that each hears of its own."""
        try:
            batches = self._batches(monitor, jobs)
            found = jobs[0].context.run(self._store_batches, batches)
        except Exception as error:  # noqa: BLE001  (each sender must hear)
            if len(jobs) > 1 and not is_unreachable(error):
                for job in jobs:
                    self._store(monitor, [job])
                return
            known = isinstance(error, (InputError, RunFailed))
            if not isinstance(error, InputError):
                _log.error("A batch of predictions was not stored: %s", error, exc_info=not known)
            if not known:
                error = RunFailed("The predictions could not be measured and stored.")
            for job in jobs:
                _end(job, error)
            return
        for job, batch, outcome in zip(jobs, batches, found, strict=True):
            _end(job, outcome if isinstance(outcome, Exception) else (batch, outcome))

    def _batches(self, monitor: StoredMonitor, jobs: Sequence[_Job]) -> list[Batch]:
        bundle = monitor.bundle
        read = [as_audited(bundle, job.arrival.columns, job.arrival.sent) for job in jobs]
        columns = {name: [each for own, _ in read for each in own[name]] for name in bundle.reads}
        people = sum(job.arrival.people for job in jobs)
        scored = jobs[0].context.run(self._score, monitor, columns, people)
        batches, start = list[Batch](), 0
        for job, (own, sent) in zip(jobs, read, strict=True):
            come, end = job.arrival, start + job.arrival.people
            more: dict[str, Any] = {"sha256": job.sha256, "key": job.key, "source": job.kind, "columns": own}
            more |= {"ids": come.ids, "stated": come.at}
            batches.append(Batch.of(monitor.id, bundle, scored.part(start, end), sent, **more))
            start = end
        return batches

    def _score(self, monitor: StoredMonitor, columns: Mapping[str, Sequence[Any]], people: int) -> Scored:
        with span("monitor.score", people=people):
            return self._scorer.score(monitor.id, monitor.bundle, columns, people)

    def _store_batches(self, batches: Sequence[Batch]) -> list[Stored | InputError]:
        with self._storing, span("monitor.store", batches=len(batches)):
            found = self.monitors.store(batches)
        if any(isinstance(outcome, Stored) and outcome.alarms for outcome in found):
            self._raised.set()
        return found

    def learn(self, monitor: StoredMonitor, outcomes: Mapping[str, bool]) -> Known:
        """Note outcomes by the sender's ids; what is returned is on disk."""
        known = self.monitors.learn(monitor.id, outcomes)
        if known.alarms:
            self._raised.set()
        return known

    def remove(self, identity: str) -> None:
        """Remove a monitor with all that it measured, and the files that were dropped for it.

        Raises
        ------
        RunFailed
            If the database cannot be used.
        """
        self.monitors.delete(identity)
        READERS().forget(f"monitor {identity}")
        shutil.rmtree(home() / "monitors" / identity, ignore_errors=True)

    def take(self, monitor: StoredMonitor, path: Path) -> FileOutcome:
        """Measure and store the people in a file, and wait until they are on disk.

        Raises
        ------
        InputError
            If the file or any row of it is wrong: nothing was stored.
        RunFailed
            If the database cannot be used, or the process that measures ended. What was stored of the file
            by then is not counted again when it is given again.
        """
        people = before = flagged = alarms = 0
        for batch in file_batches(monitor, path, self._scorer, READERS().file):
            [stored] = self._store_batches([batch])
            if isinstance(stored, InputError):
                raise stored
            flags = batch.scored.flagged
            if stored.replayed:
                before += len(flags)
            else:
                people += len(flags)
                flagged += int(flags.sum())
                alarms += len(stored.alarms)
        return FileOutcome(people, flagged, alarms, before)

    def _deliver(self) -> None:
        """Tell of alarms: at once where one was raised here, else every few seconds."""
        while not self._stop.is_set():
            begun = 0
            with _logged("Alarms could not be delivered"):
                begun = self._delivery.begin(self.monitors)
            self._raised.wait(0.2 if begun else self._tick_seconds)
            self._raised.clear()

    def _tend(self) -> None:
        """Take files dropped, and remove what is past retention: the life of the tending thread."""
        pruned = -math.inf
        while True:
            with _logged("Monitors could not be maintained"):
                late = time.monotonic() - pruned > self._prune_seconds
                prune = late and self._clock.believed(home() / "status" / "pruned")
                for identity in self.monitors.identities():
                    with _logged(f"The monitor {identity} could not be maintained"):  # the others do not wait
                        self._tend_one(identity, prune)
                if late:
                    pruned = time.monotonic()
            if self._stop.wait(self._tick_seconds):
                return

    def _tend_one(self, identity: str, prune: bool) -> None:
        root = home() / "monitors"
        folder = inbox(root, identity)
        if folder.is_dir():
            take_files(folder, partial(self.take, self.monitors.get(identity)))
        if prune:
            self.monitors.prune(identity)
        if identity not in self._read and len(self._read) < _MAX_READ:
            bundle = self.monitors.get(identity).bundle
            if self.monitors.catch_up(bundle, identity):  # nobody who opens the page shall wait for it
                self._read.add(identity)


@contextmanager
def _logged(what: str) -> Iterator[None]:
    """Have a thread live on whatever fails, and the log say that."""
    try:
        yield
    except RunFailed as error:  # the database is away
        _log.warning("%s: %s", what, error)
    except Exception:  # noqa: BLE001
        _log.exception("%s", what)


def _end(job: _Job, outcome: tuple[Batch, Stored] | Exception) -> None:
    """Tell whoever waits for a job."""
    with suppress(InvalidStateError):  # whoever asked has gone
        if isinstance(outcome, Exception):
            job.done.set_exception(outcome)
        else:
            job.done.set_result(outcome)


def _answer_of(monitor: StoredMonitor, batch: Batch, stored: Stored) -> dict[str, Any]:
    scored = batch.scored
    rows = scored.described()
    for place, identity in enumerate(batch.ids):
        rows[place]["id"] = identity
    return {
        "batch": stored.place,
        "people": len(rows),
        "counted": stored.counted,
        "flagged": int(scored.flagged.sum()),
        "threshold": monitor.bundle.threshold,
        "replayed": stored.replayed,
        "alarms": list(stored.alarms),
        "notes": [*_clock_notes(batch.stated), *(batch.look.notes if batch.look else ())],
        "rows": rows,
    }


INGEST = Ingest()
"""The server's one, started and ended with it."""


def drop_folder(monitor: StoredMonitor) -> Path:
    """Return the folder whose files a monitor takes, made if absent."""
    folder = inbox(home() / "monitors", monitor.id)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _clock_notes(at: str) -> list[str]:
    """Say when the sender's clock is far from ours; ours counts."""
    if not at:
        return []
    apart = datetime.fromisoformat(at).timestamp() - time.time()
    if abs(apart) <= _SKEW_SECONDS:
        return []
    way = "ahead of" if apart > 0 else "behind"
    return [
        f"The stated time is {abs(apart):,.0f} seconds {way} the server's clock; the server's time is used."
    ]
