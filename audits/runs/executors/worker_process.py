"""One worker process as its parent sees it: started, spoken to, heard, and ended for certain."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from audits.runs.executors import system, worker
from audits.runs.executors.sandbox import environment, service_environment
from audits.runs.executors.scratch import scratch
from audits.runs.executors.threads import ONE_THREAD

_ROOT = Path(__file__).resolve().parents[3]
_LAST_WORDS = 200  # lines of stderr kept
_MAX_LINE = 2_000
# their own threads are missing from a copy of the process, which waits for them
_THREADED = frozenset({"torch", "sklearn", "onnxruntime", "xgboost", "lightgbm", "catboost", "polars"})


class WorkerProcess:
    """A warm ``python -m audits.runs.executors.worker``, in a process group of its own.

    Messages are JSON, one a line, over the worker's standard input and output. The worker ends when
    its input closes, and so with its parent.

    Parameters
    ----------
    plugin : str, optional
        ``module:function`` that the worker imports and calls before anything else.
    memory : int, optional
        Bytes that it may write to; unlimited if not given.
    network : bool
        Whether it may open sockets.
    warm : bool
        Whether a worker loads what any run may need before it says that it is ready.
    forked : bool
        Whether it is a copy of this process, which has loaded the libraries already; see `can_fork`.
    """

    def __init__(
        self,
        plugin: str | None = None,
        *,
        memory: int | None = None,
        network: bool = False,
        warm: bool = True,
        forked: bool = False,
    ) -> None:
        self.network = network
        self.why = ""
        settings = json.dumps({"plugin": plugin, "memory": memory, "network": network, "warm": warm})
        self._folder = Path(tempfile.mkdtemp(prefix="work-", dir=scratch()))  # its home, and gone with it
        env = _environment(self._folder, network)
        self._process: Any = (
            _ForkedProcess(settings, env)
            if forked
            else subprocess.Popen(
                [sys.executable, "-m", "audits.runs.executors.worker", settings],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=_ROOT,  # first on the worker's import path: never the user's own folder
                env=env,
                start_new_session=True,
            )
        )
        self._killed = False
        self._writing = threading.Lock()
        self._stderr: deque[bytes] = deque(maxlen=_LAST_WORDS)
        self._listener = threading.Thread(target=self._listen, name="worker-stderr", daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def alive(self) -> bool:
        """Tell whether the process still runs and is not about to be killed."""
        return not self._killed and self._process.poll() is None

    def send(self, message: dict[str, Any]) -> bool:
        """Send a message; False if the worker is gone."""
        line = json.dumps(message).encode("ascii") + b"\n"
        with self._writing:
            try:
                self._process.stdin.write(line)
                self._process.stdin.flush()
            except (OSError, ValueError):  # ValueError: closed here already
                return False
        return True

    def messages(self) -> Iterator[dict[str, Any]]:
        """Yield what the worker says until it ends."""
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:  # killed in mid-sentence, or out of its mind: not to be trusted further
                self.kill()
                return
            yield message

    def kill(self, why: str = "") -> None:
        """Kill the worker and what it has started, at once; `why` is told to the user."""
        self.why = self.why or why
        self._killed = True
        if self._process.returncode is None:  # not yet reaped: its group id cannot be another's
            system.end_group(self._process.pid)

    def close(self) -> None:
        """Make sure that the worker is over, leave no zombie, and close the pipes."""
        self.kill()
        self._process.wait()
        self._listener.join(timeout=1.0)
        pipes = [self._process.stdin, self._process.stdout]
        if not self._listener.is_alive():
            pipes.append(self._process.stderr)
        for pipe in pipes:
            with contextlib.suppress(OSError):  # unsent bytes of a dead worker's input
                pipe.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def ending(self) -> str:
        """Word how the process ended; call after `close`."""
        code = self._process.returncode
        if self.why:
            return self.why
        if code is not None and code < 0:
            name = signal.Signals(-code).name
            return f"it was killed by {name}" + (", often for lack of memory" if name == "SIGKILL" else "")
        return f"it ended with status {code}"

    def last_words(self) -> str:
        """Return the end of what the worker wrote to its standard error."""
        return b"".join(self._stderr.copy()).decode("utf-8", "replace")

    def forget_words(self) -> None:
        """Drop what was written so far, so that a run's details are its own."""
        self._stderr.clear()

    def _listen(self) -> None:
        while line := self._process.stderr.readline(_MAX_LINE):
            self._stderr.append(line)


def can_fork() -> bool:
    """Tell whether a copy of this process works: it has one thread, and so do its libraries."""
    return system.one_thread() and not _THREADED & sys.modules.keys()


class _ForkedProcess:
    """The worker as a copy of this process: what `subprocess.Popen` would be, with the libraries loaded."""

    def __init__(self, settings: str, env: Mapping[str, str]) -> None:
        self.returncode: int | None = None
        self._asking = threading.Lock()
        commands, answers, errors = os.pipe(), os.pipe(), os.pipe()
        theirs = [commands[0], answers[1], errors[1]]
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()  # or the copy would write it again
        self.pid = os.fork()
        if not self.pid:
            _be_worker(settings, theirs, env)
        for end in theirs:
            os.close(end)
        self.stdin = os.fdopen(commands[1], "wb")
        self.stdout, self.stderr = os.fdopen(answers[0], "rb"), os.fdopen(errors[0], "rb")

    def poll(self) -> int | None:
        """Return how the process ended; None while it goes on."""
        return self._reap(os.WNOHANG)

    def wait(self) -> int | None:
        """Wait for its end, and return how it ended."""
        return self._reap(0)

    def _reap(self, how: int) -> int | None:
        with self._asking:
            if self.returncode is None:
                pid, status = os.waitpid(self.pid, how)
                self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode


def _be_worker(settings: str, pipes: list[int], env: Mapping[str, str]) -> NoReturn:
    """Go on as the worker: of what this process held, only the code that is loaded stays."""
    try:
        os.setsid()
        gc.freeze()  # nothing that was open is tidied up here, where its number may be another's
        system.copy_of_pipes(pipes)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # databases, locks and what else was open
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(_ROOT)
        os.environ.clear()
        os.environ.update(env)
        sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
        tempfile.tempdir = None
        worker.main(settings)
    finally:
        os._exit(1)


def _environment(folder: Path, network: bool) -> dict[str, str]:
    asking = service_environment() if network else {}
    # POT would import torch, a second and a half, for arrays that it is never given
    return environment(folder, POT_BACKEND_DISABLE_PYTORCH="1", **ONE_THREAD, **asking)
