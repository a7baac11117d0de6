"""Rows of a spec's table sampled at random, where the table is larger than what is held."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from audits.data import AuditData, Table
from audits.data.io.large_table import open_table
from audits.data.io.sampling import SampledRows, draw_rows
from audits.progress import Progress, silent
from audits.runs.digests import path_digest

if TYPE_CHECKING:
    from audits.data import DataSpec


def of_all(data: AuditData, table: Table) -> AuditData:
    """Return data made of a table; where its rows were drawn, with the others counted and told."""
    if not isinstance(table, SampledRows):
        return data
    held = len(table.frame)
    alike = f", in the same shares of {' × '.join(table.strata)} as in the file," if table.strata else ""
    note = (
        f"{held:,} of {table.rows:,} rows were sampled at random{alike}, and numbers are based on those. "
        f"With all rows, intervals would be about {math.sqrt(table.rows / held):.2g} times narrower."
    )
    return dataclasses.replace(
        data,
        rows_read=table.rows,
        excluded={"not sampled": table.rows - held, **data.excluded},
        notes=(note, *data.notes),
    )


def draw_table(
    data: DataSpec, paths: Sequence[Path], seed: int, wanted: int, progress: Progress = silent
) -> SampledRows:
    """Draw rows of a spec's Parquet by lot; the same ones whenever the same spec is run.

    Raises
    ------
    InputError
        As `open_table`.
    """
    table = open_table(paths, digest=lambda file: path_digest(file, "data.path", file.name))
    return draw_rows(
        table,
        wanted,
        _strata(data),
        seed,
        edges=_edges(data),
        missing=data.read.missing,
        progress=progress,
    )


def _strata(data: DataSpec) -> list[str]:
    """Return the columns of the file that label and protected attributes are made of."""
    # quantiles are known once the rows are read
    named = [
        data.label_column,
        *(name for name in data.protected if not isinstance(data.bins.get(name), int)),
    ]
    for name in tuple(named):
        recode = data.recode.get(name or "")
        if recode is not None:
            named.append(recode.source)
            named += [rule.column for rule in recode.where]
    return list(dict.fromkeys(name for name in named if name is not None))


def _edges(data: DataSpec) -> dict[str, tuple[float, ...]]:
    found = {name: edges for name, edges in data.bins.items() if not isinstance(edges, int)}
    return found if data.cut is None else {**found, data.cut.column: (data.cut.bound,)}
