"""A monitor's history in at most `MAX` stretches, however many people come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from audits.monitor.tables import BUCKETS

MAX = 512


def extend_history(connection: sa.Connection, identity: str, batches: Sequence[Mapping[str, Any]]) -> None:
    """Add stored batches: the last stretch grows until it is as wide as the widest, then the next begins."""
    mine = BUCKETS.c.monitor == identity
    last = connection.execute(sa.select(BUCKETS).where(mine).order_by(BUCKETS.c.first_person.desc())).first()
    asked = sa.select(sa.func.count(), sa.func.max(BUCKETS.c.batches)).select_from(BUCKETS).where(mine)
    number, width = connection.execute(asked).one()
    changed = [] if last is None else [dict(last._mapping)]
    before = len(changed)
    for batch in batches:
        if changed and changed[-1]["batches"] < width:
            changed[-1] = merge(changed[-1], _stretch(identity, batch))
        else:
            changed.append(_stretch(identity, batch))
            width = width or 1
    connection.execute(sa.delete(BUCKETS).where(mine, BUCKETS.c.first_person >= changed[0]["first_person"]))
    connection.execute(sa.insert(BUCKETS), changed)
    if number - before + len(changed) > MAX:
        _halve(connection, mine)


def _halve(connection: sa.Connection, mine: Any) -> None:
    """Join neighbors until there are few enough."""
    asked = sa.select(BUCKETS).where(mine).order_by(BUCKETS.c.first_person)
    rows = [dict(row._mapping) for row in connection.execute(asked)]
    while len(rows) > MAX // 2 + 1:
        pairs = [rows[place : place + 2] for place in range(0, len(rows), 2)]
        rows = [merge(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    connection.execute(sa.delete(BUCKETS).where(mine))
    connection.execute(sa.insert(BUCKETS), rows)


def _stretch(identity: str, batch: Mapping[str, Any]) -> dict[str, Any]:
    same = ("first_person", "received", "people", "flagged", "chart_high", "chart_value")
    return {
        "monitor": identity,
        **{name: batch[name] for name in same},
        "began": batch["received"],
        "first_batch": batch["place"],
        "batches": 1,
        "total": batch["mean"] * batch["people"],
    }


def merge(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return two stretches, of which the second follows the first, as one."""
    sums = {name: first[name] + second[name] for name in ("batches", "people", "flagged", "total")}
    high = max(first["chart_high"], second["chart_high"])
    last = {name: second[name] for name in ("received", "chart_value")}
    return {**first, **sums, **last, "chart_high": high}
