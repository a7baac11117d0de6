"""What a spec's audits take of a few people, measured: ``python -m`` of this module reads a spec.

A process of its own, so that loading libraries is measured, and memory is not that of another. Every audit is
run of more and more of the rows looked at, until one takes some seconds or there are no more of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from audits.data import Table
    from audits.models import Subject
    from audits.runs.spec import Spec

__all__ = ["Probed", "Probing", "probe"]

_FEWEST, _TIMES = 500, 3
_ENOUGH = 2.5  # seconds: what takes longer is not tried of three times as many,
_TRIALS, _TOO_LONG = 3, 10.0  # unless it was tried of fewer sizes: two say nothing of how it bends
_SECONDS = 120


@dataclass(frozen=True)
class Probed:
    """What something took: people, and seconds of processor time, of more and more people.

    Attributes
    ----------
    once : float
        Seconds that it took the first time only, to load libraries.
    per_row : float or None
        Seconds a row of what states an audit of everybody, where rows are drawn.
    """

    people: tuple[int, ...] = ()
    seconds: tuple[float, ...] = ()
    once: float = 0.0
    per_row: float | None = None


@dataclass(frozen=True)
class Probing:
    """What was measured of a spec.

    Attributes
    ----------
    starting, memory : float
        Seconds to load what every run loads, and bytes at most.
    model : Probed
        Training or opening the model, and scoring.
    audits : dict of str to Probed
        By place and name; without people where the audit cannot be run of so few.
    """

    starting: float
    memory: float
    model: Probed
    audits: dict[str, Probed] = field(default_factory=dict)


def probe(spec: Spec, rows: int) -> Probing | None:
    """Measure a spec of at most `rows` rows, until that takes too long; None where it cannot be done."""
    document = {"spec": spec.to_dict(), "base_dir": str(spec.base_dir), "rows": rows}
    try:
        told = subprocess.run(
            [sys.executable, "-m", "audits.runs.planning.probing"],
            input=json.dumps(document).encode(),
            capture_output=True,
            cwd=Path(__file__).resolve().parents[3],
            env={**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")},
            timeout=_SECONDS,
            check=True,
        ).stdout
    except subprocess.TimeoutExpired as error:
        told = error.stdout or b""
    except (subprocess.SubprocessError, OSError):
        return None
    try:
        found = json.loads(told[: told.rfind(b"\n")].splitlines()[-1])
    except (ValueError, IndexError):
        return None
    parts = {name: _read(each) for name, each in found.pop("audits").items()}
    return Probing(**{**found, "model": _read(found["model"])}, audits=parts)


def _read(plain: dict[str, Any]) -> Probed:
    return Probed(**{**plain, "people": tuple(plain["people"]), "seconds": tuple(plain["seconds"])})


def _measured(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    return work(), time.process_time() - begun


def _probing(spec: Spec, rows: int) -> Iterator[Probing]:
    """Yield what was measured so far, each time that there is more of it."""
    from audits.errors import InputError
    from audits.runs.executing.system import most_memory
    from audits.runs.reading.first_rows import first_rows

    table, _, _ = first_rows(spec)
    most = min(len(table.frame), rows)
    starting = time.process_time()
    subjects: dict[int, Subject] = {}
    times: list[float] = []
    size, once = min(_FEWEST, most), 0.0
    while True:
        try:
            if not times:
                _, once = _measured(partial(_subject, spec, table, size))
            subjects[size], took = _measured(partial(_subject, spec, table, size))
            times.append(took)
        except InputError:
            took = 0.0
        if size >= most or took > _ENOUGH:
            break
        size = min(_TIMES * size, most)
    people = tuple(subject.data.n for subject in subjects.values())
    model = Probed(people, tuple(times), max(once - times[0], 0.0) if times else 0.0)
    audits: dict[str, Probed] = {}
    yield Probing(starting, most_memory(), model, audits)
    for place, request in enumerate(spec.audits):
        for found in _audit(spec, place, list(subjects.values())):
            audits[f"{place} {request.name}"] = found
            yield Probing(starting, most_memory(), model, audits)


def _subject(spec: Spec, table: Table, rows: int) -> Subject:
    """Return the subject of so many of the rows looked at, spread over all of them."""
    import dataclasses

    from audits.data import build_data
    from audits.models import make_subject

    chosen = np.linspace(0, len(table.frame) - 1, rows).astype(np.int64)
    data = build_data(dataclasses.replace(table, frame=table.frame.iloc[chosen], markers={}), spec.data)
    subject = make_subject(
        data,
        spec.model,
        threshold=spec.threshold,
        seed=spec.seed,
        test_size=spec.data.test_size,
        base_dir=spec.base_dir,
    )
    _ = subject.decisions
    return subject


def _audit(spec: Spec, place: int, subjects: list[Subject]) -> Iterator[Probed]:
    """Run an audit of each subject, as long as it is quick; yield what each took besides those before."""
    from audits.errors import InputError
    from audits.runs.execute import carry_out

    request = spec.audits[place]
    people: list[int] = []
    times: list[float] = []
    once, per_row = 0.0, None
    for subject in subjects:

        def run(subject: Subject = subject) -> Any:
            return carry_out(request, place, subject, spec.seed)

        try:
            if not times:
                _, once = _measured(run)
            result, took = _measured(run)
        except InputError:
            continue
        people.append(subject.data.n)
        times.append(took)
        if spec.drawn:
            per_row = _everybody(spec, place, subject, result)
        yield Probed(tuple(people), tuple(times), max(once - times[0], 0.0), per_row)
        if took > (_ENOUGH if len(times) >= _TRIALS else _TOO_LONG):
            break


def _everybody(spec: Spec, place: int, subject: Subject, found: Any) -> float | None:
    """Return what a person more takes of the fold over everybody; None where there is none."""
    from audits.data.building.more_rows import why_no_more
    from audits.runs.registry import AUDITS

    if AUDITS[found.name].folds is None or why_no_more(spec.data):
        return None
    request = spec.audits[place]
    draws = request.random(spec.seed, 1 << 29), request.random(spec.seed)
    fold = AUDITS[found.name].fold(subject, request.options, found.result, *draws)
    if fold is None or subject.data.n < _FEWEST // 2:
        return None
    fold.partial(subject.data.take(np.arange(100)))
    return _measured(lambda: fold.partial(subject.data))[1] / subject.data.n


def main() -> None:
    """Read a spec, and print what was measured."""
    from audits.runs.executing.threads import fixed_threads
    from audits.runs.spec import parse_spec

    document = json.load(sys.stdin)
    spec = parse_spec(document["spec"], Path(document["base_dir"]))
    with fixed_threads():
        for found in _probing(spec, document["rows"]):
            print(json.dumps(asdict(found)), flush=True)


if __name__ == "__main__":
    main()
