"""The worker process: ``python -m audits.runs.executors.worker``, started and spoken to by `ProcessExecutor`.

It reads one JSON message a line from its standard input (``{"run": id, "spec", "base_dir", "digests",
"partial", "folder"}`` or ``{"cancel": id}``) and answers with one a line (``ready``, ``progress``, and
for each run one of ``done``, ``error``, ``cancelled``). Paths and digests travel, never data.
"""

from __future__ import annotations

import faulthandler
import gc
import importlib
import json
import os
import queue
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from audits.errors import RunCancelled
from audits.progress import CurvePoint, Progress
from audits.runs.executors.sandbox import (
    Bounds,
    allow_seconds,
    data_memory,
    die_with_parent,
    enter,
    fresh_score,
    give_way,
)

if TYPE_CHECKING:
    from audits.runs.spec import Spec

_PRELOADED = (
    "numpy",
    "pandas",
    "pyarrow.parquet",
    "scipy.sparse",
    "scipy.stats",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.pipeline",
    "ot",
    "audits.runs.execute",
)
_REPORT_SECONDS = 0.05
_MAX_FILE = 4 << 30
_GIVES_WAY = 5  # to the pages, and to what is read for them
_HELD_BACK = 0.25
"""Share of its memory that a worker may hold after a run; with more, the next run is given a new worker."""


class Worker:
    """Carries out one run after another until its input closes; `cancelled` are those that shall stop."""

    def __init__(self, commands: IO[bytes], answers: IO[bytes], memory: int | None = None) -> None:
        self._commands = commands
        self._answers = answers
        self._memory = memory
        self._writing = threading.Lock()
        self._runs: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.cancelled: set[str] = set()

    def say(self, **message: Any) -> None:
        """Send one message to the parent."""
        line = json.dumps(message).encode("ascii") + b"\n"
        with self._writing:
            self._answers.write(line)
            self._answers.flush()

    def listen(self) -> None:
        """Take messages from the parent; when it is gone, end at once, whatever is running."""
        for line in self._commands:
            message = json.loads(line)
            if "cancel" in message:
                self.cancelled.add(message["cancel"])
            else:
                self._runs.put(message)
        os._exit(0)

    def serve(self) -> None:
        """Carry out runs as they come."""
        empty = data_memory()
        while True:
            job = self._runs.get()
            told = self._outcome(job)
            self.say(run=job["run"], full=self._is_full(empty), **told)
            self.cancelled.discard(job["run"])

    def _is_full(self, empty: int) -> bool:
        """Tell whether runs left behind so much, a stranger's model for one, that others would lack it."""
        if self._memory is None:
            return False
        most = empty + _HELD_BACK * (self._memory - empty)
        if data_memory() > most:
            gc.collect()
        return data_memory() > most

    def _outcome(self, job: dict[str, Any]) -> dict[str, Any]:
        try:
            from audits.runs.spec import parse_spec

            if job.get("seconds"):
                allow_seconds(int(job["seconds"]) + 1)
            spec, reporter = parse_spec(job["spec"], Path(job["base_dir"])), _Reporter(self, job["run"])
            if job.get("ask") is not None:
                return {"event": "done", "answer": _answer(spec, job, reporter)}
            _carry_out(spec, job, reporter)
        except RunCancelled:
            return {"event": "cancelled"}
        except Exception as error:  # noqa: BLE001  (whatever breaks is told to the user, and the worker lives on)
            from audits.runs.executors.job import RunError

            return {"event": "error", "error": asdict(RunError.of(error))}
        return {"event": "done"}


class _Reporter:
    """Progress of one run, told to the parent a few times a second; points of a curve go along with it."""

    def __init__(self, worker: Worker, run: str) -> None:
        self._worker, self._run = worker, run
        self._last_time, self._last_doing = 0.0, ""
        self._points: list[CurvePoint] = []

    def __call__(self, fraction: float, doing: str) -> None:
        if self._run in self._worker.cancelled:
            raise RunCancelled
        now = time.monotonic()
        # each new sentence is told at once, but those that come with a curve's points only differ in numbers
        if now - self._last_time < _REPORT_SECONDS and (doing == self._last_doing or self._points):
            return
        self._last_time, self._last_doing = now, doing
        curve = {"curve": self._points} if self._points else {}
        self._worker.say(run=self._run, event="progress", fraction=float(fraction), doing=doing, **curve)
        self._points = []

    def draw(self, point: CurvePoint) -> None:
        self._points.append(point)


def _carry_out(spec: Spec, job: dict[str, Any], progress: Progress) -> None:
    from audits.runs.digests import know_files
    from audits.runs.execute import execute
    from audits.runs.storage.store import commit

    know_files(job.get("known") or {})
    result = execute(spec, digests=job["digests"], progress=progress)
    partial = Path(job["partial"])
    partial.mkdir()
    result.save(partial)
    progress(1.0, "Saved")
    commit(partial, Path(job["folder"]))


def _answer(spec: Spec, job: dict[str, Any], progress: Progress) -> Any:
    from audits.records import resolve
    from audits.runs.execute import remembered_subject
    from audits.runs.executors.threads import fixed_threads

    asked = dict(job["ask"])
    with fixed_threads():
        if "about" in asked:
            return resolve(asked.pop("about"))(spec, progress=progress, **asked)
        ask = resolve(asked.pop("of", "audits.models.what_if:what_if"))
        return ask(remembered_subject(spec, job["digests"], progress), **asked)


def private_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Keep the parent's pipes to ourselves: what any library prints goes to standard error."""
    commands, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return commands, answers


def _give_up(memory: int | None, network: bool) -> None:
    """Keep what a run needs: what a model or a table brings along gets no more either."""
    unlimited = 1 << 62
    enter(Bounds(memory or unlimited, open_files=4096, file_bytes=_MAX_FILE, network=network, programs=True))
    fresh_score()
    if memory:  # a server's: its pages come first
        give_way(_GIVES_WAY)


def _load() -> None:
    """Load what any run needs, which is never garbage: no collection looks at it, now or in a run."""
    gc.disable()
    for name in _PRELOADED:
        importlib.import_module(name)
    gc.freeze()
    gc.enable()


def main(settings: str) -> None:
    """Serve runs until standard input closes.

    Parameters
    ----------
    settings : str
        ``plugin``, ``memory``, ``network`` and ``warm`` as JSON; see `WorkerProcess`.
    """
    commands, answers = private_pipes()
    die_with_parent()
    faulthandler.enable()
    chosen = json.loads(settings)
    _give_up(chosen["memory"], chosen["network"])
    worker = Worker(commands, answers, chosen["memory"])
    threading.Thread(target=worker.listen, name="commands", daemon=True).start()
    if chosen["warm"]:
        _load()
    if chosen["plugin"]:
        module, function = chosen["plugin"].split(":")
        getattr(importlib.import_module(module), function)()
    worker.say(event="ready")
    worker.serve()


if __name__ == "__main__":
    main(sys.argv[1])
