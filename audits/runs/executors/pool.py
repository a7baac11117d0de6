"""Executors: where a run is carried out. All take the same spec and give the same numbers.

`InlineExecutor` computes in the calling thread (notebooks, tests); `ProcessExecutor` in warm worker
processes, one run each at a time, the rest waiting in line.
"""

from __future__ import annotations

import atexit
import importlib
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from audits.errors import InputError, RunFailed
from audits.runs.digests import digest_of
from audits.runs.executors.inline import InlineExecutor
from audits.runs.executors.job import Run, RunError
from audits.runs.executors.queue import RunLimits, RunQueue, RunRequest, worker_count
from audits.runs.executors.system import start_timer
from audits.runs.executors.worker_process import WorkerProcess, can_fork
from audits.runs.storage.store import RunStore, home

__all__ = ["InlineExecutor", "ProcessExecutor"]

GRACE_SECONDS = 1.0
"""How long a cancelled run may take to stop before its worker is killed."""

_REMEMBERED_RUNS = 500
_LOOK_SECONDS = 1.0
_IDLE_SECONDS = 600.0  # after which a worker that was started when needed ends


class ProcessExecutor:
    """Carries out runs in warm worker processes; safe to share between threads.

    Results lie in a home folder; a run whose key exists already is done at once.

    Parameters
    ----------
    workers : int, optional
        Worker processes, at least 1, all started now; by default one is, and others when they are needed,
        as many as `worker_count` says.
    base : Path, optional
        Home folder; by default ``EVENHAND_HOME``.
    plugin : str, optional
        ``module:function`` that each worker calls first, to register audits of your own.
    limits : RunLimits, optional
        What runs may take; by default there are no limits.
    warm : bool
        Whether workers load at once what any run may need, so that the first answers sooner; for a single
        run it is quicker to load only what that one needs, and the first worker may be a copy of this
        process.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        base: Path | None = None,
        plugin: str | None = None,
        limits: RunLimits | None = None,
        warm: bool = True,
    ) -> None:
        if workers is not None and workers < 1:
            raise InputError("workers", "must be at least 1", workers)
        self._store = RunStore(base or home())
        self._plugin, self._loaded = plugin, warm
        self.limits = limits or RunLimits()
        self._idle_warm = 0
        self._lock = threading.Condition()
        self._line = RunQueue(self.limits)
        self._remembered: OrderedDict[str, Run] = OrderedDict()
        self._workers: set[WorkerProcess] = set()
        self._warm: set[WorkerProcess] = set()
        self._why_not = ""
        self._closing = False
        self._warm_from_start = workers or 1
        self._copy = None if warm else self._fork_first()
        self._threads = [
            threading.Thread(target=self._serve, args=(place,), name=f"evenhand-worker-{place}", daemon=True)
            for place in range(workers or worker_count())
        ]
        for thread in self._threads:
            thread.start()
        _open_executors.add(self)

    def __enter__(self) -> ProcessExecutor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def submit(
        self,
        spec: Mapping[str, Any],
        base_dir: Path,
        owner: str | None = None,
        *,
        ask: Mapping[str, Any] | None = None,
    ) -> Run:
        """Queue a run of `spec`, whose paths are relative to `base_dir`.

        A run with the same key that is already finished is returned as done; one of the same `owner`
        that is still going is shared. A wrong spec gives a failed run, not an exception.

        With `ask` the audits are not run, but something is asked, `Run.answer` says what was answered, and
        nothing is kept of it: by default `audits.models.what_if.what_if` of the subject, with what else is in
        `ask` as its arguments; ``of``, ``module:function``, names another function of the subject, ``about``
        one of the spec.
        """
        run = Run("", owner)
        with run.failing():
            parsed, digests = run.check(spec, base_dir)
            if ask is not None:
                run.key = digest_of([run.key, "ask", dict(ask)])
        if run.finished:
            return self._remember(run)
        job = RunRequest(run, parsed, digests, self._store, ask)
        finished = ask is None and self._has_result(job)
        with self._lock:
            if self._closing:
                raise RunFailed("The executor is closed.")
            for going in self._line.runs:
                if (going.key, going.owner) == (run.key, owner) and not (
                    going.finished or going.cancel_requested
                ):
                    return going
            if finished:
                run.finish(job.read)
            elif why := self._line.too_many(owner):
                run.fail(RunError("failed", why))
            else:
                run.on_cancel(lambda: self._cancel_queued(job))
                self._line.add(job)
                self._lock.notify_all()
            return self._remember(run)

    def run(self, identity: str) -> Run | None:
        """Return a run of this executor by its id; None if it is unknown or long past."""
        return self._remembered.get(identity)

    def wait_warm(self, timeout: float | None = None) -> bool:
        """Wait until the workers started first have loaded their libraries; tell whether they have."""
        with self._lock:
            return self._lock.wait_for(
                lambda: self._closing or len(self._warm) >= self._warm_from_start, timeout
            )

    def forget(self, owner: str, key: str | None = None) -> None:
        """End the runs of `owner` (or the one under `key`), and remove what they found."""
        for run in self.going_on(owner):
            if key is None or run.key == key:
                run.cancel()
                run.wait(2 * GRACE_SECONDS + 5)
        self._store.forget(owner, key)
        with self._lock:
            for name in [name for name, run in self._remembered.items() if run.owner == owner]:
                if key is None or self._remembered[name].key == key:
                    del self._remembered[name]

    def going_on(self, owner: str | None = None) -> list[Run]:
        """Return the runs that wait or go on, of all owners or of one."""
        with self._lock:
            found = self._line.runs
        return [run for run in found if owner is None or run.owner == owner]

    def pids(self) -> list[int]:
        """Return the process ids of the workers."""
        with self._lock:
            return [worker.pid for worker in self._workers]

    def close(self) -> None:
        """Cancel what is queued or running, end the workers, and wait until they are gone."""
        with self._lock:
            self._closing = True
            for job in self._line.clear():
                job.run.end_cancelled()
            going = self._line.runs
            workers = list(self._workers)
            self._lock.notify_all()
        for run in going:
            run.cancel_requested = True
        for worker in workers:
            worker.kill()
        for thread in self._threads:
            thread.join()
        if self._copy is not None:
            self._copy.close()
        _open_executors.discard(self)

    def _has_result(self, job: RunRequest) -> bool:
        """Tell whether the run's result is there and whole; a damaged one is removed."""
        if not self._store.finished(job.run.key, job.run.owner):
            return False
        try:
            job.read()
        except RunFailed:
            self._store.discard(job.folder)
            return False
        return True

    def _remember(self, run: Run) -> Run:
        with self._lock:
            self._remembered[run.id] = run
            over = [name for name, old in self._remembered.items() if old.finished]
            for identity in over[:-_REMEMBERED_RUNS]:
                del self._remembered[identity]
        return run

    def _cancel_queued(self, job: RunRequest) -> None:
        with self._lock:
            if self._line.drop(job):
                job.run.end_cancelled()

    def _serve(self, place: int) -> None:
        """Keep one worker alive and give it one run after another: the life of a supervising thread."""
        always = place < self._warm_from_start
        worker = self._start() if always else None
        worked = time.monotonic()
        while not self._closing:
            job = self._next(worker is not None and worker.alive())
            if worker is not None and not worker.alive():
                self._retire(worker)
                worker = self._start() if always else None
            if job is not None:
                if worker is not None and worker.network != job.network:
                    self._retire(worker)
                    worker = None
                if worker is None:
                    worker = self._start(job.network)
                if not self._carry_out(worker, job):
                    self._retire(worker)
                    worker = self._start() if always else None
                worked = time.monotonic()
            elif worker is not None and not always and time.monotonic() - worked > _IDLE_SECONDS:
                self._retire(worker)
                worker = None
        self._retire(worker)

    def _next(self, warm: bool) -> RunRequest | None:
        """Return the run whose turn it is; None after a second without one, or when closing.

        Where a `warm` worker has nothing to do, none is started in its place.
        """

        def ready() -> bool:
            return self._closing or (self._line.first() is not None and (warm or not self._idle_warm))

        with self._lock:
            self._idle_warm += warm
            try:
                found = self._lock.wait_for(ready, _LOOK_SECONDS)
            finally:
                self._idle_warm -= warm
            job = self._line.first() if found and not self._closing else None
            if job is not None:
                self._line.begin(job)
                self._lock.notify_all()
            return job

    def _fork_first(self) -> WorkerProcess | None:
        """Start the first worker as a copy of this process, if it can be one.

        Libraries are then loaded once, here, where the result is read and drawn with them.
        """
        importlib.import_module("audits.runs.execute")
        if not can_fork() or self.limits.memory is not None:
            return None
        try:
            return WorkerProcess(self._plugin, warm=False, forked=True)
        except OSError:
            return None  # one is started, or why not is told, when a run asks for it

    def _start(self, network: bool = False) -> WorkerProcess | None:
        """Start a worker and wait until it is warm; None if closing, or if it does not come up."""
        try:
            with self._lock:
                if self._closing:
                    return None
                worker, self._copy = self._copy, None
                worker = worker or WorkerProcess(
                    self._plugin, memory=self.limits.memory, network=network, warm=self._loaded
                )
                self._workers.add(worker)
        except OSError as error:
            self._why_not = str(error)
            return None
        for message in worker.messages():
            if message["event"] == "ready":
                with self._lock:
                    self._warm.add(worker)
                    self._lock.notify_all()
                return worker
        self._retire(worker)
        self._why_not = f"{worker.ending()}\n{worker.last_words()}"
        return None

    def _retire(self, worker: WorkerProcess | None) -> None:
        """End a worker for certain."""
        if worker is not None:
            worker.close()
            with self._lock:
                self._workers.discard(worker)
                self._warm.discard(worker)

    def _carry_out(self, worker: WorkerProcess | None, job: RunRequest) -> bool:
        """See one run to its end; tell whether the worker may take another."""
        try:
            return self._carried_out(worker, job)
        finally:
            with self._lock:
                self._line.end(job)
                self._lock.notify_all()  # its owner may have another one begin

    def _carried_out(self, worker: WorkerProcess | None, job: RunRequest) -> bool:
        run = job.run
        if not run.begin():
            run.end_cancelled()
            return True
        if worker is None:
            run.fail(RunError("failed", "No worker process could be started.", self._why_not))
            return True
        run.on_cancel(lambda: self._cancel_running(worker, run))
        if run.cancel_requested:  # asked for before the line above
            self._cancel_running(worker, run)
        worker.forget_words()
        clock = self._clock(worker)
        worker.send({**job.message, "seconds": self.limits.seconds})  # a worker that is gone says so below
        try:
            for message in worker.messages():
                if message["event"] != "progress":
                    self._settle(worker, job, message)
                    return not message.get("full")
                run.report(message["fraction"], message["doing"], message.get("curve", ()))
        finally:
            if clock is not None:
                clock.cancel()
        self._mourn(worker, job)
        return False

    def _clock(self, worker: WorkerProcess) -> threading.Timer | None:
        """Have a run that takes too long ended, if there is a limit."""
        seconds = self.limits.seconds
        if seconds is None:
            return None
        why = f"a run may take at most {seconds:,.0f} seconds on this server"
        return start_timer(seconds, worker.kill, why)

    def _settle(self, worker: WorkerProcess, job: RunRequest, message: dict[str, Any]) -> None:
        """Take note of what a worker says about the end of a run."""
        if message["event"] == "done":
            job.run.answer = message.get("answer")
            job.run.finish(job.read)
            return
        self._store.discard(job.partial)
        if message["event"] == "cancelled":
            job.run.end_cancelled()
        else:
            error = RunError(**message["error"])
            if error.kind == "failed":
                error = replace(error, details=f"{error.details}\n{worker.last_words()}".strip())
            job.run.fail(error)

    def _mourn(self, worker: WorkerProcess, job: RunRequest) -> None:
        """Take note of a worker that ended in the middle of a run."""
        worker.close()
        self._store.discard(job.partial)
        if job.run.cancel_requested or self._closing:
            job.run.end_cancelled()
            return
        doing = job.run.progress.doing
        sentence = (
            f"The worker process stopped during {doing!r}: {worker.ending()}; the next run gets a new one."
        )
        job.run.fail(RunError("failed", sentence, worker.last_words()))

    def _cancel_running(self, worker: WorkerProcess, run: Run) -> None:
        def insist() -> None:
            if not run.finished:
                worker.kill()

        worker.send({"cancel": run.id})
        start_timer(GRACE_SECONDS, insist)


_open_executors: weakref.WeakSet[ProcessExecutor] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for executor in list(_open_executors):
        executor.close()
