"""About how long a spec takes, told before it is run: an order of magnitude."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from audits.data import AuditData, FeatureSpace, build_data
from audits.models.spec import Train
from audits.records import Size
from audits.runs.registry import AUDITS
from audits.runs.source.first_rows import first_rows
from audits.runs.spec import Spec

_START, _CELL_SECONDS = 4.0, 3e-7  # seconds of one core, measured on the machine of docs/scale.md
_START_BYTES, _CELL_BYTES = 2.5e8, 26.0


@dataclass(frozen=True)
class RunCost:
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
    """

    steps: dict[str, float]
    memory: float
    rows: int
    how: str
    people: int

    @property
    def seconds(self) -> float:
        """All of them."""
        return sum(self.steps.values())


def estimate(spec: Spec) -> RunCost:
    """Return what a run of `spec` takes, of a second model as well.

    Raises
    ------
    InputError
        If the data cannot be read, or the section of the data does not fit them.
    """
    table, rows = first_rows(spec)
    data = build_data(table, spec.data)
    kept, columns = data.n / max(len(table.frame), 1), len(table.frame.columns)
    how = "counted" if spec.streamed else "drawn" if spec.drawn else "held"
    held = spec.drawn or rows
    people = round(held * kept * (spec.data.test_size if spec.model.train else 1.0))
    steps = {"starting": _START, "reading": rows * columns * _CELL_SECONDS}
    memory = _START_BYTES + (0 if how == "counted" else held * columns * _CELL_BYTES)
    largest = 0.0
    second = [] if spec.compare is None else [spec.of_second().model.train]
    for kind in (spec.model.train, *second):
        size = size_of(data, people, kind)
        for request in spec.audits:
            audit = AUDITS[request.name]
            steps[audit.name] = steps.get(audit.name, 0.0) + audit.expected_seconds(request.options, size)
            largest = max(largest, audit.expected_bytes(request.options, size))
    audited = round(rows * kept) if how == "counted" else people
    return RunCost(steps, memory + (0.0 if how == "counted" else largest), rows, how, audited)


def size_of(data: AuditData, people: int, kind: Train | None) -> Size:
    """Return the size of an audit's work on so many people like those looked at."""
    readable = any(data.kinds[name] != "text" for name in data.features)
    width = len(FeatureSpace.fit(dataclasses.replace(data, weights=None)).names) if readable else 0
    share = people / max(data.n, 1)
    groups = {
        name: {str(value): round(n * share) for value, n in data.groups[name].value_counts().items()}
        for name in data.protected
    }
    return Size(people, width, kind, groups)
