"""How long a spec will take and how much memory, told before it is run.

From some rows of the table: how many are left, how wide the encoded features are, which groups there are.
What audits take of a few of these people is measured (`audits.runs.planning.probing`), and their records say
how that grows with the people; where an audit cannot be tried, its record alone says what it takes. Reading
and writing go by what a cell cost when measured (docs/scale.md), and a short computation says how fast this
machine is beside that one.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from audits.data import AuditData, FeatureSpace, build_data
from audits.data.building.more_rows import why_no_more
from audits.models.spec import Train
from audits.records import Audit, Size
from audits.runs.planning.probing import Probed, probe
from audits.runs.reading.first_rows import first_rows
from audits.runs.registry import AUDITS
from audits.runs.spec import Spec

__all__ = ["Expected", "estimate"]

# seconds of one core, measured on the machine that `_USUAL_SPEED` was
_START, _PARENT, _WRITING = 3.5, 0.4, 0.6
_HELD, _TEXT, _COUNTED, _PASSED, _EVERYBODY = 2.5e-7, 1.2e-7, 5e-8, 3e-8, 2.2e-6
_PEOPLE_WRITTEN = 3e-6
_USUAL_SPEED = 0.027
# bytes
_BASE, _CELL, _BATCHES = 2.5e8, 26.0, 3e8


@dataclass(frozen=True)
class Expected:
    """What a run takes.

    Attributes
    ----------
    steps : mapping of str to float
        Seconds of one core by what is done.
    memory : float
        Bytes at most.
    rows : int
        Of the table.
    how : {"held", "drawn", "counted"}
        What becomes of them.
    people : int
        Whom audits are about, after filters and training.
    speed : float
        How many times as long this machine takes as the one that was measured.
    guessed : tuple of str
        Steps that could not be tried: what they are told to take may be several times too much.
    """

    steps: dict[str, float]
    memory: float
    rows: int
    how: str
    people: int
    speed: float
    guessed: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """All of them."""
        return sum(self.steps.values())


def estimate(spec: Spec) -> Expected:
    """Return what a run of `spec` takes, of a second model as well.

    docs/scale.md has what it told of runs beside what they took.

    Raises
    ------
    InputError
        If the data cannot be read, or the section of the data does not fit them.
    """
    table, rows, text = first_rows(spec)
    data = build_data(table, spec.data)
    kept, columns = data.n / max(len(table.frame), 1), len(table.frame.columns)
    how = "counted" if spec.streamed else "drawn" if spec.drawn else "held"
    held = spec.drawn or rows
    speed = _speed()
    probed = None if spec.asks_a_service else probe(spec, held)
    starting = _START * speed if probed is None else _PARENT * speed + probed.starting
    steps = {"starting": starting, "reading": speed * rows * columns * (_HELD + text * _TEXT)}
    memory = _BASE + held * columns * _CELL
    if how == "counted":
        lines = min(columns, len(data.protected) + 2) * _COUNTED
        steps["reading"] = speed * rows * (lines + text * columns * _TEXT)
        if not text:  # whose cells are all held until its columns are typed
            memory = _BASE + _BATCHES
    elif how == "drawn":
        steps["reading"] = speed * (rows * columns * _PASSED + held * columns * _HELD)
        memory += _BATCHES
    if probed is not None:
        memory += max(probed.memory - _BASE, 0.0)
    trained = spec.model.train
    people = round(held * kept * (spec.data.test_size if trained else 1.0))
    largest, guessed = 0.0, []
    for model, kind in enumerate(_models(spec)):
        size = _size(data, people, kind)
        tried = probed if model == 0 else None
        for place, request in enumerate(spec.audits):
            audit, options = AUDITS[request.name], request.options
            name = f"{request.name}{' of the second model' if model else ''}"
            seen = Probed() if tried is None else tried.audits.get(f"{place} {request.name}", Probed())
            if not seen.people:
                guessed.append(name)
                took = speed * audit.expected_seconds(options, size)
            elif how == "counted":
                took = seen.once + seen.seconds[-1]  # of lines, which are hardly more than those of the few
            else:
                took = seen.once + _grown(seen, _expects(audit, options, size), people)
            steps[name] = steps.get(name, 0.0) + took
            before = seen.people[-1] if seen.people else 0
            more = audit.expected_bytes(options, size) - (
                audit.expected_bytes(options, _of(size, before)) if before else 0.0
            )
            largest = max(largest, 0.0 if how == "counted" else more)
            if how == "drawn" and audit.folds is not None and not why_no_more(spec.data):
                each = speed * _EVERYBODY if seen.people == () else seen.per_row
                steps[name] += rows * kept * (each + speed * columns * _PASSED) if each else 0.0
                memory += _BATCHES
    if probed is not None and probed.model.people:
        steps["model"] = probed.model.once + _grown(probed.model, lambda n: 1.0 + n, people)
    steps["writing"] = speed * (_WRITING * len(spec.audits) + (how != "counted") * people * _PEOPLE_WRITTEN)
    audited = round(rows * kept) if how == "counted" else people
    return Expected(steps, memory + largest, rows, how, audited, speed, tuple(guessed))


def _expects(audit: Audit, options: object, size: Size) -> Callable[[int], float]:
    return lambda people: audit.expected_seconds(options, _of(size, people))


def _grown(probed: Probed, expected: Callable[[int], float], people: int) -> float:
    """Return the seconds of `people`, from those measured of fewer.

    They grow as `expected` does, or as a power of the people where what was measured grows more slowly.
    """
    n, took = probed.people[-1], probed.seconds[-1]
    if people <= n:
        return took
    whole, last = expected(people), expected(n)
    if len(probed.people) < 2:
        return took * whole / max(last, 1e-9)
    before = probed.people[-2]
    more, step = max(took - probed.seconds[-2], 0.0), last - expected(before)
    power = _power(probed)
    steps = (people**power - n**power) / (n**power - before**power)
    return took + more * (min(steps, (whole - last) / step) if step > 0 else min(steps, 0.0))


def _power(probed: Probed) -> float:
    """Return the power of people with which the last seconds measured rose, from 1 to 2."""
    if len(probed.people) < 3:
        return 2.0
    n, t = np.array(probed.people[-3:], dtype=float), np.array(probed.seconds[-3:])
    slopes = np.maximum(np.diff(t) / np.diff(n), 1e-12)
    middle = (n[1:] + n[:-1]) / 2
    return float(np.clip(1 + np.log(slopes[1] / slopes[0]) / np.log(middle[1] / middle[0]), 1.0, 2.0))


def _models(spec: Spec) -> list[Train | None]:
    return [spec.model.train, *([] if spec.compare is None else [spec.of_second().model.train])]


def _size(data: AuditData, people: int, kind: Train | None) -> Size:
    """Return the size of an audit's work on so many people like those looked at."""
    readable = any(data.kinds[name] != "text" for name in data.features)
    width = len(FeatureSpace.fit(dataclasses.replace(data, weights=None)).names) if readable else 0
    groups = {
        name: {str(value): int(n) for value, n in data.groups[name].value_counts().items()}
        for name in data.protected
    }
    return _of(Size(data.n, width, kind, groups), people)


def _of(size: Size, people: int) -> Size:
    """Return the size of so many people alike."""
    share = people / max(size.rows, 1)
    groups = {
        name: {value: round(n * share) for value, n in of_each.items()}
        for name, of_each in size.groups.items()
    }
    return dataclasses.replace(size, rows=people, groups=groups)


def _speed() -> float:
    """Return how long this machine takes for a sort and a product of matrices, beside the measured one."""
    values = np.random.default_rng(0).random(400_000)
    square = values[:160_000].reshape(400, 400)
    found = []
    for _ in range(20):  # the quickest is the one that other work disturbed least
        begun = time.process_time()
        np.sort(values)
        for _ in range(4):
            square = np.tanh(square @ square.T / 400)
        found.append(time.process_time() - begun)
    return min(found) / _USUAL_SPEED
