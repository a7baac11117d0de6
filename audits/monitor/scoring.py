"""Monitors that carry a model along (a stranger's file, or trees) measure in a worker process.

A stranger's file is never opened, and trees never hold up pages, where pages are served.

`Scorer` is the parent's side; ``python -m audits.monitor.scoring`` is the worker, with limits on
memory and on files. They speak JSON, one message a line, so that nothing it says can run in the parent.
"""

from __future__ import annotations

import base64
import json
import math
import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from audits.errors import InputError, RunFailed
from audits.monitor.bundle import MonitorBundle, Scored
from audits.monitor.recoding import plain_values
from audits.runs.executors.worker_process import WorkerProcess
from audits.sensitivity.measurement.gradients import exceeds
from audits.sensitivity.monitor.models import CarriedModel

__all__ = ["Scorer"]

_MAX_SECONDS = 60.0
_MAX_OPEN = 8
_MAX_MEMORY = 2 << 30
_MAX_FILES = 64
_ARRAYS = ("score", "sensitivity", "contributions")


class Scorer:
    """Measures people by bundles: by networks here, by what was carried along mostly in a worker."""

    def __init__(self, seconds: float = _MAX_SECONDS) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._worker: WorkerProcess | None = None
        self._said: Any = None
        self._known: set[str] = set()
        self._until = math.inf  # when the answer that is waited for comes too late
        self._over = threading.Event()

    def score(
        self, identity: str, bundle: MonitorBundle, columns: Mapping[str, Sequence[Any]], people: int
    ) -> Scored:
        """Measure `people` rows given as columns; `identity` names the monitor, whose bundle never changes.

        Raises
        ------
        InputError
            If a value is wrong, or the model fails on it.
        RunFailed
            If the worker ended, took too long, or cannot open the model.
        """
        if not isinstance(bundle.audited, CarriedModel):
            return bundle.score_columns(columns, people)
        points, _ = bundle.encoder.encode(columns, people)  # what is wrong is told without the worker
        with self._lock:
            answer = self._ask(identity, bundle, columns, people)
        if "failed" in answer:
            raise RunFailed(answer["failed"])
        if "error" in answer:
            raise InputError(*answer["error"])
        score, sensitivity, contributions = (_decode_array(answer[name]) for name in _ARRAYS)
        return Scored(
            score,
            sensitivity,
            exceeds(sensitivity, bundle.threshold),
            contributions.reshape(people, -1),
            bundle.encoder.columns,
            {int(row): names for row, names in answer["unseen"].items()},
            points,
        )

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        self._over.set()
        if self._worker is not None:
            self._worker.close()
        self._worker, self._said = None, None
        self._known.clear()

    def _ask(
        self, identity: str, bundle: MonitorBundle, columns: Mapping[str, Sequence[Any]], people: int
    ) -> dict[str, Any]:
        if self._worker is None or not self._worker.alive():
            self._end()
            self._worker = WorkerProcess(module=__name__)
            self._said = self._worker.messages()
            self._over = threading.Event()
            watching = threading.Thread(target=self._watch, args=(self._worker, self._over), daemon=True)
            watching.start()
        worker = self._worker
        self._until = time.monotonic() + self._seconds
        try:
            if identity not in self._known:
                if len(self._known) >= _MAX_OPEN:
                    worker.send({"forget": True})
                    self._known.clear()
                text, weights = bundle.dump()
                coded = base64.b64encode(weights).decode("ascii")
                worker.send({"open": identity, "text": text, "weights": coded})
                self._known.add(identity)
            plain = {name: plain_values(values) for name, values in columns.items()}
            worker.send({"score": identity, "columns": plain, "people": people})
            answer = next(self._said, None)
        finally:
            self._until = math.inf
        if answer is None:
            self._end()
            raise RunFailed(f"The audited model's process ended ({worker.ending()}).")
        return answer

    def _watch(self, worker: WorkerProcess, over: threading.Event) -> None:
        """End a worker that takes too long: one thread for all its life, as one an answer takes its time."""
        while not over.wait(min(1.0, self._seconds / 4)):
            if time.monotonic() > self._until:
                worker.kill()


def _serve() -> None:
    """Answer until the input closes: the worker's life."""
    from audits.runs.executors.sandbox import Bounds, die_with_parent, enter
    from audits.runs.executors.worker import private_pipes

    commands, answers = private_pipes()
    die_with_parent()
    enter(Bounds(_MAX_MEMORY, open_files=_MAX_FILES, reads=(Path.cwd(), Path(f"/proc/{os.getpid()}/maps"))))
    opened: dict[str, MonitorBundle | InputError] = {}
    for line in commands:
        message = json.loads(line)
        if "forget" in message:
            opened.clear()
        elif "open" in message:
            opened[message["open"]] = _open_bundle(message["text"], base64.b64decode(message["weights"]))
        else:
            said = _answer(opened[message["score"]], message["columns"], message["people"])
            answers.write(json.dumps(said).encode("ascii") + b"\n")
            answers.flush()


def _open_bundle(text: str, weights: bytes) -> MonitorBundle | InputError:
    """Return a bundle with its model opened, or why that cannot be."""
    try:
        bundle = MonitorBundle.parse(text, weights)
        if isinstance(bundle.audited, CarriedModel):
            _ = bundle.audited.model  # opened now
        return bundle
    except InputError as error:
        return error


def _answer(
    bundle: MonitorBundle | InputError, columns: Mapping[str, Sequence[Any]], people: int
) -> dict[str, Any]:
    if isinstance(bundle, InputError):
        return {"failed": str(bundle)}
    try:
        scored = bundle.score_columns(columns, people)
    except InputError as error:
        return {"error": [error.where, str(error).removeprefix(f"{error.where} ").removesuffix(".")]}
    return {**{name: _encode_array(getattr(scored, name)) for name in _ARRAYS}, "unseen": scored.unseen}


def _encode_array(values: np.ndarray) -> str:
    """Return numbers as text: their bytes, as writing their digits takes longer than finding them."""
    return base64.b64encode(values.astype("<f8").tobytes()).decode("ascii")


def _decode_array(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f8").astype(float)


if __name__ == "__main__":
    _serve()
