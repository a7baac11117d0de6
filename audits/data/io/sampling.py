"""A sample of a table that is too large to be held, a fixed share of every kind of people.

Two passes over the batches: one counts the rows of each kind (stratum); the other draws a number for every
row, and of each kind keeps those with the smallest. A batch is held at once, and some twice the sample.
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
    present = [name for name in strata if name in batches.schema.names]
    columns, counts = _counts(batches, present, edges or {}, part(progress, 0.0, 0.3))
    kinds, shares = pd.Index(list(counts)), apportion(np.array(list(counts.values())), wanted)
    rows, lots, codes = np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64)
    below = np.ones(len(kinds))  # the largest lot that is still among the smallest of its kind
    taken: list[pa.Table] = []
    for done, batch in _numbered(batches, batches.schema.names):
        part(progress, 0.3, 1.0)(done / max(batches.rows, 1), "Drawing rows")
        lot = rng.random(batch.num_rows)  # one a row, in their order: the same however they fall into batches
        code = kinds.get_indexer(_kinds(batch, columns, edges or {}).to_pandas())
        some = np.flatnonzero(lot <= below[code])
        taken.append(without_dictionaries(pa.Table.from_batches([batch.take(pa.array(some))])))
        rows = np.concatenate([rows, done - batch.num_rows + some])
        lots, codes = np.concatenate([lots, lot[some]]), np.concatenate([codes, code[some]])
        if len(rows) > 2 * wanted or done == batches.rows:
            kept = _smallest(codes, lots, shares)
            rows, lots, codes = rows[kept], lots[kept], codes[kept]
            taken = [pa.concat_tables(taken, promote_options="permissive").take(pa.array(kept))]
            full = np.bincount(codes, minlength=len(kinds)) == shares
            below = np.where(full, pd.Series(lots).groupby(codes).max().reindex(range(len(kinds))), 1.0)
    converted, notes = convert_typed(taken[0], markers=missing)
    index = pd.Index(rows + 1, name="row")
    frame = pd.DataFrame({name: each.values.set_axis(index) for name, each in converted.items()}, index=index)
    notes += tuple(note for each in converted.values() for note in each.notes)
    missing_cells = {name: dict(each.missing) for name, each in converted.items() if each.missing}
    report = ReadReport(batches.files, missing_cells, notes)
    markers = {name: each.markers for name, each in converted.items() if each.markers}
    return Drawn(frame, report, markers, rows=batches.rows, strata=tuple(columns))


def _numbered(batches: Batches, columns: Sequence[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield batches, each with how many rows there were up to its end."""
    done = 0
    for batch in batches.read(columns):
        done += batch.num_rows
        yield done, batch


def _counts(
    batches: Batches, columns: list[str], edges: Mapping[str, Sequence[float]], progress: Progress
) -> tuple[list[str], dict[str, int]]:
    """Return the columns that make strata, and the rows of each kind."""
    if not columns:
        return [], {"": batches.rows}
    seen: dict[str, set[object]] = {name: set() for name in columns if name not in edges}
    counts: dict[str, int] = {}
    for done, batch in _numbered(batches, columns):
        progress(done / max(batches.rows, 1), "Counting the rows of each kind")
        for name, values in seen.items():
            found = batch.column(name).unique()
            values.update(range(_MOST_KINDS + 1) if len(found) > _MOST_KINDS + 1 else found.to_pylist())
        wide = {name for name, values in seen.items() if len(values - {None}) > _MOST_KINDS}
        if wide:
            return _counts(batches, [name for name in columns if name not in wide], edges, progress)
        for pair in _kinds(batch, columns, edges).value_counts().to_pylist():
            counts[pair["values"]] = counts.get(pair["values"], 0) + pair["counts"]
    return columns, counts


def _kinds(
    batch: pa.RecordBatch, columns: Sequence[str], edges: Mapping[str, Sequence[float]]
) -> pa.StringArray:
    """Return the values of some columns of each row as one text; numbers by where they lie between edges."""
    parts = [pa.array([""] * batch.num_rows)]
    for name in columns:
        column = batch.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if name in edges:
            values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            column = pa.array(np.searchsorted(np.asarray(edges[name], dtype=float), values, side="right"))
        gone = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
        parts.append(pc.if_else(gone, "\0", column.cast(pa.string())))
    return pc.binary_join_element_wise(*parts, "\x1f")


def _smallest(codes: np.ndarray, lots: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the places of the rows with the smallest lots, of each code as many as its share, in order."""
    order = np.lexsort((lots, codes))
    own = codes[order]
    return np.sort(order[np.arange(len(own)) - np.searchsorted(own, own) < shares[own]])
