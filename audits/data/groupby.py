# ruff: noqa: S608 - no value of a spec or a file stands in a query but as a number or a quoted text
"""People counted by what they have in common: a table of any length becomes a short one.

One line of the result stands for all rows that agree in every column counted, so that filters, recodes,
labels, groups and thresholds are applied to it as to the rows themselves, and sums over people are the same.

A column of numbers with many values is cut where something asks on which side of a number they lie: at
filters, bins, thresholds. Between two cuts all its values do the same, and one of them stands for all. Of a
column of scores their sums are kept besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from audits.data.io.large_table import LargeTable, hold_table, sql_number
from audits.errors import InputError
from audits.parallel import divide
from audits.progress import Progress, silent

MAX_VALUES = 2_000
"""Different values that a column is counted by."""


@dataclass(frozen=True)
class Quantiles:
    """So many bins of about as many people."""

    bins: int


Asked = tuple[float, ...] | int | Quantiles | None
"""How an audit cuts a column of numbers: at edges, into so many bins of a width, at quantiles, not at all."""

Cuts = Mapping[str, np.ndarray]
_MAX_LINES = 2_000_000


class TooMany(Exception):
    """A column that is counted by value has too many of them."""

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self.column = column


def count_rows(
    table: LargeTable,
    columns: Sequence[str],
    cuts: Cuts,
    *,
    scored: str | None = None,
    progress: Progress = silent,
) -> tuple[pa.Table, pd.DataFrame]:
    """Count the rows of a table by some of its columns.

    Parameters
    ----------
    columns : sequence of str
        What rows must agree in.
    cuts : mapping of str to rising array
        Columns that are cut, and where.
    scored : str, optional
        The column whose sums are kept.

    Returns
    -------
    table : Table
        One line for all rows that agree. In a column that is cut, the smallest number between two cuts stands
        for all; in one of scores the mean of the line.
    gathered : DataFrame
        What each line was gathered from: ``rows``; of the scores ``squares`` (of their distances from the
        line's mean), ``low`` and ``high``.

    Raises
    ------
    TooMany
        For a column that is not cut and has too many values.
    InputError
        If too many combinations of values occur, or the table cannot be read to its end.
    """
    if not table.rows:
        raise InputError("data.path", "must hold at least one row")
    progress(0.0, "Counting people")
    lines = _sum_parts(
        divide()(_count_lines, (tuple(columns), dict(cuts), scored), table.parts), columns, cuts
    )
    named = [name for name in columns if name not in cuts]
    for name in named:
        if pc.count_distinct(lines.column(f"k{columns.index(name)}")).as_py() > MAX_VALUES:
            raise TooMany(name)
    if len(lines) > _MAX_LINES:
        raise InputError(
            "data",
            f"must leave at most {_MAX_LINES:,} combinations of values of the columns counted by",
            [*named, *cuts],
            "cut a column of numbers with data.bins, recode one to fewer values, or leave one out",
        )
    return _readable_table(lines, table.schema, columns, cuts, scored)


def between(value: str, cuts: np.ndarray) -> str:
    """Return in SQL where a number lies: 2 k between cuts k - 1 and k, 2 k + 1 on cut k, -2 if missing."""

    def half(first: int, last: int) -> str:
        if first == last:
            return str(2 * first)
        middle = (first + last) // 2
        cut = sql_number(cuts[middle])
        return (
            f"CASE WHEN {value} < {cut} THEN {half(first, middle)} "
            f"WHEN {value} = {cut} THEN {2 * middle + 1} ELSE {half(middle + 1, last)} END"
        )

    return f"CASE WHEN {value} IS NULL OR isnan({value}) THEN -2 ELSE {half(0, len(cuts))} END"


def _count_lines(columns: Sequence[str], cuts: Cuts, scored: str | None, table: LargeTable) -> pa.Table:
    """Return a line for all rows that agree: ``k0`` …, ``n``, sums of scores, and ends of what is cut."""
    inner, keys, ends = [], [], []
    for place, name in enumerate(columns):
        column, value = table.column(name), f"v{place}"
        if name in cuts:
            inner.append(f"CAST({column} AS DOUBLE) AS {value}")
            keys.append(f"{between(value, cuts[name])} AS k{place}")
            ends += [f"min({value}) AS low{place}", f"max({value}) AS high{place}"]
        else:
            inner.append(f"{column} AS k{place}")
            keys.append(f"k{place}")
    score = "NULL::DOUBLE" if scored is None else f"CAST({table.column(scored)} AS DOUBLE)"
    sums = "count(*) AS n, sum(s) AS total, var_pop(s) * count(s) AS squares"
    by = ", ".join(f"k{place}" for place in range(len(columns)))
    return table.query(
        f"SELECT {', '.join([*keys, sums, *ends])} "
        f"FROM (SELECT {', '.join(inner)}, {score} AS s FROM people) "
        f"GROUP BY {by} ORDER BY {by} LIMIT {_MAX_LINES + 1}"
    )


def _sum_parts(parts: Iterable[pa.Table], columns: Sequence[str], cuts: Cuts) -> pa.Table:
    """Add up the counts of parts of the rows."""
    found = list(parts)
    if len(found) == 1:
        return found[0]
    whole = hold_table(pa.concat_tables(found))
    inner = ", ".join(f"c{place} AS {name}" for place, name in enumerate(whole.schema.names))
    by = ", ".join(f"k{place}" for place in range(len(columns)))
    ends = [
        f"{end}({side}{place}) AS {side}{place}"
        for place, name in enumerate(columns)
        if name in cuts
        for end, side in (("min", "low"), ("max", "high"))
    ]
    squares = "sum(squares + n * (total / n - mean) ** 2) AS squares"  # Chan, Golub, LeVeque (1979)
    sums = f"sum(n)::BIGINT AS n, sum(total) AS total, {squares}"
    mean = f"sum(total) OVER (PARTITION BY {by}) / sum(n) OVER (PARTITION BY {by}) AS mean"
    return whole.query(
        f"SELECT {', '.join([by, sums, *ends])} FROM (SELECT *, {mean} FROM (SELECT {inner} FROM people)) "
        f"GROUP BY {by} ORDER BY {by}"
    )


def _readable_table(
    lines: pa.Table, schema: pa.Schema, columns: Sequence[str], cuts: Cuts, scored: str | None
) -> tuple[pa.Table, pd.DataFrame]:
    """Return lines as a table of the columns counted, and what each was gathered from."""
    numbers = {
        name: np.asarray(lines.column(name).to_numpy(), dtype=float)
        for name in lines.column_names
        if not name.startswith("k")
    }
    gathered = pd.DataFrame({"rows": numbers["n"], "squares": np.nan_to_num(numbers["squares"])})
    gathered.index = pd.RangeIndex(1, len(gathered) + 1, name="row")
    mean = numbers["total"] / numbers["n"]
    shown: dict[str, pa.ChunkedArray | pa.Array] = {}
    for place, name in enumerate(columns):
        kind = schema.field(name).type
        key = lines.column(f"k{place}")
        if name not in cuts:
            shown[name] = key.cast(kind.value_type if pa.types.is_dictionary(kind) else kind)
            continue
        low, code = numbers[f"low{place}"], np.unique(key.to_numpy(), return_inverse=True)[1]
        least: np.ndarray = np.full(len(low), np.inf)
        np.fmin.at(least, code, low)
        values = np.clip(mean, low, numbers[f"high{place}"]) if name == scored else least[code]
        known = ~np.isnan(low)
        kind = pa.float64() if name == scored else kind
        shown[name] = pa.array(np.where(known, values, 0.0), mask=~known).cast(kind, safe=False)
    if scored is not None:
        place = columns.index(scored)
        gathered["low"] = numbers.get(f"low{place}", mean)
        gathered["high"] = numbers.get(f"high{place}", mean)
    return pa.table(shown), gathered


def values_at(table: LargeTable, name: str, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values of a column of numbers by their place in order, and how many rows each stands for.

    Parameters
    ----------
    shares : rising array (k,)
        Of the way from the smallest finite number to the largest: places on either side are looked at.

    Returns
    -------
    values, times : arrays (m,)
        Each value, and the rows from its place up to the next one's.
    """
    numbers = f"(SELECT CAST({table.column(name)} AS DOUBLE) AS v FROM people) WHERE isfinite(v)"
    n = table.query(f"SELECT count(*) FROM {numbers}").column(0)[0].as_py()
    at = shares * (n - 1)
    places = np.unique(np.concatenate([np.floor(at), np.ceil(at)]).astype(np.int64))
    found = table.query(
        "SELECT v FROM (SELECT v, count(*) AS n, sum(count(*)) OVER (ORDER BY v) AS upto "
        f"FROM {numbers} GROUP BY v) "
        f"JOIN (SELECT unnest({places.tolist()}) AS place) ON place < upto AND place >= upto - n "
        "ORDER BY place"
    )
    return np.asarray(found.column(0).to_numpy(), dtype=float), np.diff(np.append(places, n))
