"""One worker process as its parent sees it: started, spoken to, heard, and ended for certain."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audits.runs.threads import THREAD_VARIABLES, thread_count

__all__ = ["WorkerProcess"]

_ROOT = Path(__file__).resolve().parents[2]
_LAST_WORDS = 200  # lines of stderr kept
_LONGEST_LINE = 2_000


class WorkerProcess:
    """A warm ``python -m audits.runs.worker`` (or another module), in a process group of its own.

    Messages are JSON, one a line, over the worker's standard input and output. The worker ends when
    its input closes, and so with its parent.

    Parameters
    ----------
    plugin : str, optional
        ``module:function`` that the worker imports and calls before anything else.
    module : str
        What it runs.
    warm : bool
        Whether a worker loads what any run may need before it says that it is ready.
    """

    def __init__(
        self, plugin: str | None = None, *, module: str = "audits.runs.worker", warm: bool = True
    ) -> None:
        command = [sys.executable, "-m", module] + ([] if warm else ["--cold"])
        self._process = subprocess.Popen(
            command + (["--plugin", plugin] if plugin else []),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=_ROOT,  # first on the worker's import path: never the user's own folder
            env=_environment(),
            start_new_session=True,
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
                self._process.stdin.write(line)  # type: ignore[union-attr]
                self._process.stdin.flush()  # type: ignore[union-attr]
            except (OSError, ValueError):  # ValueError: closed here already
                return False
        return True

    def messages(self) -> Iterator[dict[str, Any]]:
        """Yield what the worker says until it ends."""
        for line in self._process.stdout:  # type: ignore[union-attr]
            try:
                message = json.loads(line)
            except ValueError:  # killed in mid-sentence, or out of its mind: not to be trusted further
                self.kill()
                return
            yield message

    def kill(self) -> None:
        """Kill the worker and what it has started, at once."""
        self._killed = True
        if self._process.returncode is None:  # not yet reaped: its group id cannot be another's
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

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
                pipe.close()  # type: ignore[union-attr]

    def ending(self) -> str:
        """Word how the process ended; call after `close`."""
        code = self._process.returncode
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
        while line := self._process.stderr.readline(_LONGEST_LINE):  # type: ignore[union-attr]
            self._stderr.append(line)


def _environment() -> dict[str, str]:
    threads = dict.fromkeys(THREAD_VARIABLES, str(thread_count()))
    # POT would import torch, a second and a half, for arrays that it is never given
    variables = {**os.environ, **threads, "POT_BACKEND_DISABLE_PYTORCH": "1"}
    variables.pop("PYTHONSAFEPATH", None)  # would take the package's own folder off the import path
    return variables
