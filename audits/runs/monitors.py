"""Deployed monitors in the database: what was measured, who was flagged, and when the chart alarmed.

Everything of a batch is written in one transaction, so a batch is stored whole or not at all, and several
batches can share one. Nothing of a person's row is kept: of everybody the sensitivity, of the flagged also
the score, the parts by feature and the sender's own id.
"""

from __future__ import annotations

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

import sqlalchemy as sa

from audits.checks import allowed_address
from audits.errors import InputError
from audits.runs.database import Database
from audits.runs.monitor_history import History
from audits.runs.monitor_storing import ALARMS, BATCHES, FLAGS, MONITORS, Batch, State, Stored
from audits.sensitivity import MonitorBundle
from audits.sensitivity.monitor.watching import Alarm, Drift, Flag, Point
from audits.stats.control import Chart, design_chart, flag_rate_bound

__all__ = ["Alarm", "Batch", "Drift", "Flag", "Monitor", "Monitors", "Point", "Stored"]

MOST_PEOPLE = 10_000
"""People in a batch at most."""

_CONFIDENCE = 0.95
_LONGEST_KEY, _LONGEST_ID, _LONGEST_NAME, _LONGEST_NOTE = 200, 200, 200, 10_000


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


class Monitors(History):
    """The monitors of a database.

    Parameters
    ----------
    database : Database
    clock : callable
        Seconds since 1970.
    """

    def __init__(self, database: Database, clock: Any = time.time) -> None:
        super().__init__(database)
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
            connection.execute(sa.insert(MONITORS).values(**row))
        return self.get(identity), token

    def get(self, identity: str) -> Monitor:
        """Return a monitor.

        Raises
        ------
        InputError
            If there is none with that id.
        """
        with self._database.reading() as connection:
            row = connection.execute(sa.select(MONITORS).where(MONITORS.c.id == identity)).first()
        if row is None:
            raise InputError("monitor", "must be one that exists", identity)
        return _monitor(row)

    def of_owner(self, owner: str) -> list[Monitor]:
        """Return an owner's monitors, latest first."""
        asked = sa.select(MONITORS).where(MONITORS.c.owner == owner).order_by(MONITORS.c.created.desc())
        with self._database.reading() as connection:
            return [_monitor(row) for row in connection.execute(asked)]

    def identities(self) -> list[str]:
        """Return the ids of all monitors."""
        with self._database.reading() as connection:
            return [row.id for row in connection.execute(sa.select(MONITORS.c.id))]

    def delete(self, identity: str) -> None:
        """Remove a monitor and everything it measured."""
        with self._database.writing() as connection:
            for table in (FLAGS, ALARMS, BATCHES):
                connection.execute(sa.delete(table).where(table.c.monitor == identity))
            connection.execute(sa.delete(MONITORS).where(MONITORS.c.id == identity))
        self._database.scrub()

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
            states: dict[str, State] = {}
            for batch in batches:
                if batch.monitor not in states:
                    states[batch.monitor] = State.read(connection, batch.monitor)
                found.append(states[batch.monitor].add(connection, batch, self._clock()))
            for state in states.values():
                state.write(connection)
        return found

    def acknowledge(self, identity: str, person: int, note: str) -> None:
        """Note that somebody has looked at the alarm raised at `person`."""
        if len(note) > _LONGEST_NOTE:
            raise InputError("note", f"must be at most {_LONGEST_NOTE:,} characters")
        changed = {"acknowledged": self._clock(), "note": note}
        self._change_alarm(identity, person, changed)

    def acknowledge_all(self, identity: str, note: str) -> int:
        """Note that somebody has looked at every alarm that waits; return how many."""
        if len(note) > _LONGEST_NOTE:
            raise InputError("note", f"must be at most {_LONGEST_NOTE:,} characters")
        waits = sa.and_(ALARMS.c.monitor == identity, ALARMS.c.acknowledged.is_(None))
        with self._database.writing() as connection:
            changed = sa.update(ALARMS).where(waits).values(acknowledged=self._clock(), note=note)
            return int(connection.execute(changed).rowcount)

    def note_webhook(self, identity: str, person: int, outcome: str) -> None:
        """Note how telling the webhook of an alarm went."""
        self._change_alarm(identity, person, {"webhook": outcome[:500]})

    def drift(self, identity: str, people: int = 2000) -> Drift:
        """Hold the latest `people` against the baseline."""
        return self.held_against(self.get(identity).bundle, identity, people)

    def prune(self, identity: str) -> int:
        """Remove what is past the retention limits; return how many batches."""
        monitor = self.get(identity)
        oldest, first = self._clock() - 86_400.0 * monitor.keep_days, monitor.people - monitor.keep_people
        with self._database.writing() as connection:
            past = sa.and_(
                BATCHES.c.monitor == identity,
                sa.or_(BATCHES.c.received < oldest, BATCHES.c.first_person + BATCHES.c.people <= first),
            )
            removed = connection.execute(sa.delete(BATCHES).where(past)).rowcount
            connection.execute(
                sa.delete(FLAGS).where(
                    FLAGS.c.monitor == identity,
                    sa.or_(FLAGS.c.received < oldest, FLAGS.c.person < first),
                )
            )
        return int(removed)

    def _change_alarm(self, identity: str, person: int, changed: dict[str, Any]) -> None:
        with self._database.writing() as connection:
            done = connection.execute(
                sa.update(ALARMS)
                .where(ALARMS.c.monitor == identity, ALARMS.c.person == person)
                .values(**changed)
            )
            if done.rowcount == 0:
                raise InputError("alarm", "must be one of this monitor", person)


def check_webhook(address: str, hosts: Sequence[str]) -> None:
    """Raise `InputError` unless `address` is empty, or http(s) on one of `hosts` (maybe with a port)."""
    if address:
        allowed_address("webhook", address, hosts, "EVENHAND_WEBHOOK_HOSTS")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


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
