# ruff: noqa: S608 - no value of a spec or a file stands in a query but as a number or a quoted text
"""Rows drawn from a table that is too large to be held, a fixed share of every kind of people.

Of each kind (stratum) those rows are taken whose content, with a number among equal rows, has the smallest
digest: the same ones however the table is sorted and falls into files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from audits.data.groupby import between
from audits.data.io.large_table import LargeTable
from audits.data.io.tables import Table, build_table
from audits.data.io.typed_tables import convert_typed, without_dictionaries
from audits.progress import Progress, silent
from audits.stats.sampling import apportion

_MAX_KINDS = 50
"""Different values up to which a column makes strata."""
_LOTS = 2**64


@dataclass(frozen=True, eq=False)
class SampledRows(Table):
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
    table: LargeTable,
    wanted: int,
    strata: Sequence[str],
    seed: int,
    *,
    edges: Mapping[str, Sequence[float]] | None = None,
    missing: Sequence[str] | None = None,
    progress: Progress = silent,
) -> SampledRows:
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
    progress(0.0, "Counting the rows of each kind")
    kinds = _kinds(table, strata, edges or {})
    key = " || '|' || ".join([*kinds.values(), "''"])
    counted = table.query(f"SELECT {key} AS kind, count(*) AS n FROM people GROUP BY 1 ORDER BY 1")
    counts = counted.column("n").to_numpy()
    quotas = apportion(counts, wanted)
    progress(0.3, "Drawing rows")
    names = ", ".join(f"c{place}" for place in range(len(table.schema)))
    turn = "row_number() OVER (PARTITION BY content ORDER BY row)"  # no column is carried along
    lots = (
        f"SELECT row, kind, md5_number('{seed} ' || content || ' ' || {turn}) AS lot "
        f"FROM (SELECT row, {key} AS kind, {_content(table)} AS content FROM people)"
    )
    for spare in (8.0, math.inf):  # more than a kind's quota lie below its bound, but for chance
        drawn = _quotas(counted.column("kind").to_pylist(), counts, quotas, spare)
        chosen = table.query(
            f"SELECT row FROM ({lots}) JOIN ({drawn}) USING (kind) WHERE lot >> 64 < bound "
            "QUALIFY row_number() OVER (PARTITION BY kind ORDER BY lot, row) <= quota"
        )
        if len(chosen) == quotas.sum():
            break
    found = table.query(
        f"SELECT {names}, row FROM people JOIN chosen USING (row) ORDER BY row", chosen=chosen
    )
    plain = without_dictionaries(table.schema.empty_table()).schema
    whole = found.drop_columns(["row"]).rename_columns(table.schema.names).cast(plain)
    converted, notes = convert_typed(whole, markers=missing)
    index = pd.Index(found.column("row").to_numpy(), name="row")
    drawn_rows = build_table(converted, index, table.files, notes)
    return SampledRows(**vars(drawn_rows), rows=table.rows, strata=tuple(kinds))


def _content(table: LargeTable) -> str:
    """Return in SQL a number of all that a row holds, whatever the order of columns and numbers' types."""
    parts = []
    for name in sorted(table.schema.names):
        kind, column = table.schema.field(name).type, table.column(name)
        number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        parts.append(f"nullif({column}::DOUBLE, 'nan')" if number else f"{column}::VARCHAR")
    return f"hash({', '.join(parts)})"


def _kinds(table: LargeTable, strata: Sequence[str], edges: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """Return in SQL the value of each column that makes strata, as text."""
    found = {}
    for name in strata:
        if name in edges and name in table.schema.names:
            place = between(f"CAST({table.column(name)} AS DOUBLE)", np.asarray(edges[name], dtype=float))
            found[name] = f"floor((({place}) + 1) / 2)::VARCHAR"
        elif name in table.schema.names:
            number = pa.types.is_floating(table.schema.field(name).type)
            value = f"nullif({table.column(name)}, 'nan')" if number else table.column(name)
            found[name] = f"coalesce({value}::VARCHAR, '')"
    few = [
        f"count(DISTINCT {value}) <= {_MAX_KINDS} AS {table.column(name)}" for name, value in found.items()
    ]
    if not few:
        return found
    [row] = table.query(f"SELECT {', '.join(few)} FROM people").to_pylist()
    return {name: value for name, value in found.items() if name in edges or row[table.column(name)]}


def _quotas(kinds: Sequence[str], counts: np.ndarray, quotas: np.ndarray, spare: float) -> str:
    """Return in SQL each kind, the rows drawn of it, and the lot below which these are looked for."""
    rows = []
    for kind, n, quota in zip(kinds, counts.tolist(), quotas.tolist(), strict=True):
        most = quota + spare * (math.sqrt(quota) + 4)
        bound = _LOTS if most >= n else int(most / n * _LOTS)
        rows.append("('{}', {}, {}::UHUGEINT)".format(kind.replace("'", "''"), quota, bound))
    return f"SELECT * FROM (VALUES {', '.join(rows)}) AS q(kind, quota, bound)"
