"""Predictions coming in: checked, measured, and stored before they are answered.

One thread writes. It takes all batches that wait and stores them in one transaction, so that many small
requests share one write to disk; a request is answered only when its transaction is on disk. Requests that
come together are all measured before the thread is given any of them.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import math
import queue
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from app.serving.tracing import span
from app.serving.webhooks import Teller, webhook_hosts
from app.tables.readers import READERS
from audits.errors import InputError, RunFailed
from audits.runs.monitoring.arrivals import Arrival, file_batches, read_json
from audits.runs.monitoring.inboxes import inbox, take_files
from audits.runs.monitoring.monitors import Batch, KeptMonitor, Known, Monitors, Stored
from audits.runs.monitoring.scoring import Scorer
from audits.runs.monitoring.written import as_audited
from audits.runs.storage.database import database, is_unreachable
from audits.runs.storage.store import home
from audits.sensitivity.monitor.models import Carried

__all__ = ["INGEST", "Answer", "Busy", "Ingest", "Taken", "drop_folder", "webhook_hosts"]

_SMALL = 16_384  # bytes measured on the spot; larger bodies would hold up the pages
_MOST_WAITING = 200
_MOST_TOGETHER = 64
_TOGETHER_SECONDS = 0.005
_IDLE_TURNS = 3  # of the loop in which no batch came: a request that is there takes two to be measured
_FRESH_SECONDS = 5.0
_FILE_SECONDS = 300.0
_SKEW_SECONDS = 300.0
_TOP = 3
_REMEMBERED = 100
_MOST_READ = 20  # monitors whose history is read before anybody asks
_log = logging.getLogger("evenhand")


_Awaited = Future[Stored] | asyncio.Future[Stored]
_Job = tuple[Batch, _Awaited]
_Queue = queue.SimpleQueue[list[_Job] | None]


class Busy(RuntimeError):
    """More batches wait than are worth keeping waiting."""


@dataclass(frozen=True)
class Answer:
    """What a stored batch is answered with, JSON text."""

    text: str


@dataclass(frozen=True)
class Taken:
    """What came of a file: people stored, flags and alarms among them, and people stored `before`."""

    people: int
    flagged: int
    alarms: int
    before: int


class _Gathering:
    """Batches measured in a loop, kept until nothing is at hand in it that may bring another one.

    To store several takes little longer than to store one, and while the writing thread stores, it and the
    loop keep each other waiting. But none waits for more than `_TOGETHER_SECONDS`: the disk has time then.
    """

    def __init__(self, into: _Queue) -> None:
        self._into = into
        self._jobs: list[_Job] = []
        self._until = 0.0

    def add(self, job: _Job) -> None:
        """Keep a batch, not for long."""
        loop = asyncio.get_running_loop()
        self._jobs.append(job)
        if len(self._jobs) == 1:
            self._until = loop.time() + _TOGETHER_SECONDS
            loop.call_soon(self._look, self._jobs, 1, 0)
        elif loop.time() > self._until:
            self._hand_over()

    def _look(self, jobs: list[_Job], seen: int, idle: int) -> None:
        if jobs is not self._jobs:  # handed over
            return
        idle = 0 if len(jobs) > seen else idle + 1
        if idle < _IDLE_TURNS:
            asyncio.get_running_loop().call_soon(self._look, jobs, len(jobs), idle)
        else:
            self._hand_over()

    def _hand_over(self) -> None:
        jobs, self._jobs = self._jobs, []
        self._into.put(jobs)


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
        self._queue: _Queue = queue.SimpleQueue()
        self._waiting = 0  # batches of requests, measured and not yet stored
        self._gathering: WeakKeyDictionary[asyncio.AbstractEventLoop, _Gathering] = WeakKeyDictionary()
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="evenhand-measure")
        self._teller = Teller()
        self._raised = threading.Event()
        self._known: dict[str, tuple[float, KeptMonitor]] = {}
        self._scorer = scorer or Scorer()
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
        """Begin to write, and to look after files dropped and retention."""
        for run in (self._write, self._tend, self._tell):
            thread = threading.Thread(target=run, name=f"evenhand{run.__name__}", daemon=True)
            thread.start()
            self._threads.append(thread)

    @property
    def alive(self) -> bool:
        """Whether what is put here is stored, told of and looked after: it was started and goes on."""
        return bool(self._threads) and all(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        """Store what waits, then end."""
        self._stop.set()
        self._raised.set()
        self._queue.put(None)
        for thread in self._threads:
            thread.join(timeout=60)
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._teller.close()
        self._scorer.close()

    async def find(self, identity: str, *, now: bool = False) -> KeptMonitor:
        """Return a monitor, as it was at most five seconds ago, or as it is `now`.

        Raises
        ------
        InputError
            If there is none.
        """
        found = self._known.get(identity)
        if now or found is None or time.monotonic() - found[0] > _FRESH_SECONDS:
            loop = asyncio.get_running_loop()
            fresh = await loop.run_in_executor(self._pool, self._load, identity)
            found = (time.monotonic(), fresh)
            self._known[identity] = found
            while len(self._known) > _REMEMBERED:
                self._known.pop(next(iter(self._known)))
        return found[1]

    def _load(self, identity: str) -> KeptMonitor:
        try:
            fresh = self.monitors.get(identity)
        except InputError:
            self._known.pop(identity, None)
            raise
        before = self._known.get(identity)
        if before is not None and "bundle" in vars(before[1]):  # it never changes, and is ready
            vars(fresh)["bundle"] = before[1].bundle
        else:
            _ = fresh.bundle  # ready now
        return fresh

    async def answer(self, monitor: KeptMonitor, body: bytes, kind: str, key: str | None) -> Answer:
        """Measure and store what a request brought.

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
            raise RunFailed("What stores predictions has not started on this server.")
        if self._waiting > _MOST_WAITING:
            raise Busy
        with span("monitor.batch", monitor=monitor.id, kind=kind, bytes=len(body)) as told:
            at_once = len(body) <= _SMALL and kind == "json"
            if at_once and not isinstance(monitor.bundle.audited, Carried):
                batch, rows, notes = self._prepare(monitor, body, kind, key)
            else:
                loop = asyncio.get_running_loop()
                batch, rows, notes = await loop.run_in_executor(
                    self._pool, copy_context().run, self._prepare, monitor, body, kind, key
                )
            told.set_attribute("people", len(batch.scored.flagged))
            loop = asyncio.get_running_loop()
            future = loop.create_future()
            self._gathering.setdefault(loop, _Gathering(self._queue)).add((batch, future))
            self._waiting += 1
            try:
                stored = await future
            finally:
                self._waiting -= 1
            told.set_attribute("alarms", len(stored.alarms))
        head = {
            "batch": stored.place,
            "people": len(batch.scored.flagged),
            "counted": stored.counted,
            "flagged": int(batch.scored.flagged.sum()),
            "threshold": monitor.bundle.threshold,
            "replayed": stored.replayed,
            "alarms": list(stored.alarms),
            "notes": notes,
        }
        return Answer(f'{json.dumps(head)[:-1]}, "rows": {rows}}}')

    def _prepare(
        self, monitor: KeptMonitor, body: bytes, kind: str, key: str | None
    ) -> tuple[Batch, str, list[str]]:
        """Read and measure; return the batch, its rows as JSON text, and notes for the sender."""
        bundle = monitor.bundle
        if kind == "json" and len(body) <= _SMALL:
            arrival = read_json(body, bundle.reads)
        else:  # a few kilobytes of Arrow, or megabytes of JSON, can unpack to any size
            arrival = READERS().body(monitor.id, body, kind, bundle.reads)
        columns, sent = as_audited(bundle, arrival.columns, arrival.sent)
        with span("monitor.score", people=arrival.people):
            scored = self._scorer.score(monitor.id, bundle, columns, arrival.people)
        digest = hashlib.sha256(body).hexdigest()
        look = bundle.look(scored)
        more: dict[str, Any] = {"look": look, "sent": sent, "columns": columns}
        batch = Batch(monitor.id, scored, digest, key, arrival.ids, arrival.at, kind, **more)
        values, flagged, scores = (
            each.tolist() for each in (scored.sensitivity, scored.flagged, scored.score)
        )
        rows: list[dict[str, Any]] = [
            {"sensitivity": value, "flagged": flag, "score": score, "top": dict(top)}
            for value, flag, score, top in zip(values, flagged, scores, scored.tops(_TOP), strict=True)
        ]
        for place, identity in enumerate(arrival.ids):
            rows[place]["id"] = identity
        for place, names in scored.unseen.items():
            rows[place]["unseen"] = names
        return batch, json.dumps(rows), [*_clock_notes(arrival), *(look.notes if look else ())]

    def _write(self) -> None:
        """Store waiting batches, as many together as there are: the life of the writing thread."""
        part: list[_Job] | None = []
        while part is not None:
            part = self._queue.get()
            jobs = list(part or ())
            while part is not None and len(jobs) < _MOST_TOGETHER and not self._queue.empty():
                part = self._queue.get()
                jobs += part or ()
            if jobs:
                self._store(jobs)

    def _store(self, jobs: Sequence[_Job]) -> None:
        try:
            with span("monitor.store", batches=len(jobs)):
                found = self.monitors.store([batch for batch, _ in jobs])
        except Exception as error:  # noqa: BLE001  (each sender must hear that nothing was stored)
            if len(jobs) > 1 and not is_unreachable(error):  # one batch must not take the others down with it
                for job in jobs:
                    self._store([job])
                return
            _log.error("A batch of predictions could not be stored: %s", error)
            told = (
                error if isinstance(error, RunFailed) else RunFailed("The predictions could not be stored.")
            )
            _tell_all([(future, told) for _, future in jobs])
            return
        _tell_all([(future, outcome) for (_, future), outcome in zip(jobs, found, strict=True)])
        if any(isinstance(outcome, Stored) and outcome.alarms for outcome in found):
            self._raised.set()

    def learn(self, monitor: KeptMonitor, outcomes: Mapping[str, bool]) -> Known:
        """Note outcomes by the sender's ids; what is returned is on disk."""
        known = self.monitors.learn(monitor.id, outcomes)
        if known.alarms:
            self._raised.set()
        return known

    def forget(self, identity: str) -> None:
        """Read a monitor anew when it is asked for next: its tokens or settings changed."""
        found = self._known.get(identity)
        if found is not None:
            self._known[identity] = (-math.inf, found[1])

    def remove(self, identity: str) -> None:
        """Remove a monitor with all that it measured, and the files that were dropped for it.

        Raises
        ------
        RunFailed
            If the database cannot be used.
        """
        self.monitors.delete(identity)
        self._known.pop(identity, None)
        READERS().forget(f"monitor {identity}")
        shutil.rmtree(home() / "monitors" / identity, ignore_errors=True)

    def take(self, monitor: KeptMonitor, path: Path) -> Taken:
        """Measure and store the people in a file, and wait until they are on disk.

        Raises
        ------
        InputError
            If the file or any row of it is wrong: nothing was stored.
        RunFailed
            If the database cannot be used, or the process that measures ended. What was stored of the file
            by then is not counted again when it is given again.
        """
        batches = file_batches(monitor, path, self._scorer, READERS().file)
        waiting = [Future[Stored]() for _ in batches]
        for job in zip(batches, waiting, strict=True):
            self._queue.put([job])
        people = again = flagged = alarms = 0
        for batch, future in zip(batches, waiting, strict=True):
            try:
                stored = future.result(_FILE_SECONDS)
            except TimeoutError:
                raise RunFailed("The database takes too long; give the file again later.") from None
            size = len(batch.scored.flagged)
            if stored.replayed:
                again += size
            else:
                people += size
                flagged += int(batch.scored.flagged.sum())
                alarms += len(stored.alarms)
        return Taken(people, flagged, alarms, again)

    def _tell(self) -> None:
        """Tell of alarms: at once where one was raised here, else every few seconds."""
        while not self._stop.is_set():
            try:
                told = self._teller.deliver(self.monitors)
            except RunFailed as error:  # the database is away
                _log.warning("Alarms could not be told: %s", error)
                told = 0
            except Exception:  # noqa: BLE001  (the thread lives on)
                _log.exception("Alarms could not be told")
                told = 0
            self._raised.wait(0.2 if told else self._tick_seconds)
            self._raised.clear()

    def _tend(self) -> None:
        """Take files dropped, and remove what is past retention: the life of the tending thread."""
        pruned = -math.inf
        while True:
            try:
                prune = time.monotonic() - pruned > self._prune_seconds
                for identity in self.monitors.identities():
                    self._tend_one(identity, prune)
                if prune:
                    pruned = time.monotonic()
            except RunFailed as error:
                _log.warning("Monitors could not be looked after: %s", error)
            except Exception:  # noqa: BLE001  (the thread lives on)
                _log.exception("Monitors could not be looked after")
            if self._stop.wait(self._tick_seconds):
                return

    def _tend_one(self, identity: str, prune: bool) -> None:
        try:
            root = home() / "monitors"
            if inbox(root, identity).is_dir():
                take_files(self.monitors, identity, root, self._scorer, READERS().file)
            if prune:
                self.monitors.prune(identity)
            if identity not in self._read and len(self._read) < _MOST_READ:
                bundle = self.monitors.get(identity).bundle
                if self.monitors.catch_up(bundle, identity):  # nobody who opens the page shall wait for it
                    self._read.add(identity)
        except RunFailed as error:
            _log.warning("The monitor %s could not be looked after: %s", identity, error)
        except Exception:  # noqa: BLE001  (one monitor must not keep the others waiting)
            _log.exception("The monitor %s could not be looked after", identity)


