"""Whether a spec's people can be counted batch by batch instead of being held."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audits.data import DataSpec
from audits.data.io.limits import COUNTED_FROM, beyond_limits, parquet_rows, text_lines
from audits.errors import InputError, NeedsPeople, not_counted
from audits.models import ModelSpec
from audits.runs.registry import AUDITS

if TYPE_CHECKING:
    from audits.data.groupby import Asked

DRAWN = 200_000
"""Rows sampled from a table that is too large for memory."""


def is_counted(data: DataSpec, model: ModelSpec, audits: Sequence[Any], paths: Sequence[Path]) -> bool:
    """Return whether people are counted batch by batch: of files with predictions, for audits of counts.

    So is all Parquet that is too large to read completely, and a table of a million rows, be it Parquet or
    delimited text, where all that the spec asks for can be counted.
    """
    if (
        data.draw is not None
        or data.outcome is not None
        or model.predictions is None
        or any(AUDITS[each.name].counted is None for each in audits)
    ):
        return False
    if beyond_limits(paths):
        return True
    if (parquet_rows(paths) or text_lines(paths) or 0) < COUNTED_FROM:
        return False
    try:
        columns_of_audits(data, audits)
    except NeedsPeople:
        return False
    return True


def columns_of_audits(data: DataSpec, audits: Sequence[Any]) -> dict[str, Asked]:
    """Return the columns that audits read besides those of the data, each with how it is cut.

    Raises
    ------
    InputError
        For what needs every row.
    """
    given = {
        "data.person": data.person is not None,
        "data.weights: kind: sampling": data.weighing is not None and data.weighing.kind == "sampling",
        "data.missing: drop": data.missing == "drop",
        "data.read.names": data.read.names is not None,
        "data.recode: take": any(recode.take for recode in data.recode.values()),
    }
    for where, there in given.items():
        if there:
            raise not_counted(where)
    asked: dict[str, Asked] = {}
    for request in audits:
        asked |= AUDITS[request.name].counted_columns(request.options, data)
    return asked


def sample_size(data: DataSpec, paths: Sequence[Path]) -> int | None:
    """Return how many rows of a table that is not counted are drawn; None where all are read.

    Raises
    ------
    InputError
        If rows are to be drawn of files that are no Parquet, or what is asked for needs all of them.
    """
    rows = parquet_rows(paths)
    if data.draw is not None and rows is None:
        raise InputError("data.draw", "needs Parquet files", advice="write the table as Parquet first")
    wanted = data.draw or (DRAWN if beyond_limits(paths) else None)
    if wanted is None or rows is None or rows <= wanted:
        return None
    given = {
        "data.person": data.person is not None,
        "data.weights: kind: sampling": data.weighing is not None and data.weighing.kind == "sampling",
        "data.repeated: drop": data.repeated == "drop",
        "data.read.names": data.read.names is not None,
        "a group of row numbers (data.recode)": any(recode.rows for recode in data.recode.values()),
    }
    for where, there in given.items():
        if there:
            raise InputError(
                where,
                "cannot be used where rows are sampled from a larger table",
                advice="sample them beforehand",
            )
    return wanted
