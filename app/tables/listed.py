"""The tables with one row a person that pages list, made by name: the first rows for a page, all for a file.

A page draws the first people of a table; the file that holds them all is written by another process, which
makes the same table from the same result (`app.tables.exports`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from app.registry import own_module
from app.tables.handles import DataHandle
from app.tables.people import FAVORABLE, without_group
from audits.data import AuditData
from audits.runs.result import RunResult
from audits.stats.text import in_words


@dataclass(frozen=True, eq=False)
class PeopleTable:
    """A table of people of a run: whoever calls it gets it.

    Attributes
    ----------
    found : RunResult
        The run, of whose first audit it is.
    table : str
        What it shows: a name in ``TABLES`` of ``app/<audit>/people_table.py``, ``otherwise`` of a run
        with two
        models, or a table of the audit's result.
    arguments : mapping
        What else decides it, plain data.
    rows : Index or None
        The only people it is about, by their row numbers.
    """

    found: RunResult
    table: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    rows: pd.Index | None = None

    def __call__(self) -> pd.DataFrame:
        """Return the table."""
        if self.table in _SHARED:
            return _SHARED[self.table](self.found)
        audit = self.found.audits[0]
        listing = own_module(audit.name, "people_table")
        make = None if listing is None else listing.TABLES.get(self.table)
        if make is None:
            table: pd.DataFrame = getattr(audit.result, self.table)
        else:
            table = make(audit.result, **self.arguments, **({} if self.rows is None else {"rows": self.rows}))
        return table


@dataclass(frozen=True)
class Order:
    """Whom a table shows first: by a column of numbers, and among equals those who come first in the table.

    Of people without a number, none comes before one who has it.
    """

    by: str
    falling: bool = False

    def places(self, table: pd.DataFrame, most: int | None = None) -> np.ndarray:
        """Return the places of the first `most` people, or of all, without copying the table."""
        values = table[self.by].to_numpy(dtype=float)
        if self.falling:
            values = -values
        if most is None or len(values) <= most:
            return np.argsort(values, kind="stable")
        last = np.partition(values, most - 1)[most - 1]
        near = np.flatnonzero(~(values > last))  # where it is missing, all are
        return near[np.argsort(values[near], kind="stable")[:most]]


@dataclass(frozen=True, eq=False)
class RawCells:
    """Fetches columns of the data, for people by their row numbers, with the names that a page gives."""

    data: DataHandle | AuditData
    names: Mapping[str, str]

    def __call__(self, rows: pd.Index) -> pd.DataFrame:
        """Return those columns of these people."""
        return self.data.frame.loc[rows, list(self.names)].rename(columns=self.names)


def raw_cells(data: DataHandle, taken: Collection[Hashable], after: str = "") -> RawCells:
    """Return what fetches people's protected attributes and features; marked where their name is `taken`.

    All have `after` behind their names.
    """
    columns = [name for name in dict.fromkeys((*data.protected, *data.features)) if name in data.frame]
    return RawCells(data, {name: f"{name} (data)" if name in taken else f"{name}{after}" for name in columns})


def _otherwise(found: RunResult) -> pd.DataFrame:
    """Return the people whom the second model of a comparison decides otherwise."""
    assert found.compared is not None  # noqa: S101  (the page asked for it)
    table = found.compared.changes.people
    words = {name: table[name].map(FAVORABLE) for name in ("first decision", "second decision")}
    words |= {name: table[name].map(in_words) for name in map(str, table) if name.startswith("group: ")}
    return without_group(table.assign(**words))


_SHARED: Mapping[str, Callable[[RunResult], pd.DataFrame]] = {"otherwise": _otherwise}
