"""How a batch of measured people is stored: its place, its flags and the chart's alarms, all or nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from audits.errors import InputError
from audits.sensitivity import Scored
from audits.stats.control import Chart
from audits.stats.words import count, percent

__all__ = ["ALARMS", "BATCHES", "FLAGS", "MONITORS", "Batch", "State", "Stored"]

_COLUMNS = {
    "monitors": "id owner name note token_sha256 created keep_days keep_people webhook bundle weights chart "
    "batches people flagged chart_value",
    "monitor_batches": "monitor place received stated source idempotency_key sha256 first_person people "
    "flagged unseen mean chart_high chart_value sensitivities",
    "monitor_flags": "monitor person batch received client_id sensitivity score contributions",
    "monitor_alarms": "monitor person raised sentence webhook acknowledged note",
}
MONITORS, BATCHES, FLAGS, ALARMS = (
    sa.table(name, *map(sa.column, columns.split())) for name, columns in _COLUMNS.items()
)


@dataclass(frozen=True, eq=False)
class Batch:
    """People measured together, to be stored.

    Attributes
    ----------
    sha256 : str
        Of the bytes as they came: a replay under the same key must have the same.
    ids : tuple of str
        The sender's own, one a person or none at all.
    stated : str
        The sender's time, kept as it was said; the server's own counts.
    """

    monitor: str
    scored: Scored
    sha256: str
    key: str | None = None
    ids: tuple[str, ...] = ()
    stated: str = ""
    source: str = "http"


@dataclass(frozen=True)
class Stored:
    """How a batch ended: its place, whether it had been stored before, and the alarms it raised."""

    place: int
    replayed: bool
    alarms: tuple[str, ...] = ()


class State:
    """A monitor's counters within a writing transaction."""

    def __init__(self, row: Any, identity: str) -> None:
        self._known = row is not None
        self._identity = identity
        if row is not None:
            self._chart = Chart(**json.loads(row.chart))
            self._batches, self._people, self._flagged = row.batches, row.people, row.flagged
            self._value = row.chart_value

    @classmethod
    def read(cls, connection: sa.Connection, identity: str) -> State:
        """Read the counters of a monitor."""
        names = ("chart", "batches", "people", "flagged", "chart_value")
        asked = sa.select(*(MONITORS.c[name] for name in names)).where(MONITORS.c.id == identity)
        return cls(connection.execute(asked).first(), identity)

    def add(self, connection: sa.Connection, batch: Batch, now: float) -> Stored | InputError:
        """Store a batch, or say why not; the counters are written last, by `write`."""
        if not self._known:
            return InputError("monitor", "must be one that exists", batch.monitor)
        if batch.key is not None:
            asked = sa.select(BATCHES.c.place, BATCHES.c.sha256).where(
                BATCHES.c.monitor == batch.monitor, BATCHES.c.idempotency_key == batch.key
            )
            before = connection.execute(asked).first()
            if before is not None:
                if before.sha256 == batch.sha256:
                    return Stored(before.place, True)
                return InputError("Idempotency-Key", "was used for another content", batch.key)
        scored, first = batch.scored, self._people
        followed = self._chart.follow(scored.flagged, self._value)
        n, flagged = len(scored.flagged), np.flatnonzero(scored.flagged)
        row = {
            "monitor": batch.monitor,
            "place": self._batches,
            "received": now,
            "stated": batch.stated,
            "source": batch.source,
            "idempotency_key": batch.key,
            "sha256": batch.sha256,
            "first_person": first,
            "people": n,
            "flagged": len(flagged),
            "unseen": len(scored.unseen),
            "mean": float(scored.sensitivity.mean()),
            "chart_high": int(followed.values.max()),
            "chart_value": followed.value,
            "sensitivities": scored.sensitivity.astype("<f8").tobytes(),
        }
        connection.execute(sa.insert(BATCHES), [row])
        if len(flagged):
            connection.execute(sa.insert(FLAGS), [self._flag(batch, int(k), first, now) for k in flagged])
        alarms = []
        for place in followed.alarms:
            seen = self._flagged + int(np.count_nonzero(scored.flagged[: place + 1]))
            sentence = _alarm(self._chart, first + place + 1, seen)
            alarm = {"monitor": batch.monitor, "person": first + place, "raised": now, "sentence": sentence}
            connection.execute(
                sa.insert(ALARMS), [{**alarm, "webhook": "", "acknowledged": None, "note": ""}]
            )
            alarms.append(sentence)
        stored = Stored(self._batches, False, tuple(alarms))
        self._batches += 1
        self._people += n
        self._flagged += len(flagged)
        self._value = followed.value
        return stored

    def write(self, connection: sa.Connection) -> None:
        """Write the counters back."""
        if self._known:
            connection.execute(
                sa.update(MONITORS)
                .where(MONITORS.c.id == self._identity)
                .values(
                    batches=self._batches,
                    people=self._people,
                    flagged=self._flagged,
                    chart_value=self._value,
                )
            )

    def _flag(self, batch: Batch, place: int, first: int, now: float) -> dict[str, Any]:
        scored = batch.scored
        parts = dict(scored.top(place, most=len(scored.columns)))
        return {
            "monitor": batch.monitor,
            "person": first + place,
            "batch": self._batches,
            "received": now,
            "client_id": batch.ids[place] if batch.ids else "",
            "sensitivity": float(scored.sensitivity[place]),
            "score": float(scored.score[place]),
            "contributions": json.dumps(parts, ensure_ascii=False),
        }


def _alarm(chart: Chart, people: int, flagged: int) -> str:
    return (
        f"More people are flagged than the {percent(chart.rate, 1000)} that chance allows: the chart "
        f"reached its limit after {count(people)} people ({count(flagged)} flagged so far). Without a change "
        f"it does so once in {count(chart.people_between)} people on average."
    )
