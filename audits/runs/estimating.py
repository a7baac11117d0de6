"""Roughly how long a spec will take and how much memory, told before it is run.

From the first rows of the table: how many are left, how wide the encoded features are, which groups there
are. Audits' records say what they take of so many people; reading and writing go by what a cell cost when
measured (docs/scale.md); and a short computation says how fast this machine is beside that one.
"""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from audits.data import AuditData, FeatureSpace, Table, build_data, read_table
from audits.data.building.more_rows import why_no_more
from audits.data.files.batches import open_batches
from audits.data.files.larger import parquet_rows
from audits.data.files.tables import ReadReport
from audits.data.files.typed_tables import convert_typed, without_dictionaries
from audits.models.spec import Train
from audits.records import Size
from audits.runs.registry import AUDITS
from audits.runs.spec import Spec

__all__ = ["Expected", "estimate"]

_LOOKED_AT = 20_000  # rows, of Parquet
# seconds of one core, measured on the machine that `_USUAL_SPEED` was
_START, _WRITING = 3.5, 2.5
_HELD, _TEXT, _COUNTED, _PASSED, _EVERYBODY = 2.5e-7, 2e-7, 5e-8, 3e-8, 2.2e-6
_PEOPLE_WRITTEN = 6e-6
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
    """

    steps: dict[str, float]
    memory: float
    rows: int
    how: str
    people: int
    speed: float

    @property
    def seconds(self) -> float:
        """All of them."""
        return sum(self.steps.values())


def estimate(spec: Spec) -> Expected:
    """Return what a run of `spec` takes, of a second model as well.

    A rough guess, and often several times too high: docs/scale.md has what it told of runs beside what they
    took.

    Raises
    ------
    InputError
        If the data cannot be read, or the section of the data does not fit them.
    """
    table, rows, text = _first_rows(spec)
    data = build_data(table, spec.data)
    kept, columns = data.n / max(len(table.frame), 1), len(table.frame.columns)
    how = "counted" if spec.streamed else "drawn" if spec.drawn else "held"
    held = spec.drawn or rows
    steps = {"starting": _START, "reading": rows * columns * (_HELD + text * _TEXT)}
    memory = _BASE + held * columns * _CELL
    if how == "counted":
        steps["reading"] = rows * min(columns, len(data.protected) + 2) * _COUNTED
        memory = _BASE + _BATCHES
    elif how == "drawn":
        steps["reading"] = rows * columns * _PASSED + held * columns * _HELD
        memory += _BATCHES
    trained = spec.model.train
    people = round(held * kept * (spec.data.test_size if trained else 1.0))
    largest = 0.0
    for model, kind in enumerate(_models(spec)):
        size = _size(data, people, kind)
        for request in spec.audits:
            audit, options = AUDITS[request.name], request.options
            name = f"{request.name}{' of the second model' if model else ''}"
            steps[name] = steps.get(name, 0.0) + audit.expected_seconds(options, size)
            largest = max(largest, 0.0 if how == "counted" else audit.expected_bytes(options, size))
            if how == "drawn" and audit.folds is not None and not why_no_more(spec.data):
                steps[name] += rows * _EVERYBODY
                memory += 2 * _BATCHES
    steps["writing"] = _WRITING * len(spec.audits) + (how != "counted") * people * _PEOPLE_WRITTEN
    speed = _speed()
    slower = {name: speed * each for name, each in steps.items()}
    audited = round(rows * kept) if how == "counted" else people
    return Expected(slower, memory + largest, rows, how, audited, speed)


def _models(spec: Spec) -> list[Train | None]:
    return [spec.model.train, *([] if spec.compare is None else [spec.of_second().model.train])]


def _first_rows(spec: Spec) -> tuple[Table, int, bool]:
    """Return the first rows of Parquet, or a whole table; how many there are; whether they are text."""
    paths = spec.data_paths()
    rows = parquet_rows(paths)
    if rows is None:
        table = read_table(paths, format=spec.data.format, options=spec.data.read)
        return table, len(table.frame), table.report.files[0].format in {"csv", "tsv", "jsonl", "xlsx"}
    batches = open_batches(paths)
    taken: list[pa.Table] = []
    for batch in batches.read(batches.schema.names):
        taken.append(without_dictionaries(pa.Table.from_batches([batch])))
        if sum(each.num_rows for each in taken) >= _LOOKED_AT:
            break
    first = pa.concat_tables(taken, promote_options="permissive")
    first = first.take(np.linspace(0, first.num_rows - 1, min(first.num_rows, _LOOKED_AT)).astype(np.int64))
    converted, _ = convert_typed(first, markers=spec.data.read.missing)
    index = pd.RangeIndex(1, first.num_rows + 1, name="row")
    frame = pd.DataFrame({name: each.values.set_axis(index) for name, each in converted.items()})
    return Table(frame, ReadReport(batches.files, {})), rows, False


def _size(data: AuditData, people: int, kind: Train | None) -> Size:
    """Return the size of an audit's work on so many people like those looked at."""
    readable = any(data.kinds[name] != "text" for name in data.features)
    width = len(FeatureSpace.fit(dataclasses.replace(data, weights=None)).names) if readable else 0
    share = people / data.n
    groups = {
        name: {str(value): round(n * share) for value, n in data.groups[name].value_counts().items()}
        for name in data.protected
    }
    return Size(people, width, kind, groups)


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
