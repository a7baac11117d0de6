"""Executors: where a run is carried out. All take the same spec and give the same numbers.

`InlineExecutor` computes in the calling thread (notebooks, tests); `ProcessExecutor` in warm worker
processes, one run each at a time, the rest waiting in line.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audits.errors import InputError, RunFailed
from audits.runs.handle import Run, RunError
from audits.runs.inline import InlineExecutor
from audits.runs.process import WorkerProcess
from audits.runs.store import RunStore, home
from audits.runs.threads import thread_count

if TYPE_CHECKING:
    from audits.runs.result import RunResult
    from audits.runs.spec import Spec

__all__ = ["InlineExecutor", "ProcessExecutor"]

GRACE_SECONDS = 1.0
"""How long a cancelled run may take to stop before its worker is killed."""

_REMEMBERED_RUNS = 500
_LOOK_SECONDS = 1.0


class _Job:
    """A run with what a worker needs to carry it out."""

    def __init__(self, run: Run, spec: Spec, digests: list[str], store: RunStore) -> None:
        self.run, self.spec = run, spec
        self.partial, self.folder = store.partial(run.key, run.id), store.folder(run.key)
        self.message = {
            "run": run.id,
            "spec": spec.to_dict(),
            "base_dir": str(spec.base_dir),
            "digests": digests,
            "partial": str(self.partial),
            "folder": str(self.folder),
        }

    def read(self) -> RunResult:
        """Read the finished run, under the paths that its owner wrote."""
        from audits.runs.result import RunResult

        return RunResult.load(self.folder).with_spec(self.spec)


class ProcessExecutor:
    """Carries out runs in warm worker processes; safe to share between threads.

    Results lie in a home folder; a run whose key is there already is done at once.

    Parameters
    ----------
    workers : int, optional
        Worker processes, at least 1; by default one, or two where there are four cores.
    base : Path, optional
        Home folder; by default ``EVENHAND_HOME``.
    plugin : str, optional
        ``module:function`` that each worker calls first, to register audits of one's own.
    warm : bool
        Whether workers load at once what any run may need, so that the first answers sooner; for a single
        run it is quicker to load only what that one needs.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        base: Path | None = None,
        plugin: str | None = None,
        warm: bool = True,
    ) -> None:
        if workers is not None and workers < 1:
            raise InputError("workers", "must be at least 1", workers)
        thread_count()  # a wrong setting is the caller's to hear of, not a supervising thread's
        self._store = RunStore(base or home())
        self._plugin, self._loaded = plugin, warm
        self._lock = threading.Condition()
        self._queue: deque[_Job] = deque()
        self._active: dict[tuple[str, str | None], Run] = {}
        self._remembered: OrderedDict[str, Run] = OrderedDict()
        self._workers: set[WorkerProcess] = set()
        self._warm: set[WorkerProcess] = set()
        self._current: dict[WorkerProcess, Run] = {}
        self._why_not = ""
        self._closing = False
        count = workers or (2 if (os.cpu_count() or 1) >= 4 else 1)
        self._threads = [
            threading.Thread(target=self._serve, name=f"evenhand-worker-{place}", daemon=True)
            for place in range(count)
        ]
        for thread in self._threads:
            thread.start()
        _open_executors.add(self)

    def __enter__(self) -> ProcessExecutor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def submit(self, spec: Mapping[str, Any], base_dir: Path, owner: str | None = None) -> Run:
        """Queue a run of `spec`, whose paths are relative to `base_dir`.

        A run with the same key that is already finished is returned as done; one of the same `owner`
        that is still going is shared. A wrong spec gives a failed run, not an exception.
        """
        from audits.runs.spec import parse_spec  # late: the workers load their libraries meanwhile

        run = Run("", owner)
        try:
            parsed = parse_spec(spec, base_dir)
            digests = parsed.digests()
            run.key = parsed.key(digests)
        except Exception as error:  # noqa: BLE001  (told to the user, as by a worker)
            run.fail(RunError.of(error))
            return self._remember(run)
        job = _Job(run, parsed, digests, self._store)
        finished = self._finished(job)
        with self._lock:
            if self._closing:
                raise RunFailed("The executor is closed.")
            going = self._active.get((run.key, owner))
            if going is not None and not going.finished and not going.cancel_requested:
                return going
            if finished:
                run.finish(job.read)
            else:
                run.on_cancel(lambda: self._cancel_queued(job))
                self._active[run.key, owner] = run
                self._queue.append(job)
                self._lock.notify_all()
            return self._remember(run)

    def run(self, identity: str) -> Run | None:
        """Return a run of this executor by its id; None if it is unknown or long past."""
        return self._remembered.get(identity)

    def wait_warm(self, timeout: float | None = None) -> bool:
        """Wait until every worker has loaded its libraries; tell whether they have."""
        with self._lock:
            return self._lock.wait_for(
                lambda: self._closing or len(self._warm) == len(self._threads), timeout
            )

    def pids(self) -> list[int]:
        """Return the process ids of the workers."""
        with self._lock:
            return [worker.pid for worker in self._workers]

    def close(self) -> None:
        """Cancel what is queued or running, end the workers, and wait until they are gone."""
        with self._lock:
            self._closing = True
            for job in self._queue:
                job.run.end_cancelled()
            self._queue.clear()
            going = [run for run in self._active.values() if not run.finished]
            workers = list(self._workers)
            self._lock.notify_all()
        for run in going:
            run.cancel_requested = True
        for worker in workers:
            worker.kill()
        for thread in self._threads:
            thread.join()
        _open_executors.discard(self)

    def _finished(self, job: _Job) -> bool:
        """Tell whether the run's result is there and whole; a damaged one is removed."""
        if not self._store.finished(job.run.key):
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

    def _cancel_queued(self, job: _Job) -> None:
        with self._lock:
            if job in self._queue:
                self._queue.remove(job)
                job.run.end_cancelled()

    def _serve(self) -> None:
        """Keep one worker alive and give it one run after another: the life of a supervising thread."""
        worker = self._start()
        while not self._closing:
            job = self._next()
            if worker is not None and not worker.alive():
                self._retire(worker)
                worker = self._start()
            elif worker is None and job is not None:
                worker = self._start()
            if job is not None and not self._carry_out(worker, job):
                self._retire(worker)
                worker = self._start()
        self._retire(worker)

    def _next(self) -> _Job | None:
        """Return the run that waited longest; None after a second without one, or when closing."""
        with self._lock:
            self._active = {name: run for name, run in self._active.items() if not run.finished}
            self._lock.wait_for(lambda: self._closing or self._queue, _LOOK_SECONDS)
            return self._queue.popleft() if self._queue else None

    def _start(self) -> WorkerProcess | None:
        """Start a worker and wait until it is warm; None if closing, or if it does not come up."""
        try:
            with self._lock:
                if self._closing:
                    return None
                worker = WorkerProcess(self._plugin, warm=self._loaded)
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

    def _carry_out(self, worker: WorkerProcess | None, job: _Job) -> bool:
        """See one run to its end; tell whether the worker can take another."""
        run = job.run
        if not run.begin():
            run.end_cancelled()
            return True
        if worker is None:
            run.fail(RunError("failed", "No worker process could be started.", self._why_not))
            return True
        with self._lock:
            self._current[worker] = run
        run.on_cancel(lambda: self._cancel_running(worker, run))
        if run.cancel_requested:  # asked for before the line above
            self._cancel_running(worker, run)
        worker.forget_words()
        worker.send(job.message)  # a worker that is gone says so below
        for message in worker.messages():
            if message["event"] == "progress":
                run.report(message["fraction"], message["doing"], message.get("curve", ()))
                continue
            with self._lock:
                del self._current[worker]
            self._settle(worker, job, message)
            return True
        self._mourn(worker, job)
        return False

    def _settle(self, worker: WorkerProcess, job: _Job, message: dict[str, Any]) -> None:
        """Take note of what a worker says about the end of a run."""
        if message["event"] == "done":
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

    def _mourn(self, worker: WorkerProcess, job: _Job) -> None:
        """Take note of a worker that ended in the middle of a run."""
        with self._lock:
            del self._current[worker]
        worker.close()
        self._store.discard(job.partial)
        if job.run.cancel_requested or self._closing:
            job.run.end_cancelled()
            return
        doing = job.run.progress.doing
        sentence = (
            f"The worker process broke off while busy with {doing!r}: {worker.ending()}; "
            "the next run gets a new one."
        )
        job.run.fail(RunError("failed", sentence, worker.last_words()))

    def _cancel_running(self, worker: WorkerProcess, run: Run) -> None:
        def insist() -> None:
            with self._lock:
                if self._current.get(worker) is run:
                    worker.kill()

        worker.send({"cancel": run.id})
        timer = threading.Timer(GRACE_SECONDS, insist)
        timer.daemon = True
        timer.start()


_open_executors: weakref.WeakSet[ProcessExecutor] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for executor in list(_open_executors):
        executor.close()
