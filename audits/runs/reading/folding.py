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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from audits.data import AuditData, DataSpec
from audits.data.building.more_rows import columns_of_more, more_rows, why_no_more
from audits.data.files.batches import Piece, open_batches, reopened
from audits.dividing import others
from audits.models import Subject
from audits.progress import Progress
from audits.runs.executing.threads import fixed_threads
from audits.runs.registry import AUDITS
from audits.threads import one_thread

if TYPE_CHECKING:
    from audits.runs.result import AuditResult
    from audits.runs.spec import Spec

__all__ = ["Fold", "of_everybody"]

_LOT = 1 << 29  # tells this stream from the audit's own


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
    audit, request = AUDITS[found.name], spec.audits[place]
    draws = request.random(spec.seed, _LOT), request.random(spec.seed)
    fold: Fold | None = audit.fold(subject, request.options, found.result, *draws)
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
    parts: Iterator[tuple[float, int, tuple[Any, pd.DataFrame]]],
    fold: Fold,
    everybody: Path,
    progress: Callable[[float], None],
) -> Any:
    """Return all parts as one, and write the people of each as they come.

    Parts of a piece of the table are merged first: so sums are the same whoever added up a piece.
    """
    whole, piece, current, writer = None, None, -1, None
    try:
        for done, place, (part, people) in parts:
            progress(done)
            if place != current:
                whole = _merged(fold, whole, piece)
                piece, current = None, place
            piece = _merged(fold, piece, part)
            rows = pa.Table.from_pandas(people, preserve_index=True)  # ranges too, which need no column
            writer = writer or pq.ParquetWriter(everybody, rows.schema, use_dictionary=_few_values(rows))
            writer.write_table(rows)
    finally:
        if writer is not None:
            writer.close()
    return _merged(fold, whole, piece)


def _few_values(rows: pa.Table) -> list[str]:
    """Return the columns of text: measured numbers hardly ever repeat, so a dictionary of them only costs."""
    texts = (pa.types.is_string, pa.types.is_large_string)
    return [field.name for field in rows.schema if any(check(field.type) for check in texts)]


def _merged(fold: Fold, first: Any, second: Any) -> Any:
    return second if first is None else first if second is None else fold.merge(first, second)


def _parts(spec: Spec, subject: Subject, fold: Fold) -> Iterator[tuple[float, int, tuple[Any, pd.DataFrame]]]:
    """Yield the parts in order, with the share of rows read and the piece; a few are worked on at once."""
    batches = open_batches(spec.data_paths())
    columns = columns_of_more(spec.data, fold.columns)
    divide, threads, done = others(), os.cpu_count() or 1, 0
    if divide is not None and len(batches.pieces) > 1:
        there = (batches.paths, tuple(columns), fold, spec.data, subject.data)
        for place, found in enumerate(divide(_part_there, there, batches.pieces)):
            done += batches.pieces[place].rows
            yield done / max(batches.rows, 1), place, found
        return

    def work(batch: pa.RecordBatch, first: int) -> tuple[Any, pd.DataFrame]:
        return fold.partial(more_rows(batch, first, spec.data, subject.data))

    waiting: deque[tuple[int, int, Future[tuple[Any, pd.DataFrame]]]] = deque()
    with one_thread(), ThreadPoolExecutor(threads) as pool:
        for place, piece in enumerate(batches.pieces):
            for batch in batches.read_piece(piece, columns):
                waiting.append((done + batch.num_rows, place, pool.submit(work, batch, done + 1)))
                done += batch.num_rows
                if len(waiting) > threads:
                    end, at, future = waiting.popleft()
                    yield end / max(batches.rows, 1), at, future.result()
        while waiting:
            end, at, future = waiting.popleft()
            yield end / max(batches.rows, 1), at, future.result()


def _part_there(
    paths: Sequence[Path], columns: Sequence[str], fold: Fold, spec: DataSpec, like: AuditData, piece: Piece
) -> tuple[Any, pd.DataFrame]:
    """Return the part and the people of a piece, in a process of another machine."""
    whole, people, first = None, [], piece.first
    with fixed_threads():
        for batch in reopened(paths).read_piece(piece, columns):
            part, rows = fold.partial(more_rows(batch, first, spec, like))
            first += batch.num_rows
            whole = _merged(fold, whole, part)
            people.append(rows)
    return whole, pd.concat(people)
