"""The processes in which a workspace's tables are read and held, and how they are asked.

Each workspace has one, started when it is first needed, ended when it has not been asked for a while or when
others need the room. Whoever asks does not notice: a fresh process prepares the data again.
"""

from __future__ import annotations

import base64
import functools
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from audits.checks import number_from
from audits.errors import InputError, RunFailed
from audits.monitor.ingestion import ARRIVALS, Arrival
from audits.runs.executors import sandbox
from audits.runs.executors.sandbox_pool import Child, LimitReached, SandboxPool

_LOOKED_AT_SECONDS = 120.0  # after which a table that nobody asked about makes room for others
_HELD_SECONDS = 900.0
_MIN_NEED = 64 << 20
_TIMES_FILE = 6  # about what a table takes while it is read, in sizes of its file
_MAX_ALONE = 16  # processes for one question that may be at work at once
# what reads, prepares or looks through a table; everything else is asked of one that exists already
_HEAVY = frozenset({"table", "data", "examine", "model"})
_LONG_SECONDS = 5.0  # after which a question that is at work keeps nobody else waiting


@dataclass
class _Holder:
    child: Child
    asked: float = field(default_factory=time.monotonic)


class Readers:
    """One process a workspace for its tables, within the memory of all together; safe between threads.

    ``EVENHAND_READ_MEMORY_MB`` (a workspace's process), ``EVENHAND_READ_SECONDS`` (one question) and
    ``EVENHAND_TABLES_MEMORY_MB`` (all processes) say how much they may use.
    """

    def __init__(self) -> None:
        machine = sandbox.machine_memory()
        each = min(3e9, max(7.5e8, machine / 6)) / 1e6
        self.memory = int(1e6 * number_from("EVENHAND_READ_MEMORY_MB", each, least=300, most=1e6))
        self.seconds = number_from("EVENHAND_READ_SECONDS", 60, least=1, most=3600)
        total = max(machine / 3, self.memory) / 1e6
        self._total = int(1e6 * number_from("EVENHAND_TABLES_MEMORY_MB", total, least=300, most=1e7))
        self._pool = SandboxPool("app.tables.server:answer")
        self._lock = threading.Lock()
        self._holders: dict[str, _Holder] = {}
        self._working = _Places(max(2, os.cpu_count() or 1))
        self._alone = threading.BoundedSemaphore(_MAX_ALONE)

    def start(self) -> None:
        """Begin to load what the processes need, before the first of them is asked."""
        self._pool.start()

    def wait_warm(self, seconds: float) -> bool:
        """Wait until that is loaded; tell whether it is."""
        return self._pool.wait_warm(seconds)

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            self._holders.clear()
        self._pool.close()

    def ask(
        self, owner: str, question: Mapping[str, Any], *, reads: Sequence[Path], what: str, size: int = 0
    ) -> dict[str, Any]:
        """Have the process of `owner` answer.

        Parameters
        ----------
        owner : str
            A workspace; nobody else's questions reach its process.
        reads : sequence of Path
            The folders that the process sees.
        what : str
            What an error calls the data.
        size : int
            Bytes of the files.

        Raises
        ------
        InputError
            If that is the answer; if the data take more memory or time than they may; or if there is no room.
        RunFailed
            If no process can be made.
        """
        if question["ask"] not in _HEAVY:
            return self._answer(owner, question, reads, what, size)
        with self._working.place(owner):
            return self._answer(owner, question, reads, what, size)

    def outside(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Have a process of its own answer, which may open sockets.

        Raises
        ------
        InputError
            If that is the answer, or if it takes too long.
        RunFailed
            If the process ended otherwise.
        """
        child = self._pool.child(memory=self.memory, network=True)
        try:
            return child.ask(dict(question), self.seconds)
        except LimitReached as reached:
            if reached.what != "time":
                raise
            late = f"does not answer within {self.seconds:g} seconds"
            raise InputError("model.endpoint", late) from None
        finally:
            child.kill()

    def body(self, monitor: str, body: bytes, kind: str, reads: Sequence[str]) -> Arrival:
        """Read the body of a request to a monitor in a process of that monitor's.

        Raises
        ------
        InputError
            If it is wrong, or takes more memory or time than it may.
        RunFailed
            If no process can be made.
        """
        coded = base64.b64encode(body).decode("ascii")
        question = {"ask": "body", "kind": kind, "body": coded, "reads": list(reads)}
        told = self._answer(f"monitor {monitor}", question, (), "the body", len(body))
        return ARRIVALS.validate_python(told)

    def file(self, path: Path, reads: Sequence[str], numbers: frozenset[str]) -> tuple[Arrival, str]:
        """Read a monitor's file, in a process that sees nothing else; return its people and its digest.

        Raises
        ------
        InputError
            If it is wrong, or takes more memory or time than it may.
        RunFailed
            If no process can be made.
        """
        question = {"ask": "file", "path": str(path), "reads": list(reads), "numbers": sorted(numbers)}
        with self._own_child(str(path), path.stat().st_size, path.name, (path,)) as child:
            told = self._say(child, question, path.name)
        return ARRIVALS.validate_python(told), str(told["digest"])

    def export(
        self, owner: str, question: Mapping[str, Any], reads: Sequence[Path], size: int, into: IO[bytes]
    ) -> None:
        """Write a file part by part, made by a process that sees only `reads`: one of an owner at a time.

        Raises
        ------
        InputError
            If that takes more memory or time than it may.
        RunFailed
            If no process can be made, or a result is damaged.
        """
        what = "the file"
        with self._own_child(f"export {owner}", size, what, reads) as child:
            told = self._say(child, {**question, "ask": "export"}, what)
            while told["part"] is not None:
                into.write(base64.b64decode(told["part"]))
                told = self._say(child, {"ask": "export more"}, what)

    @contextmanager
    def _own_child(self, place: str, size: int, what: str, reads: Sequence[Path]) -> Iterator[Child]:
        """Give a process that is asked about one thing and then ends."""
        with self._alone, self._working.place(place):
            self._make_room(size, what)
            child = self._pool.child(memory=self.memory, reads=reads)
            try:
                yield child
            finally:
                child.kill()

    def forget(self, owner: str) -> None:
        """End the process of `owner`, whose tables are gone."""
        with self._lock:
            holder = self._holders.pop(owner, None)
        if holder is not None:
            holder.child.kill()

    def memory_by_owner(self) -> dict[str, int]:
        """Return the bytes of memory that each process has to itself now."""
        with self._lock:
            holders = dict(self._holders)
        return {owner: self._own(holder.child) for owner, holder in holders.items()}

    def _own(self, child: Child) -> int:
        return max(0, child.memory - self._pool.shared)

    def _answer(
        self, owner: str, question: Mapping[str, Any], reads: Sequence[Path], what: str, size: int
    ) -> dict[str, Any]:
        for last in (False, True):
            child = self._child(owner, reads, what, size)
            try:
                return self._say(child, question, what)
            except _WorkerEnded as gone:  # ended for want of room while nobody asked
                if last:
                    raise InputError(what, f"could not be read: {gone}") from None
        raise AssertionError

    def _say(self, child: Child, question: Mapping[str, Any], what: str) -> dict[str, Any]:
        try:
            return child.ask(dict(question), self.seconds)
        except LimitReached as reached:
            raise InputError(
                what,
                f"takes more {reached.what} than one user's data may ({reached.amount}), so reading was "
                "stopped",
                advice="keep fewer rows or columns, or ask whoever runs the server for more",
            ) from None
        except RunFailed as failed:
            if child.alive:
                raise InputError(what, f"could not be read: {str(failed).rstrip('.')}") from None
            raise _WorkerEnded(str(failed).rstrip(".")) from None

    def _child(self, owner: str, reads: Sequence[Path], what: str, size: int) -> Child:
        with self._lock:
            holder = self._holders.get(owner)
            if holder is not None and holder.child.alive:
                holder.asked = time.monotonic()
                return holder.child
        self._make_room(size, what)
        with self._lock:
            holder = self._holders.get(owner)
            if holder is None or not holder.child.alive:
                child = self._pool.child(memory=self.memory, reads=reads)
                holder = self._holders[owner] = _Holder(child)
            return holder.child

    def _make_room(self, size: int, what: str) -> None:
        """End processes that nobody asks any more; refuse where too many are looked at."""
        need = min(self.memory, max(_MIN_NEED, _TIMES_FILE * size))
        now = time.monotonic()
        with self._lock:
            by_age = sorted(self._holders.items(), key=lambda item: item[1].asked)
            used = {owner: self._own(holder.child) for owner, holder in by_age}
            total = sum(used.values())
            ended = []
            for owner, holder in by_age:
                idle = now - holder.asked
                full = total + need > self._total and idle > _LOOKED_AT_SECONDS
                if not holder.child.busy and (full or idle > _HELD_SECONDS or not holder.child.alive):
                    ended.append(holder.child)
                    total -= used[owner]
                    del self._holders[owner]
        for child in ended:
            child.kill()
        if total + need > self._total:
            raise InputError(
                what,
                f"needs about {need / 1e6:,.0f} MB of memory while it is read, and others use "
                f"{total / 1e6:,.0f} of the {self._total / 1e6:,.0f} MB that the server has for tables",
                advice="try again in a few minutes",
            )


class _Places:
    """How many owners' questions are at work: one of each, and those that take long are not counted."""

    def __init__(self, most: int) -> None:
        self._most, self._since = most, dict[str, float]()
        self._free = threading.Condition()

    @contextmanager
    def place(self, owner: str) -> Iterator[None]:
        with self._free:
            while not self._may_begin(owner):
                self._free.wait(_LONG_SECONDS / 10)  # nobody tells that a question has become long
            self._since[owner] = time.monotonic()
        try:
            yield
        finally:
            with self._free:
                del self._since[owner]
                self._free.notify_all()

    def _may_begin(self, owner: str) -> bool:
        young = time.monotonic() - _LONG_SECONDS
        return owner not in self._since and sum(since > young for since in self._since.values()) < self._most


class _WorkerEnded(RunFailed):
    """A process that ended without an answer."""


READERS = functools.cache(Readers)
"""The server's one `Readers`, made as it starts: its limits come from the environment."""
