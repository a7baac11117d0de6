"""Monitors that carry a model along (a stranger's file, or trees) measure in a process of their own.

A stranger's file is never opened, and trees never hold up pages, where pages are served: `Scorer` asks a
child of the sandbox pool, with limits on memory, time and files, which answers with `answer`.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from audits.data.values import plain_value
from audits.errors import InputError, RunFailed
from audits.monitor.bundle import MonitorBundle, Scored
from audits.runs.executors.sandbox_pool import Child, SandboxPool
from audits.sensitivity.measurement.gradients import Measured
from audits.sensitivity.monitor.models import CarriedModel

_MAX_SECONDS = 60.0
_MAX_OPEN = 8
_MAX_MEMORY = 2 << 30
_ARRAYS = ("score", "sensitivity", "contributions")


class Scorer:
    """Measures people by bundles: by networks here, by what was carried along in one process for all."""

    def __init__(self, seconds: float = _MAX_SECONDS) -> None:
        self._seconds = seconds
        self._pool = SandboxPool(f"{__name__}:answer")
        self._lock = threading.Lock()
        self._child: Child | None = None

    def score(
        self, identity: str, bundle: MonitorBundle, columns: Mapping[str, Sequence[Any]], people: int
    ) -> Scored:
        """Measure `people` rows given as columns; `identity` names the monitor, whose bundle never changes.

        Raises
        ------
        InputError
            If a value is wrong, or the model fails on it.
        RunFailed
            If the process ended, took too long, or cannot open the model.
        """
        if not isinstance(bundle.audited, CarriedModel):
            return bundle.score_columns(columns, people)

        def measure(columns: Mapping[str, Sequence[Any]], _: np.ndarray) -> Measured:
            plain = {name: list(map(plain_value, values)) for name, values in columns.items()}
            question = {"monitor": identity, "columns": plain, "people": people}
            try:
                told = self._ask(question, bundle)
            except RunFailed as error:
                raise RunFailed(f"The audited model gave no answer: {error}") from None
            score, sensitivity, contributions = (_decode_array(told[name]) for name in _ARRAYS)
            parts = contributions.reshape(people, -1)
            return Measured(score, sensitivity[:, None], parts, np.zeros(people))

        return bundle.score_columns(columns, people, measure)

    def close(self) -> None:
        """End all processes."""
        self._pool.close()

    def _ask(self, question: dict[str, Any], bundle: MonitorBundle) -> dict[str, Any]:
        """Have the process answer, which is given the bundle where it does not know it."""
        with self._lock:
            if self._child is None or not self._child.alive:
                self._child = self._pool.child(memory=_MAX_MEMORY, reads=(Path("/proc/self/maps"),))
            child = self._child
        told = child.ask(question, self._seconds)
        if told:
            return told
        text, weights = bundle.dump()
        coded = base64.b64encode(weights).decode("ascii")
        try:
            child.ask({"monitor": question["monitor"], "text": text, "weights": coded}, self._seconds)
        except InputError as error:  # no fault of the rows
            raise RunFailed(str(error)) from None
        return child.ask(question, self._seconds)


_opened: dict[str, MonitorBundle] = {}


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Open a bundle with its model, or measure people by it; of one that is not open, say nothing."""
    if "weights" in question:
        bundle = MonitorBundle.parse(question["text"], base64.b64decode(question["weights"]))
        if isinstance(bundle.audited, CarriedModel):
            _ = bundle.audited.model  # opened now
        while len(_opened) >= _MAX_OPEN:
            del _opened[next(iter(_opened))]
        _opened[question["monitor"]] = bundle
        return {}
    if question["monitor"] not in _opened:
        return {}
    scored = _opened[question["monitor"]].score_columns(question["columns"], question["people"])
    return {name: _encode_array(getattr(scored, name)) for name in _ARRAYS}


def _encode_array(values: np.ndarray) -> str:
    """Return numbers as text: their bytes, as writing their digits takes longer than finding them."""
    return base64.b64encode(values.astype("<f8").tobytes()).decode("ascii")


def _decode_array(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f8").astype(float)
