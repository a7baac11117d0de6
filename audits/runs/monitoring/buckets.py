"""A monitor's history in stretches of which there are never more than so many, however many people come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from audits.runs.monitoring.tables import BUCKETS

__all__ = ["LAST", "MOST", "Buckets"]

MOST = 512

# made once: what SQLAlchemy does to make a statement takes longer than SQLite to carry it out
_MINE = BUCKETS.c.monitor == sa.bindparam("own")
LAST = (
    sa.select(
        *(each.label(f"last_{each.name}") for each in BUCKETS.c),
        sa.select(sa.func.count()).select_from(BUCKETS).where(_MINE).scalar_subquery().label("last_number"),
        sa.select(sa.func.max(BUCKETS.c.batches)).where(_MINE).scalar_subquery().label("last_width"),
    )
    .where(_MINE)
    .order_by(BUCKETS.c.first_person.desc())
    .limit(1)
)
"""The last stretch of the monitor `own`, how many there are, and how wide: what `Buckets` begins with."""

_GROWS = ("received", "batches", "people", "flagged", "total", "chart_high", "chart_value")
_CHANGE = (
    sa.update(BUCKETS)
    .where(_MINE, BUCKETS.c.first_person == sa.bindparam("begins"))
    .values({name: sa.bindparam(name) for name in _GROWS})
)
_ADD = sa.insert(BUCKETS)
_NAMES = tuple(each.name for each in BUCKETS.c)


class Buckets:
    """One monitor's stretches in a transaction: the last one grows until it is as wide as the rest."""

    def __init__(self, connection: sa.Connection, identity: str, row: Any) -> None:
        self._connection, self._identity = connection, identity
        last = None
        if row.last_monitor is not None:
            last = {name: getattr(row, f"last_{name}") for name in _NAMES}
        self._number: int = row.last_number or 0
        self._width: int | None = row.last_width
        self._last: dict[str, Any] | None = last
        self._stored = last is not None
        self._changed = False

    def add(self, batch: Mapping[str, Any]) -> None:
        """Take a batch as it is stored."""
        own = {
            "monitor": self._identity,
            "first_person": batch["first_person"],
            "began": batch["received"],
            "received": batch["received"],
            "first_batch": batch["place"],
            "batches": 1,
            "people": batch["people"],
            "flagged": batch["flagged"],
            "total": batch["mean"] * batch["people"],
            "chart_high": batch["chart_high"],
            "chart_value": batch["chart_value"],
        }
        if self._last is None or self._last["batches"] >= (self._width or 1):
            self.write()
            self._last, self._stored = own, False
            self._number += 1
        else:
            self._last = _joined(self._last, own)
        self._changed = True
        if self._number > MOST:
            self._halve()

    def write(self) -> None:
        """Write the last stretch."""
        if self._last is None or not self._changed:
            return
        if self._stored:
            own = {"own": self._identity, "begins": self._last["first_person"]}
            self._connection.execute(_CHANGE, {**own, **{name: self._last[name] for name in _GROWS}})
        else:
            self._connection.execute(_ADD, [self._last])
        self._stored, self._changed = True, False

    def _halve(self) -> None:
        """Join neighbours until there are few enough."""
        self.write()
        mine = BUCKETS.c.monitor == self._identity
        asked = sa.select(BUCKETS).where(mine).order_by(BUCKETS.c.first_person)
        rows = [dict(row._mapping) for row in self._connection.execute(asked)]
        while len(rows) > MOST // 2 + 1:
            pairs = [rows[place : place + 2] for place in range(0, len(rows), 2)]
            rows = [_joined(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        self._connection.execute(sa.delete(BUCKETS).where(mine))
        self._connection.execute(sa.insert(BUCKETS), rows)
        self._number, self._last = len(rows), rows[-1]
        self._width = max(row["batches"] for row in rows)


def _joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    sums = {name: first[name] + second[name] for name in ("batches", "people", "flagged", "total")}
    high = max(first["chart_high"], second["chart_high"])
    return {
        **first,
        **sums,
        "received": second["received"],
        "chart_high": high,
        "chart_value": second["chart_value"],
    }
