"""Deployed monitors in the database: what was measured, who was flagged, and when the chart alarmed.

Everything of a batch is written in one transaction, so a batch is stored whole or not at all, and several
batches can share one. Nothing of a person's row is kept: of everybody the sensitivity, of the flagged also
the score, the parts by feature and the sender's own id.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import sqlalchemy as sa
from scipy.stats import ks_2samp

from audits.errors import InputError
from audits.runs.database import Database
from audits.sensitivity import MonitorBundle, Scored
from audits.sensitivity.watching import Alarm, Drift, Flag, Point
from audits.stats import wilson
from audits.stats.control import Chart, design_chart, flag_rate_bound
from audits.stats.words import count, percent

__all__ = ["Alarm", "Batch", "Drift", "Flag", "Monitor", "Monitors", "Point", "Stored"]

MOST_PEOPLE = 10_000
"""People in a batch at most."""

_CONFIDENCE = 0.95
_LONGEST_KEY, _LONGEST_ID, _LONGEST_NAME, _LONGEST_NOTE = 200, 200, 200, 10_000
_COLUMNS = {
    "monitors": "id owner name note token_sha256 created keep_days keep_people webhook bundle weights chart "
    "batches people flagged chart_value",
    "monitor_batches": "monitor place received stated source idempotency_key sha256 first_person people "
    "flagged unseen mean chart_high chart_value sensitivities",
    "monitor_flags": "monitor person batch received client_id sensitivity score contributions",
    "monitor_alarms": "monitor person raised sentence webhook acknowledged note",
}
_MONITORS, _BATCHES, _FLAGS, _ALARMS = (
    sa.table(name, *map(sa.column, columns.split())) for name, columns in _COLUMNS.items()
)


@dataclass(frozen=True, eq=False)
class Monitor:
    """One monitor.

    Attributes
    ----------
    keep_days, keep_people : int
        What is older, or beyond so many people, is removed.
    webhook : str
        Address told of alarms; empty for none.
    people, flagged : int
        Ever measured, and flagged.
    """

    id: str
    owner: str
    name: str
    note: str
    created: float
    keep_days: int
    keep_people: int
    webhook: str
    chart: Chart
    people: int
    flagged: int
    chart_value: int
    _token: str
    _text: str
    _weights: bytes

    @cached_property
    def bundle(self) -> MonitorBundle:
        """What measures people."""
        return MonitorBundle.parse(self._text, self._weights)

    def opens(self, token: str) -> bool:
        """Tell whether `token` is this monitor's, in a time that does not depend on how alike they are."""
        return hmac.compare_digest(_digest(token), self._token)


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


