"""The process that forks those that open strangers' files: ``python -m audits.runs.executors.fork_server``.

It never opens anything itself, watches the memory of its children, and tells the `SandboxPool` that started
it how each of them ended.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import re
import select
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audits.errors import InputError
from audits.runs.executors import sandbox

CHUNK = 1 << 20
"""Bytes read at a time."""
MAX_MESSAGE = 60_000
"""Bytes of an order, or of news of a child."""
OVER_MEMORY = 86
"""Exit status of a child that got no memory."""

_LOOK_SECONDS, _QUIET_SECONDS = 0.05, 0.4  # between two looks, while a child grows or shrinks and at most
_LAST_WORDS = 10_000  # bytes of a child's standard error that are remembered
_NO_MEMORY = re.compile(
    rb"bad_alloc|out of memory|cannot allocate memory|memory allocation|resource temporarily unavailable",
    re.I,
)
_SPARE = 64 << 20  # what a process may have beside what the kernel counts, before it is ended
_MAX_FILE = 4 << 30  # that one writes which writes at all
_GIVES_WAY = 2  # to the pages; runs give way further

Answering = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass
class _Forked:
    """A child: its name, what it may use, where its standard error is read, and what that said last."""

    identity: str
    memory: int
    folder: str
    errors: int
    said: bytes = b""
    why: str = ""

    def listen(self) -> None:
        """Pass on what it has written to its standard error, and remember the end."""
        with contextlib.suppress(OSError):  # nothing is there, or nobody takes it
            while part := os.read(self.errors, CHUNK):
                self.said = (self.said + part)[-_LAST_WORDS:]
                os.write(2, part)


class _Forker:
    """The process that forks: takes orders, reaps, and ends children that grow beyond their memory."""

    def __init__(self, orders: socket.socket, answer: Answering, server: int) -> None:
        self._orders, self._answer, self._server = orders, answer, server
        self._children: dict[int, _Forked] = {}

    def run(self) -> None:
        self._tell({"warm": True})
        sizes, wait = dict[int, int](), _LOOK_SECONDS
        while os.getppid() == self._server:  # it may have gone while libraries were loaded
            ready, _, _ = select.select([self._orders], [], [], wait if self._children else 1.0)
            if ready:
                text, handed, _, _ = socket.recv_fds(self._orders, MAX_MESSAGE, 1)
                if not text:
                    break
                self._obey(json.loads(text), handed)
                sizes = {}  # who is ended is soon reaped
            for child in self._children.values():
                child.listen()
            self._reap()
            before, sizes = sizes, {pid: sandbox.resident_memory(pid) for pid in self._children}
            wait = _LOOK_SECONDS if sizes != before else min(2 * wait, _QUIET_SECONDS)
            for pid, child in self._children.items():
                if sizes[pid] > child.memory + _SPARE:
                    child.why = "memory"
                    os.kill(pid, signal.SIGKILL)
        for pid in self._children:
            os.kill(pid, signal.SIGKILL)

    def _obey(self, order: dict[str, Any], handed: list[int]) -> None:
        if "kill" in order:
            for pid, child in self._children.items():
                if child.identity == order["kill"]:
                    os.kill(pid, signal.SIGKILL)
            return
        folder = tempfile.mkdtemp(prefix="read-")
        heard, said = os.pipe()
        os.set_blocking(heard, False)
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                self._orders.close()
                os.dup2(said, 2)
                for each in (heard, said, *(child.errors for child in self._children.values())):
                    os.close(each)
                status = _live(handed[0], order, folder, self._answer)
            finally:
                os._exit(status)
        for each in (*handed, said):
            os.close(each)
        self._children[pid] = _Forked(order["start"], order["memory"], folder, heard)
        shared = sandbox.resident_memory(os.getpid())
        self._tell({"child": order["start"], "pid": pid, "shared": shared})

    def _reap(self) -> None:
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            child = self._children.pop(pid)
            child.listen()
            aborted = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGABRT
            if aborted and _NO_MEMORY.search(child.said):
                child.why = "memory"  # in a library's own thread, which nobody asks for an error
            os.close(child.errors)
            shutil.rmtree(child.folder, ignore_errors=True)
            self._tell({"child": child.identity, "status": status, "why": child.why})

    def _tell(self, news: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self._orders.send(json.dumps(news).encode("ascii"))


def _live(line: int, order: dict[str, Any], folder: str, answer: Answering) -> int:
    """Be a child: give up all that is not needed, then answer until nobody asks any more."""
    sandbox.die_with_parent()
    sandbox.fresh_score()
    sandbox.give_way(_GIVES_WAY)
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR=folder)
    tempfile.tempdir = folder
    reads, writes = (tuple(map(Path, order[name])) for name in ("reads", "writes"))
    network = order["environment"] is not None
    os.environ.update(order["environment"] or {})
    sandbox.enter(
        sandbox.Bounds(
            order["memory"],
            open_files=4096,
            file_bytes=_MAX_FILE if writes else 0,
            network=network,
            reads=() if network else (Path(folder), *reads, *writes),
            writes=(Path(folder), *writes) if writes else (),
        )
    )
    return _serve_questions(socket.socket(fileno=line), answer)


def _serve_questions(line: socket.socket, answer: Answering) -> int:
    """Answer what comes along `line` until it closes; return the status to exit with."""
    with line, line.makefile("rb") as questions:
        for text in questions:
            question = json.loads(text)
            sandbox.allow_seconds(max(1, int(question.pop("seconds"))))
            try:
                said = answer(question)
            except Exception as error:  # noqa: BLE001 - whatever a file makes a library stumble over
                if _for_lack_of_memory(error):
                    return OVER_MEMORY
                said = _in_words(error)
            line.sendall(json.dumps(said).encode("ascii") + b"\n")
    return 0


def _in_words(error: Exception) -> dict[str, Any]:
    if isinstance(error, InputError):
        return {"wrong": [error.where, str(error)]}
    return {"failed": f"Reading stopped ({type(error).__name__}: {str(error)[:200]})."}


def _for_lack_of_memory(error: BaseException | None) -> bool:
    """Tell whether an error is one of memory, whatever it was turned into on the way."""
    while error is not None:
        if isinstance(error, MemoryError) or "ArrowMemoryError" in type(error).__name__:
            return True
        error = error.__cause__ or error.__context__
    return False


def main() -> None:
    """Fork children as told until the parent is gone: arguments are function, socket and parent."""
    named, orders, server = sys.argv[1:]
    module, function = named.split(":")
    gc.disable()  # what is loaded stays: to look through it for garbage again and again takes a tenth longer
    answer = getattr(importlib.import_module(module), function)
    gc.collect()
    gc.freeze()  # and stays shared with the children
    gc.enable()
    _Forker(socket.socket(fileno=int(orders)), answer, int(server)).run()


if __name__ == "__main__":
    main()
