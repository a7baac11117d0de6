"""Whose run is next: what runs may take, the runs that wait, and how turns go round among their owners."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from audits.checks import number_from
from audits.runs.digests import known_files
from audits.runs.executors.job import Run
from audits.runs.executors.sandbox import machine_memory
from audits.runs.storage.store import RunStore

if TYPE_CHECKING:
    from audits.runs.result import RunResult
    from audits.runs.spec import Spec

_REMEMBERED_OWNERS = 500
_SHARE = 0.6  # of the machine's memory, for runs


@dataclass(frozen=True)
class RunLimits:
    """What the runs of a server may take; None: no limit.

    Attributes
    ----------
    memory : int or None
        Bytes that one run may write to.
    seconds : float or None
        Wall time of one run, once it has begun.
    at_once : int or None
        Runs of one owner that go on at the same time.
    waiting : int or None
        Runs of one owner that wait.
    together : int or None
        Runs of all that go on at the same time, by the memory that each may take.
    """

    memory: int | None = None
    seconds: float | None = None
    at_once: int | None = None
    waiting: int | None = None
    together: int | None = None

    @classmethod
    def of_server(cls, workers: int) -> RunLimits:
        """Return what the environment says, or what suits a department on this machine."""
        machine = _SHARE * machine_memory() / 1e6
        share = machine / workers
        memory = number_from("EVENHAND_RUN_MEMORY_MB", min(8000.0, max(1000.0, share)), least=500, most=1e7)
        return cls(
            int(1e6 * memory),
            number_from("EVENHAND_RUN_SECONDS", 3600, least=1, most=1e7),
            int(number_from("EVENHAND_RUNS_AT_ONCE", max(1, workers // 2), least=1, most=1000)),
            int(number_from("EVENHAND_RUNS_WAITING", 20, least=1, most=100_000)),
            max(1, int(machine / memory)),
        )


def worker_count() -> int:
    """Return how many runs a server carries out at once: ``EVENHAND_WORKERS``, or by cores and memory.

    One core is left to the pages, but two runs go on even on a small machine, so that a long one of one
    owner does not keep the others waiting; 1.5 GB of memory are kept for each.
    """
    by_memory = int(_SHARE * machine_memory() / 1.5e9)
    usual = max(1, min(max(2, (os.cpu_count() or 1) - 1), by_memory, 16))
    return int(number_from("EVENHAND_WORKERS", usual, least=1, most=256))


class RunRequest:
    """A run with what a worker needs to carry it out."""

    def __init__(
        self,
        run: Run,
        spec: Spec,
        digests: list[str],
        store: RunStore,
        ask: Mapping[str, Any] | None = None,
    ) -> None:
        self.run, self.spec = run, spec
        self.network = spec.asks_a_service
        self.partial, self.folder = store.partial(run.key, run.id), store.folder(run.key, run.owner)
        self.message = {
            "run": run.id,
            "spec": spec.to_dict(),
            "base_dir": str(spec.base_dir),
            "digests": digests,
            "known": known_files([path for _, _, path in spec.paths()]),
            "partial": str(self.partial),
            "folder": str(self.folder),
            "ask": ask,
        }

    def read(self) -> RunResult:
        """Read the finished run, under the paths that its owner wrote."""
        from audits.runs.result import RunResult

        return RunResult.load(self.folder).with_spec(self.spec)


class RunQueue:
    """Runs that wait, and those that have begun; whoever uses it lets one thread in at a time.

    Parameters
    ----------
    limits : RunLimits
        How many of one owner may wait, and go on at once.
    """

    def __init__(self, limits: RunLimits) -> None:
        self._limits = limits
        self._queue: deque[RunRequest] = deque()
        self._begun: list[RunRequest] = []  # the worker of one may only be starting
        self._served: dict[str | None, float] = {}

    @property
    def runs(self) -> list[Run]:
        """Those that go on, then those that wait."""
        return [job.run for job in (*self._begun, *self._queue)]

    def too_many(self, owner: str | None) -> str:
        """Say why an owner can have no more runs wait; empty if he can."""
        most = self._limits.waiting
        if owner is None or most is None:
            return ""
        waiting = sum(job.run.owner == owner for job in self._queue)
        if waiting < most:
            return ""
        return (
            f"{waiting:,} of your runs are already waiting, the most allowed. Cancel one, or start this "
            "one later."
        )

    def add(self, job: RunRequest) -> None:
        """Have a run wait."""
        self._queue.append(job)

    def drop(self, job: RunRequest) -> bool:
        """Have a run wait no longer; tell whether it did."""
        waits = job in self._queue
        if waits:
            self._queue.remove(job)
        return waits

    def clear(self) -> list[RunRequest]:
        """Have none wait any longer, and return those that did."""
        waited = list(self._queue)
        self._queue.clear()
        return waited

    def first(self) -> RunRequest | None:
        """Return the waiting run whose owner has the fewest going on, then was served longest ago.

        None where none waits, or those that go on may take all the memory there is for runs.
        """
        if self._limits.together is not None and len(self._begun) >= self._limits.together:
            return None
        going = Counter(job.run.owner for job in self._begun)
        most = self._limits.at_once
        free = [
            job for job in self._queue if job.run.owner is None or most is None or going[job.run.owner] < most
        ]
        return min(
            free,
            key=lambda job: (going[job.run.owner], self._served.get(job.run.owner, 0.0)),
            default=None,
        )

    def begin(self, job: RunRequest) -> None:
        """Let a waiting run go on."""
        self._queue.remove(job)
        self._begun.append(job)
        self._served[job.run.owner] = time.monotonic()
        if len(self._served) > _REMEMBERED_OWNERS:
            self._served.pop(min(self._served, key=self._served.__getitem__))

    def end(self, job: RunRequest) -> None:
        """Note that a run goes on no more."""
        self._begun.remove(job)
