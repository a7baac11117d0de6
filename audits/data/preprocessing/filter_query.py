# ruff: noqa: S608 - no value of a spec or a file stands in a query but as a number or a quoted text
"""Row filters as a query's condition: the rows that they keep of a table read whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from audits.data.groupby import MAX_VALUES, between
from audits.data.io.large_table import LargeTable
from audits.data.io.typed_tables import convert_typed
from audits.data.preprocessing.filters import kept_rows
from audits.data.spec import Keep


def filter_table(
    table: LargeTable, rules: Sequence[Keep], missing: Sequence[str] | None
) -> LargeTable | None:
    """Return the rows that filters keep; None where a column of anything but numbers has too many values.

    A filter is tried on the values that a column has, or on numbers on all sides of those it names: what lies
    between two of these passes or not together.

    Parameters
    ----------
    missing : sequence of str, optional
        As `convert_typed` takes it.
    """
    wheres = [table.where]
    for rule in rules:
        kind, column = table.schema.field(rule.column).type, table.column(rule.column)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            wheres.append(_by_number(column, rule, missing))
            continue
        found = table.query(
            f"SELECT DISTINCT {column} AS value, {column}::VARCHAR FROM people LIMIT {MAX_VALUES + 1}"
        )
        if len(found) > MAX_VALUES:
            return None
        kept = _passes(rule, found.column(0), missing)
        texts = [text for text, keep in zip(found.column(1).to_pylist(), kept, strict=True) if keep]
        listed = ", ".join("'{}'".format(each.replace("'", "''")) for each in texts if each is not None)
        null = "true" if None in texts else "false"
        wheres.append(f"coalesce({column}::VARCHAR IN ({listed or 'NULL'}), {null})")
    return dataclasses.replace(table, where=" AND ".join(wheres))


def rule_numbers(rule: Keep) -> list[float]:
    """Return the numbers that a filter names."""
    named = [*(rule.between or ()), *(rule.within or ()), *(rule.not_in or ())]
    named += [rule.at_least, rule.at_most, rule.above, rule.below]
    numbers = pd.to_numeric(pd.Series(named, dtype=object), errors="coerce")
    return [float(each) for each in numbers.dropna()]


def _by_number(column: str, rule: Keep, missing: Sequence[str] | None) -> str:
    points = np.unique(
        rule_numbers(dataclasses.replace(rule, not_in=(*(rule.not_in or ()), *(missing or ()))))
    )
    tried = np.full(2 * len(points) + 1, 0.0)
    if len(points):
        tried[1::2] = points
        tried[2:-1:2] = (points[1:] + points[:-1]) / 2
        tried[[0, -1]] = np.nextafter(points[0], -np.inf), np.nextafter(points[-1], np.inf)
    kept = _passes(rule, pa.chunked_array([pa.array([*tried, None], pa.float64())]), missing)
    codes = [str(code) for code, keep in zip([*range(len(tried)), -2], kept, strict=True) if keep]
    return f"{between(f'CAST({column} AS DOUBLE)', points)} IN ({', '.join(codes) or 'NULL'})"


def _passes(rule: Keep, values: pa.ChunkedArray, missing: Sequence[str] | None) -> np.ndarray:
    converted, _ = convert_typed(pa.table({rule.column: values}), markers=missing)
    return kept_rows(pd.DataFrame({name: each.values for name, each in converted.items()}), [rule])[0]