class Monitors:
    """The monitors of a database.

    Parameters
    ----------
    database : Database
    clock : callable
        Seconds since 1970.
    """

    def __init__(self, database: Database, clock: Any = time.time) -> None:
        self._database = database
        self._clock = clock

    def create(
        self,
        bundle: MonitorBundle,
        *,
        name: str,
        owner: str = "",
        note: str = "",
        keep_days: int = 90,
        keep_people: int = 1_000_000,
        people_between: float = 100_000.0,
        times: float = 2.0,
        webhook: str = "",
        webhook_hosts: Sequence[str] = (),
    ) -> tuple[Monitor, str]:
        """Create a monitor; return it and its token, which is kept nowhere.

        Parameters
        ----------
        people_between : float
            Average number of people between false alarms that the chart promises, for a share of flags up
            to what the size of the reference allows (95 % confidence).
        times : float
            How many times that share the chart is tuned to find.
        webhook : str
            Address told of alarms; its host must be one of `webhook_hosts`.

        Raises
        ------
        InputError
            If a value is out of range, or the webhook's host is not allowed.
        """
        for where, text, longest in (("name", name, _LONGEST_NAME), ("note", note, _LONGEST_NOTE)):
            if len(text) > longest:
                raise InputError(where, f"must be at most {longest:,} characters")
        if not name.strip():
            raise InputError("name", "must not be empty")
        if keep_days < 1 or keep_people < 1:
            raise InputError("keep_days and keep_people", "must be at least 1", (keep_days, keep_people))
        check_webhook(webhook, webhook_hosts)
        rate = flag_rate_bound(bundle.above, bundle.people, confidence=_CONFIDENCE)
        chart = design_chart(rate, times=times, people_between=people_between)
        text, weights = bundle.dump()
        token, identity = secrets.token_urlsafe(32), secrets.token_hex(16)
        row = {
            "id": identity,
            "owner": owner,
            "name": name.strip(),
            "note": note,
            "token_sha256": _digest(token),
            "created": self._clock(),
            "keep_days": keep_days,
            "keep_people": keep_people,
            "webhook": webhook,
            "bundle": text,
            "weights": weights,
            "chart": json.dumps(dataclasses.asdict(chart)),
            **dict.fromkeys(("batches", "people", "flagged", "chart_value"), 0),
        }
        with self._database.writing() as connection:
            connection.execute(sa.insert(_MONITORS).values(**row))
        return self.get(identity), token

    def get(self, identity: str) -> Monitor:
        """Return a monitor.

        Raises
        ------
        InputError
            If there is none with that id.
        """
        with self._database.reading() as connection:
            row = connection.execute(sa.select(_MONITORS).where(_MONITORS.c.id == identity)).first()
        if row is None:
            raise InputError("monitor", "must be one that exists", identity)
        return _monitor(row)

    def of_owner(self, owner: str) -> list[Monitor]:
        """Return an owner's monitors, latest first."""
        asked = sa.select(_MONITORS).where(_MONITORS.c.owner == owner).order_by(_MONITORS.c.created.desc())
        with self._database.reading() as connection:
            return [_monitor(row) for row in connection.execute(asked)]

    def identities(self) -> list[str]:
        """Return the ids of all monitors."""
        with self._database.reading() as connection:
            return [row.id for row in connection.execute(sa.select(_MONITORS.c.id))]

    def delete(self, identity: str) -> None:
        """Remove a monitor and everything it measured."""
        with self._database.writing() as connection:
            for table in (_FLAGS, _ALARMS, _BATCHES):
                connection.execute(sa.delete(table).where(table.c.monitor == identity))
            connection.execute(sa.delete(_MONITORS).where(_MONITORS.c.id == identity))

    def store(self, batches: Sequence[Batch]) -> list[Stored | InputError]:
        """Store batches in one transaction, in order; once this returns they are on disk.

        A batch whose key is known with the same content is answered as replayed and not stored again; with
        other content, or for an unknown monitor, its place in the list holds the error.

        Raises
        ------
        RunFailed
            If the database cannot be used; then none is stored.
        """
        found: list[Stored | InputError] = []
        with self._database.writing() as connection:
            states: dict[str, _State] = {}
            for batch in batches:
                if batch.monitor not in states:
                    states[batch.monitor] = _State.read(connection, batch.monitor)
                found.append(states[batch.monitor].add(connection, batch, self._clock()))
            for state in states.values():
                state.write(connection)
        return found

    def points(self, identity: str, most: int = 500) -> list[Point]:
        """Return the chart's latest stretches, oldest first: one a batch, joined where there are more."""
        asked = (
            sa.select(
                _BATCHES.c.received,
                _BATCHES.c.first_person,
                _BATCHES.c.people,
                _BATCHES.c.flagged,
                _BATCHES.c.chart_high,
                _BATCHES.c.chart_value,
                _BATCHES.c.mean,
            )
            .where(_BATCHES.c.monitor == identity)
            .order_by(_BATCHES.c.place.desc())
            .limit(20_000)
        )
        with self._database.reading() as connection:
            rows = connection.execute(asked).all()[::-1]
        if not rows:
            return []
        return [
            _joined(rows[part[0] : part[-1] + 1])
            for part in np.array_split(range(len(rows)), min(most, len(rows)))
        ]

    def flags(self, identity: str, most: int = 200) -> list[Flag]:
        """Return the latest flagged people, latest first."""
        asked = (
            sa.select(_FLAGS).where(_FLAGS.c.monitor == identity).order_by(_FLAGS.c.person.desc()).limit(most)
        )
        with self._database.reading() as connection:
            return [
                Flag(
                    row.person,
                    row.received,
                    row.client_id,
                    row.sensitivity,
                    row.score,
                    json.loads(row.contributions),
                )
                for row in connection.execute(asked)
            ]

    def alarms(self, identity: str, most: int = 200) -> list[Alarm]:
        """Return the alarms, latest first."""
        asked = (
            sa.select(_ALARMS)
            .where(_ALARMS.c.monitor == identity)
            .order_by(_ALARMS.c.person.desc())
            .limit(most)
        )
        with self._database.reading() as connection:
            return [
                Alarm(row.person, row.raised, row.sentence, row.webhook, row.acknowledged, row.note)
                for row in connection.execute(asked)
            ]

    def acknowledge(self, identity: str, person: int, note: str) -> None:
        """Note that somebody has looked at the alarm raised at `person`."""
        if len(note) > _LONGEST_NOTE:
            raise InputError("note", f"must be at most {_LONGEST_NOTE:,} characters")
        changed = {"acknowledged": self._clock(), "note": note}
        self._change_alarm(identity, person, changed)

    def note_webhook(self, identity: str, person: int, outcome: str) -> None:
        """Note how telling the webhook of an alarm went."""
        self._change_alarm(identity, person, {"webhook": outcome[:500]})

    def drift(self, identity: str, people: int = 2000) -> Drift:
        """Hold the latest `people` against the baseline."""
        monitor = self.get(identity)
        asked = (
            sa.select(_BATCHES.c.sensitivities)
            .where(_BATCHES.c.monitor == identity)
            .order_by(_BATCHES.c.place.desc())
            .limit(people)
        )
        latest: list[np.ndarray] = []
        size = 0
        with self._database.reading() as connection:
            for row in connection.execute(asked):
                latest.append(np.frombuffer(row.sensitivities, dtype="<f8")[::-1])
                size += len(latest[-1])
                if size >= people:
                    break
        values = np.concatenate(latest)[:people] if latest else np.empty(0)
        above = int(np.count_nonzero(values > monitor.bundle.threshold))
        if len(values) < 2:
            return Drift(len(values), None, None, wilson(above, len(values)), values)
        found = ks_2samp(values, monitor.bundle.reference)
        return Drift(
            len(values), float(found.statistic), float(found.pvalue), wilson(above, len(values)), values
        )

    def prune(self, identity: str) -> int:
        """Remove what is past the retention limits; return how many batches."""
        monitor = self.get(identity)
        oldest, first = self._clock() - 86_400.0 * monitor.keep_days, monitor.people - monitor.keep_people
        with self._database.writing() as connection:
            past = sa.and_(
                _BATCHES.c.monitor == identity,
                sa.or_(_BATCHES.c.received < oldest, _BATCHES.c.first_person + _BATCHES.c.people <= first),
            )
            removed = connection.execute(sa.delete(_BATCHES).where(past)).rowcount
            connection.execute(
                sa.delete(_FLAGS).where(
                    _FLAGS.c.monitor == identity,
                    sa.or_(_FLAGS.c.received < oldest, _FLAGS.c.person < first),
                )
            )
        return int(removed)

    def _change_alarm(self, identity: str, person: int, changed: dict[str, Any]) -> None:
        with self._database.writing() as connection:
            done = connection.execute(
                sa.update(_ALARMS)
                .where(_ALARMS.c.monitor == identity, _ALARMS.c.person == person)
                .values(**changed)
            )
            if done.rowcount == 0:
                raise InputError("alarm", "must be one of this monitor", person)


