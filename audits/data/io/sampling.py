"""Rows drawn from a table that is too large to be held, a fixed share of every kind of people.

Two passes over the batches: one counts how many rows there are of each kind (stratum), one takes those
drawn by lot. What is held at once is a batch, the counts, and the rows drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from audits.data.io.batches import Batches
from audits.data.io.tables import ReadReport, Table
from audits.data.io.typed_tables import convert_typed, without_dictionaries
from audits.data.ranks import ranked
from audits.progress import Progress, part, silent
from audits.stats.sampling import apportion

__all__ = ["Drawn", "draw_rows"]

_MOST_KINDS = 50
"""Different values up to which a column makes strata."""


@dataclass(frozen=True, eq=False)
class Drawn(Table):
    """Rows drawn from a larger table, under the numbers that they have there.

    Attributes
    ----------
    rows : int
        Of the whole table.
    strata : tuple of str
        Columns whose values keep their shares.
    """

    rows: int = 0
    strata: tuple[str, ...] = ()


def draw_rows(
    batches: Batches,
    wanted: int,
    strata: Sequence[str],
    rng: np.random.Generator,
    *,
    edges: Mapping[str, Sequence[float]] | None = None,
    missing: Sequence[str] | None = None,
    progress: Progress = silent,
) -> Drawn:
    """Draw `wanted` rows, of every combination of values of `strata` as large a share as it has.

    Parameters
    ----------
    wanted : int
        At most as many as there are; shares are kept to the row (largest remainders).
    strata : sequence of str
        Columns; one of more than 50 values, and without `edges`, is left out.
    edges : mapping of str to numbers
        Where numbers of a column are cut.
    missing : sequence of str, optional
        As `convert_typed` takes it.
    """
    kinds = _Kinds([name for name in strata if name in batches.schema.names], edges or {})
    counts = np.zeros(0, dtype=np.int64)
    for done, batch in _numbered(batches, kinds.columns):
        part(progress, 0.0, 0.3)(done / max(batches.rows, 1), "Counting the rows of each kind")
        counts = _longer(counts, np.bincount(kinds.codes(batch), minlength=len(counts)))
    counts = kinds.settle(counts)
    chosen = [
        np.sort(rng.choice(int(n), int(k), replace=False, shuffle=False))
        for n, k in zip(counts, apportion(counts, wanted), strict=True)
    ]
    taken, numbers, seen, names = [], [], np.zeros(len(counts), dtype=np.int64), batches.schema.names
    for done, batch in _numbered(batches, names):
        part(progress, 0.3, 1.0)(done / max(batches.rows, 1), "Drawing rows")
        code = kinds.codes(batch)
        order, here = np.argsort(code, kind="stable"), np.bincount(code, minlength=len(counts))
        starts = np.cumsum(here) - here
        places = [
            order[starts[k] + chosen[k][slice(*np.searchsorted(chosen[k], (seen[k], seen[k] + n)))] - seen[k]]
            for k, n in enumerate(here)
        ]
        seen += here
        rows = np.sort(np.concatenate(places))
        numbers.append(rows + done - batch.num_rows)
        taken.append(without_dictionaries(pa.Table.from_batches([batch.take(pa.array(rows))])))
    whole = pa.concat_tables(taken, promote_options="permissive")
    converted, notes = convert_typed(whole, markers=missing)
    index = pd.Index(np.concatenate(numbers) + 1, name="row")
    frame = pd.DataFrame({name: each.values.set_axis(index) for name, each in converted.items()}, index=index)
    notes += tuple(note for each in converted.values() for note in each.notes)
    missing_cells = {name: dict(each.missing) for name, each in converted.items() if each.missing}
    report = ReadReport(batches.files, missing_cells, notes)
    markers = {name: each.markers for name, each in converted.items() if each.markers}
    return Drawn(frame, report, markers, rows=batches.rows, strata=tuple(kinds.columns))


def _numbered(batches: Batches, columns: Sequence[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield batches, each with how many rows there were up to its end."""
    done = 0
    for batch in batches.read(columns):
        done += batch.num_rows
        yield done, batch


def _longer(total: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Add counts up of which later ones may be longer."""
    found = np.zeros(max(len(total), len(more)), dtype=np.int64)
    found[: len(total)] += total
    found[: len(more)] += more
    return found


class _Kinds:
    """Numbers the combinations of values as they come up; columns of too many values are forgotten."""

    def __init__(self, columns: Sequence[str], edges: Mapping[str, Sequence[float]]) -> None:
        self.columns = list(columns)
        self._edges = {name: np.asarray(edges[name], dtype=float) for name in columns if name in edges}
        self._values: dict[str, dict[object, int]] = {name: {} for name in columns}
        self._numbers: dict[tuple[int, ...], int] = {}

    def codes(self, batch: pa.RecordBatch) -> np.ndarray:
        """Return the number of each row's combination (n,)."""
        if not self.columns:
            return np.zeros(batch.num_rows, dtype=np.int64)
        found = [self._places(name, batch.column(name)) for name in self.columns]
        index = np.zeros(batch.num_rows, dtype=np.int64)
        for depth, places in enumerate(found, start=1):
            index = index * (_MOST_KINDS + 2) + places
            if depth % 10 == 0:  # 52 places each: ten columns fill 60 bits
                index = ranked(index)[1]
        lines, at = ranked(index)
        first, known = np.empty((2, len(lines)), dtype=np.int64)
        first[at] = np.arange(len(at))  # any row of each
        for place, row in enumerate(first):
            key = tuple(int(places[row]) for places in found)
            known[place] = self._numbers.setdefault(key, len(self._numbers))
        return known[at]

    def _places(self, name: str, column: pa.Array) -> np.ndarray:
        if name in self._edges:
            values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            return np.searchsorted(self._edges[name], values, side="right") % (_MOST_KINDS + 2)
        coded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
        known = self._values[name]
        if len(coded.dictionary) > _MOST_KINDS:
            coded = coded.dictionary_decode().dictionary_encode()
        # NaN is missing, and no two of them are equal
        values = [
            each if each == each else None for each in coded.dictionary.slice(0, _MOST_KINDS + 1).to_pylist()
        ]
        for value in values:
            if len(known) <= _MOST_KINDS:
                known.setdefault(value, len(known))
        last = _MOST_KINDS + 1  # what is missing, and whatever came too late to matter
        place = np.array([known.get(value, last) for value in values] + [last], dtype=np.int64)
        codes = pc.fill_null(coded.indices.cast(pa.int64()), len(values)).to_numpy(zero_copy_only=False)
        return place[np.minimum(codes, len(values))]

    def settle(self, counts: np.ndarray) -> np.ndarray:
        """Forget columns of too many values; return the rows of each combination of the others."""
        keep = [place for place, name in enumerate(self.columns) if len(self._values[name]) <= _MOST_KINDS]
        self.columns = [self.columns[place] for place in keep]
        before, self._numbers = self._numbers, {}
        merged = [
            self._numbers.setdefault(tuple(key[place] for place in keep), len(self._numbers))
            for key in before
        ]
        return np.bincount(merged or [0], weights=counts).astype(np.int64)