def _tell_all(outcomes: Sequence[tuple[_Awaited, Stored | Exception]]) -> None:
    """Tell who waits how it ended; a loop is woken once for all who wait in it, as waking it takes long."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[_Awaited, Stored | Exception]]] = {}
    for future, outcome in outcomes:
        if isinstance(future, asyncio.Future):
            loops.setdefault(future.get_loop(), []).append((future, outcome))
        else:
            _settle([(future, outcome)])
    for loop, own in loops.items():
        with suppress(RuntimeError):  # closed: nobody waits there any more
            loop.call_soon_threadsafe(_settle, own)


def _settle(outcomes: Sequence[tuple[_Awaited, Stored | Exception]]) -> None:
    for future, outcome in outcomes:
        if future.done():  # whoever asked has gone
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)


INGEST = Ingest()
"""The server's one, started and ended with it."""


def drop_folder(monitor: KeptMonitor) -> Path:
    """Return the folder whose files a monitor takes, made if absent."""
    folder = inbox(home() / "monitors", monitor.id)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _clock_notes(arrival: Arrival) -> list[str]:
    """Say when the sender's clock is far from ours; ours counts."""
    if not arrival.at:
        return []
    apart = datetime.fromisoformat(arrival.at).timestamp() - time.time()
    if abs(apart) <= _SKEW_SECONDS:
        return []
    way = "ahead of" if apart > 0 else "behind"
    return [
        f"The stated time is {abs(apart):,.0f} seconds {way} the server's clock; the server's time counts."
    ]
