"""What an audit learned of people drawn by lot, stated of everybody in their table, batch by batch.

The fold comes from the audit (`Audit.folds`): ``partial`` of a batch gives a part and one row a person,
``merge`` adds two parts up, ``finish`` makes the result. Parts are merged in the order of the rows, so that
neither threads nor their speed change a digit; rows of people are written as they come.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from audits.data import AuditData
from audits.data.building.more_rows import columns_of_more, more_rows, why_no_more
from audits.data.files.batches import open_batches
from audits.models import Subject
from audits.progress import Progress
from audits.runs.registry import AUDITS
from audits.threads import one_thread

if TYPE_CHECKING:
    from audits.runs.result import AuditResult
    from audits.runs.spec import Spec

__all__ = ["Fold", "of_everybody"]

_LOT = 1 << 29  # no audit's place


class Fold(Protocol):
    """What a record's `folds` returns."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that it reads besides those of groups, label and filters."""

    def partial(self, data: AuditData) -> tuple[Any, pd.DataFrame]:
        """Return what some people say, and one row for each of them."""

    def merge(self, first: Any, second: Any) -> Any:
        """Return what both say together."""

    def finish(self, part: Any) -> Any:
        """Return the audit's result."""


def of_everybody(
    spec: Spec, place: int, subject: Subject, found: AuditResult, progress: Progress
) -> AuditResult:
    """Return what an audit of drawn people finds of everybody; `found` itself where that cannot be.

    Raises
    ------
    InputError
        If a later batch cannot be read as the rows drawn were.
    """
    cannot = why_no_more(spec.data)
    if cannot:
        why = f"Everybody could not be measured, as {cannot} is not done batch by batch"
        warnings = (f"{why}: numbers are of those drawn.", *found.result.warnings)
        return dataclasses.replace(found, result=dataclasses.replace(found.result, warnings=warnings))
    rng, again = (np.random.default_rng(each) for each in ([spec.seed, place, _LOT], [spec.seed, place]))
    audit = AUDITS[found.name]
    fold: Fold | None = audit.fold(subject, spec.audits[place].options, found.result, rng, again)
    if fold is None:
        return found
    folder = tempfile.TemporaryDirectory(prefix="evenhand-")
    everybody = Path(folder.name) / "everybody.parquet"
    told = f"Measuring everybody: {found.name.replace('_', ' ')}"
    result = fold.finish(
        _folded(_parts(spec, subject, fold), fold, everybody, lambda done: progress(done, told))
    )
    return dataclasses.replace(found, result=result, everybody=everybody, folder=folder)


def _folded(
    parts: Iterator[tuple[float, tuple[Any, pd.DataFrame]]],
    fold: Fold,
    everybody: Path,
    progress: Callable[[float], None],
) -> Any:
    """Return all parts as one, and write the people of each as they come."""
    whole, writer = None, None
    try:
        for done, (part, people) in parts:
            progress(done)
            whole = part if whole is None else fold.merge(whole, part)
            rows = pa.Table.from_pandas(people, preserve_index=True)  # ranges too, which need no column
            writer = writer or pq.ParquetWriter(everybody, rows.schema)
            writer.write_table(rows)
    finally:
        if writer is not None:
            writer.close()
    return whole


def _parts(spec: Spec, subject: Subject, fold: Fold) -> Iterator[tuple[float, tuple[Any, pd.DataFrame]]]:
    """Yield the part of each batch in order, with the share of rows read; a few are worked on at once."""
    batches = open_batches(spec.data_paths())
    columns = columns_of_more(spec.data, fold.columns)
    threads, done = os.cpu_count() or 1, 0

    def work(batch: pa.RecordBatch, first: int) -> tuple[Any, pd.DataFrame]:
        return fold.partial(more_rows(batch, first, spec.data, subject.data))

    waiting: deque[tuple[int, Future[tuple[Any, pd.DataFrame]]]] = deque()
    with one_thread(), ThreadPoolExecutor(threads) as pool:
        for batch in batches.read(columns):
            waiting.append((done + batch.num_rows, pool.submit(work, batch, done + 1)))
            done += batch.num_rows
            if len(waiting) > threads:
                end, future = waiting.popleft()
                yield end / max(batches.rows, 1), future.result()
        while waiting:
            end, future = waiting.popleft()
            yield end / max(batches.rows, 1), future.result()