class _State:
    """A monitor's counters within a writing transaction."""

    def __init__(self, row: Any, identity: str) -> None:
        self._known = row is not None
        self._identity = identity
        if row is not None:
            self._chart = Chart(**json.loads(row.chart))
            self._batches, self._people, self._flagged = row.batches, row.people, row.flagged
            self._value = row.chart_value

    @classmethod
    def read(cls, connection: sa.Connection, identity: str) -> _State:
        names = ("chart", "batches", "people", "flagged", "chart_value")
        asked = sa.select(*(_MONITORS.c[name] for name in names)).where(_MONITORS.c.id == identity)
        return cls(connection.execute(asked).first(), identity)

    def add(self, connection: sa.Connection, batch: Batch, now: float) -> Stored | InputError:
        if not self._known:
            return InputError("monitor", "must be one that exists", batch.monitor)
        if batch.key is not None:
            asked = sa.select(_BATCHES.c.place, _BATCHES.c.sha256).where(
                _BATCHES.c.monitor == batch.monitor, _BATCHES.c.idempotency_key == batch.key
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
        connection.execute(sa.insert(_BATCHES), [row])
        if len(flagged):
            connection.execute(sa.insert(_FLAGS), [self._flag(batch, int(k), first, now) for k in flagged])
        alarms = []
        for place in followed.alarms:
            seen = self._flagged + int(np.count_nonzero(scored.flagged[: place + 1]))
            sentence = _alarm(self._chart, first + place + 1, seen)
            alarm = {"monitor": batch.monitor, "person": first + place, "raised": now, "sentence": sentence}
            connection.execute(
                sa.insert(_ALARMS), [{**alarm, "webhook": "", "acknowledged": None, "note": ""}]
            )
            alarms.append(sentence)
        stored = Stored(self._batches, False, tuple(alarms))
        self._batches += 1
        self._people += n
        self._flagged += len(flagged)
        self._value = followed.value
        return stored

    def write(self, connection: sa.Connection) -> None:
        if self._known:
            connection.execute(
                sa.update(_MONITORS)
                .where(_MONITORS.c.id == self._identity)
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


def check_webhook(address: str, hosts: Sequence[str]) -> None:
    """Raise `InputError` unless `address` is empty, or http(s) on one of `hosts` (maybe with a port)."""
    if not address:
        return
    with contextlib.suppress(ValueError):
        parts = urlsplit(address)
        place = parts.netloc.lower()
        allowed = {host.lower() for host in hosts}
        if parts.scheme in {"http", "https"} and "@" not in place and place in allowed:
            return
    raise InputError(
        "webhook",
        "must be an http(s) address on an allowed host",
        address,
        f"allowed are {', '.join(hosts)}" if hosts else "EVENHAND_WEBHOOK_HOSTS names none",
    )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _alarm(chart: Chart, people: int, flagged: int) -> str:
    return (
        f"More people are flagged than the {percent(chart.rate, 1000)} that chance allows: the chart "
        f"reached its limit at person {count(people)} ({count(flagged)} flagged so far). Without a change "
        f"it does so once in {count(chart.people_between)} people on average."
    )


def _joined(rows: Sequence[Any]) -> Point:
    people = sum(row.people for row in rows)
    return Point(
        rows[-1].received,
        rows[0].first_person,
        people,
        sum(row.flagged for row in rows),
        max(row.chart_high for row in rows),
        rows[-1].chart_value,
        sum(row.mean * row.people for row in rows) / people,
    )


def _monitor(row: Any) -> Monitor:
    return Monitor(
        id=row.id,
        owner=row.owner,
        name=row.name,
        note=row.note,
        created=row.created,
        keep_days=row.keep_days,
        keep_people=row.keep_people,
        webhook=row.webhook,
        chart=Chart(**json.loads(row.chart)),
        people=row.people,
        flagged=row.flagged,
        chart_value=row.chart_value,
        _token=row.token_sha256,
        _text=row.bundle,
        _weights=bytes(row.weights),
    )
