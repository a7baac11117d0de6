"""Processes that open strangers' files, made in milliseconds: forks of one that has loaded the libraries.

`SandboxPool` is the server's side; what forks is `audits.runs.executors.fork_server`. A child answers
questions, JSON one a line, with the function that the pool was given; nothing that it says can run here.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audits.errors import InputError, RunFailed
from audits.runs.executors import sandbox
from audits.runs.executors.fork_server import CHUNK, MAX_MESSAGE, OVER_MEMORY
from audits.runs.executors.scratch import scratch
from audits.runs.executors.system import start_timer
from audits.runs.executors.threads import ONE_THREAD

_ROOT = Path(__file__).resolve().parents[3]
_MAX_ANSWER = 512_000_000


class LimitReached(RunFailed):
    """A process used all that it may of something: `what` is memory, processor time or time."""

    def __init__(self, what: str, amount: str) -> None:
        super().__init__(f"It used all the {what} it is allowed, {amount}.")
        self.what, self.amount = what, amount


class Child:
    """A process that answers questions, one at a time; made by `SandboxPool.child`."""

    def __init__(self, pool: SandboxPool, line: socket.socket, memory: int) -> None:
        self.identity = uuid.uuid4().hex
        self.pid = 0
        self._pool, self._line, self._memory = pool, line, memory
        self._answers = line.makefile("rb", CHUNK)
        self._asking = threading.Lock()
        self._over = threading.Event()
        self._ending: dict[str, Any] = {}
        self._why = ""

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return not self._why and not self._over.is_set()

    @property
    def busy(self) -> bool:
        """Whether it is answering."""
        return self._asking.locked()

    @property
    def memory(self) -> int:
        """Bytes of memory that it has to itself now."""
        return sandbox.resident_memory(self.pid) if self.pid and self.alive else 0

    def ask(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer to `question`.

        Raises
        ------
        InputError
            If that is the answer.
        LimitReached
            If answering took more than it may; the process is over then.
        RunFailed
            If it ended otherwise.
        """
        with self._asking:
            if not self.alive:
                raise RunFailed("The process that reads the data has ended.")
            clock = start_timer(seconds, self.kill, "time")
            try:
                line = json.dumps({**question, "seconds": seconds}).encode("ascii") + b"\n"
                self._line.sendall(line)
                answer = self._hear()
            except (OSError, ValueError):
                answer = None
            finally:
                clock.cancel()
            if answer is None:
                raise self._ending_error(seconds)
        if "wrong" in answer:
            where, sentence = answer["wrong"]
            raise InputError(where, sentence[len(where) + 1 :].removesuffix("."))
        if "limit" in answer:
            self.kill("memory")
            raise LimitReached("memory", f"{self._memory / 1e6:,.0f} MB")
        if "failed" in answer:
            raise RunFailed(answer["failed"])
        return answer

    def kill(self, why: str = "ended") -> None:
        """End it at once."""
        self._why = self._why or why
        self._pool.kill(self.identity)

    def ended(self, facts: dict[str, Any]) -> None:
        """Take note of how it ended: for the pool."""
        self._ending = facts
        self._over.set()
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)

    def _hear(self) -> dict[str, Any] | None:
        line = self._answers.readline(_MAX_ANSWER)
        if not line.endswith(b"\n"):
            if len(line) == _MAX_ANSWER:
                self.kill("answer")
            return None
        answer = json.loads(line)
        if not isinstance(answer, dict):
            raise ValueError("no answer")
        return answer

    def _ending_error(self, seconds: float) -> RunFailed:
        if not self._why:  # it may be ending by itself, and its exit status says why
            self._over.wait(5.0)
        if self.alive:
            self.kill()
        self._over.wait(5.0)
        status, why = self._ending.get("status", 0), self._ending.get("why") or self._why
        if self._why == "time":
            return LimitReached("time", f"{seconds:,.0f} seconds")
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            return LimitReached("processor time", f"{seconds:,.0f} seconds")
        if why == "memory" or (os.WIFEXITED(status) and os.WEXITSTATUS(status) == OVER_MEMORY):
            return LimitReached("memory", f"{self._memory / 1e6:,.0f} MB")
        if os.WIFSIGNALED(status) and self._why != "ended":
            name = signal.Signals(os.WTERMSIG(status)).name
            return RunFailed(f"The process that reads the data was ended by {name}.")
        return RunFailed("The process that reads the data has ended.")


