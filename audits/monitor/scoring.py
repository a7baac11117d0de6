"""Monitors that carry a model along (a stranger's file, or trees) measure in processes of their own.

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

from audits.errors import InputError, RunFailed
from audits.monitor.bundle import MonitorBundle, Scored
from audits.monitor.recoding import plain_values
from audits.runs.executors.sandbox_pool import Child, SandboxPool
from audits.sensitivity.measurement.gradients import exceeds
from audits.sensitivity.monitor.models import CarriedModel

__all__ = ["Scorer", "answer"]

_MAX_SECONDS = 60.0
_MAX_OPEN = 8
_MAX_MEMORY = 2 << 30
_ARRAYS = ("score", "sensitivity", "contributions")


class Scorer:
    """Measures people by bundles: by networks here, by what was carried along in a process a monitor."""

    def __init__(self, seconds: float = _MAX_SECONDS) -> None:
        self._seconds = seconds
        self._pool = SandboxPool(f"{__name__}:answer")
        self._lock = threading.Lock()
        self._children: dict[str, Child] = {}

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
        points, _ = bundle.encoder.encode(columns, people)  # what is wrong is told without the process
        plain = {name: plain_values(values) for name, values in columns.items()}
        try:
            told = self._child(identity, bundle).ask({"columns": plain, "people": people}, self._seconds)
        except RunFailed as error:
            raise RunFailed(f"The audited model gave no answer: {error}") from None
        score, sensitivity, contributions = (_decode_array(told[name]) for name in _ARRAYS)
        return Scored(
            score,
            sensitivity,
            exceeds(sensitivity, bundle.threshold),
            contributions.reshape(people, -1),
            bundle.encoder.columns,
            {int(row): names for row, names in told["unseen"].items()},
            points,
        )

    def close(self) -> None:
        """End all processes."""
        self._pool.close()

    def _child(self, identity: str, bundle: MonitorBundle) -> Child:
        """Return the process that has opened a monitor's bundle."""
        with self._lock:
            child = self._children.pop(identity, None)
            if child is None or not child.alive:
                while len(self._children) >= _MAX_OPEN:
                    self._children.pop(next(iter(self._children))).kill()  # the one not asked for longest
                child = self._pool.child(memory=_MAX_MEMORY, reads=(Path("/proc/self/maps"),))
                text, weights = bundle.dump()
                coded = base64.b64encode(weights).decode("ascii")
                try:
                    child.ask({"text": text, "weights": coded}, self._seconds)
                except InputError as error:  # no fault of the rows
                    child.kill()
                    raise RunFailed(str(error)) from None
            self._children[identity] = child
            return child


_opened: list[MonitorBundle] = []


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Open a bundle with its model, then measure people by it: the life of a child."""
    if "weights" in question:
        bundle = MonitorBundle.parse(question["text"], base64.b64decode(question["weights"]))
        if isinstance(bundle.audited, CarriedModel):
            _ = bundle.audited.model  # opened now
        _opened.append(bundle)
        return {}
    scored = _opened[0].score_columns(question["columns"], question["people"])
    return {**{name: _encode_array(getattr(scored, name)) for name in _ARRAYS}, "unseen": scored.unseen}


def _encode_array(values: np.ndarray) -> str:
    """Return numbers as text: their bytes, as writing their digits takes longer than finding them."""
    return base64.b64encode(values.astype("<f8").tobytes()).decode("ascii")


def _decode_array(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f8").astype(float)
