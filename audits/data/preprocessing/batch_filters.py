"""The rows of a table in batches that row filters keep, as they would be kept of the table read whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from audits.data.io.batches import Batches
from audits.data.io.typed_tables import convert_typed
from audits.data.preprocessing.filters import kept_rows
from audits.data.spec import Keep

__all__ = ["kept_batches"]

Passes = Callable[[pa.Array], np.ndarray]


def kept_batches(
    batches: Batches, rules: Sequence[Keep], *, missing: Sequence[str] | None, most: int
) -> Batches | None:
    """Return what filters keep; its ends and counts are those of the rows kept, found by reading them.

    A number passes or not by itself. What a text means depends on the others in its column, so that its
    different values are gathered first, by a pass of their own.

    Parameters
    ----------
    missing : sequence of str, optional
        As `convert_typed` takes it.
    most : int
        Different values that a column of anything but numbers may have; with more, None is returned.
    """
    tests: list[tuple[str, Passes]] = []
    for rule in rules:
        kind = batches.schema.field(rule.column).type
        passes: Passes | None = _by_number(rule, missing)
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            passes = _by_value(batches, rule, missing, most)
        if passes is None:
            return None
        tests.append((rule.column, passes))
    filtered = list(dict.fromkeys(column for column, _ in tests))

    def read(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        wanted = list(dict.fromkeys([*columns, *filtered]))
        for batch in batches.read(wanted):
            kept = np.ones(batch.num_rows, dtype=bool)
            for column, passes in tests:
                kept &= passes(batch.column(wanted.index(column)))
            yield batch.select(list(columns)).filter(pa.array(kept))

    return Batches(batches.schema, batches.rows, batches.files, read)


def _by_number(rule: Keep, missing: Sequence[str] | None) -> Passes:
    return lambda column: kept_rows(_frame(rule.column, column, missing), [rule])[0]


def _by_value(batches: Batches, rule: Keep, missing: Sequence[str] | None, most: int) -> Passes | None:
    """Return what looks values up among those that pass; None where a column has too many."""
    values: pa.Array | None = None
    for batch in batches.read([rule.column]):
        column = batch.column(0)
        found = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
        found = found.unique()
        values = found if values is None else pa.concat_arrays([values, found]).unique()
        if len(values) > most:
            return None
    if values is None:
        return lambda column: np.ones(len(column), dtype=bool)
    kept = kept_rows(_frame(rule.column, values, missing), [rule])[0]
    passing = values.filter(pa.array(kept))

    def passes(column: pa.Array) -> np.ndarray:
        plain = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
        there: np.ndarray = pc.is_in(plain, value_set=passing).to_numpy(zero_copy_only=False)
        return there

    return passes


def _frame(name: str, column: pa.Array, missing: Sequence[str] | None) -> pd.DataFrame:
    converted, _ = convert_typed(pa.table({name: column}), markers=missing)
    return pd.DataFrame({name: each.values for name, each in converted.items()})