class SandboxPool:
    """Makes processes that answer with the same function, ``module:function``.

    The libraries that the function's module imports are loaded once, at the first child.
    """

    def __init__(self, function: str) -> None:
        self._function = function
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None
        self._children: dict[str, Child] = {}
        self._shared, self._folder = 0, ""
        self._warm = threading.Event()

    def child(
        self, *, memory: int, reads: Sequence[Path] = (), writes: Sequence[Path] = (), network: bool = False
    ) -> Child:
        """Start a process of `memory` bytes that sees only the folders and files `reads` and `writes`.

        With `network` it may open sockets, and sees what this process's user does: names and certificates lie
        in many places.

        Raises
        ------
        RunFailed
            If no process can be made, as on systems without ``fork``.
        """
        ours, theirs = socket.socketpair()
        child = Child(self, ours, memory)
        order = {
            "start": child.identity,
            "memory": memory,
            "reads": list(map(str, reads)),
            "writes": list(map(str, writes)),
            "environment": sandbox.service_environment() if network else None,
        }
        with theirs:
            for last in (False, True):
                with self._lock:
                    orders = self._running()
                    self._children[child.identity] = child
                    try:
                        socket.send_fds(orders, [json.dumps(order).encode("ascii")], [theirs.fileno()])
                        return child
                    except OSError as error:
                        self._end()
                        if last:
                            raise RunFailed(f"No process could be made to read the data ({error}).") from None
        raise AssertionError

    def kill(self, identity: str) -> None:
        """Have a child ended."""
        with self._lock, contextlib.suppress(OSError):
            if self._orders is not None:
                self._orders.send(json.dumps({"kill": identity}).encode("ascii"))

    @property
    def shared(self) -> int:
        """Bytes of memory that every child shares with the others until it writes to them."""
        return self._shared

    def start(self) -> None:
        """Load the libraries, so that the first child is quick too."""
        with self._lock:
            self._running()

    def wait_warm(self, seconds: float) -> bool:
        """Start loading the libraries, and wait until they are; tell whether they are."""
        self.start()
        return self._warm.wait(seconds)

    def close(self) -> None:
        """End all children."""
        with self._lock:
            self._end()

    def _running(self) -> socket.socket:
        if self._orders is not None and self._process is not None and self._process.poll() is None:
            return self._orders
        self._end()
        if not hasattr(os, "fork"):
            raise RunFailed(
                "Untrusted files are read only where processes can be limited: on Linux or macOS."
            )
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        folder = self._folder = tempfile.mkdtemp(prefix="pool-", dir=scratch())
        with theirs:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "audits.runs.executors.fork_server", self._function),
                    *(str(theirs.fileno()), str(os.getpid())),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd=_ROOT,
                env=sandbox.environment(Path(folder), TMPDIR=folder, **ONE_THREAD),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._orders = ours
        threading.Thread(target=self._listen, args=(ours,), name="evenhand-pool", daemon=True).start()
        return ours

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._orders is not None:
            with contextlib.suppress(OSError):
                self._orders.shutdown(socket.SHUT_RDWR)
            self._orders.close()
        self._process, self._orders = None, None
        shutil.rmtree(self._folder, ignore_errors=True)  # what forks is killed, and tidies nothing up
        self._warm.clear()
        for child in self._children.values():
            child.ended({})
        self._children.clear()

    def _listen(self, orders: socket.socket) -> None:
        while True:
            try:
                news = orders.recv(MAX_MESSAGE)
            except OSError:
                return
            if not news:
                return
            facts = json.loads(news)
            if "warm" in facts:
                self._warm.set()
                continue
            child = self._children.get(facts["child"])
            if child is None:
                continue
            if "pid" in facts:
                child.pid, self._shared = facts["pid"], facts["shared"]
            else:
                child.ended(facts)
                with self._lock:
                    self._children.pop(child.identity, None)
