"""Deployed monitors in the database: what was measured, who was flagged, and when the chart alarmed.

Everything of a batch is written in one transaction, so a batch is stored whole or not at all, and several
batches can share one. Nothing of a person's row is kept unless the monitor keeps rows (``keep_rows``): of
everyone the sensitivity; of the flagged also the score, the parts by feature and the sender's own id; of
whoever is sent with an id also score, decision and the protected values sent, until retention removes them.
"""

from __future__ import annotations

import dataclasses
import hmac
import json
import math
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import sqlalchemy as sa

from audits.errors import InputError
from audits.monitor.admin import Admin, Token, check_name, check_text, check_webhook, digest, tokens_of
from audits.monitor.batches import Batch
from audits.monitor.bundle import MonitorBundle
from audits.monitor.dashboard import Drift
from audits.monitor.detectors import SHARES, Detectors
from audits.monitor.history import History
from audits.monitor.storage import Known, State, Stored
from audits.monitor.tables import (
    BATCHES,
    BUCKETS,
    BUNDLES,
    CASES,
    FLAGS,
    MESSAGES,
    MONITORS,
    PEOPLE,
    PREDICTIONS,
    STATES,
    TOKENS,
)
from audits.runs.storage.database import Database
from audits.stats.control import Chart, design_chart, flag_rate_bound

MAX_PEOPLE = 10_000
"""People in a batch at most."""

_CONFIDENCE = 0.95
_MAX_REMEMBERED = 100
_EMPTY = {"bundle": "", "weights": b""}  # columns that are no longer used
_OF_ONE = (FLAGS, CASES, BATCHES, BUCKETS, STATES, PEOPLE, PREDICTIONS, MESSAGES, TOKENS, BUNDLES)
_PLAIN = sa.select(*(each for each in MONITORS.c if each.name not in _EMPTY))


@dataclass(frozen=True, eq=False)
class StoredMonitor:
    """One monitor.

    Attributes
    ----------
    keep_days, keep_people : int
        What is older, or beyond so many people, is removed.
    webhook : str
        Address told of alarms; empty for none.
    people, flagged : int
        Ever measured, and flagged.
    settings : dict
        ``people_between`` false alarms of all kinds; ``window_days`` in which a person counts once;
        ``keep_rows``.
    tokens : tuple of Token
        Those made beside the first one.
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
    settings: dict[str, Any]
    tokens: tuple[Token, ...]
    _token: str
    _load: Callable[[], MonitorBundle]

    @property
    def budget(self) -> float:
        """People between false alarms of all kinds, on average at least."""
        return float(self.settings.get("people_between", self.chart.people_between))

    @property
    def keeps_rows(self) -> bool:
        """Whether rows are kept until retention removes them."""
        return bool(self.settings.get("keep_rows", False))

    @cached_property
    def bundle(self) -> MonitorBundle:
        """What measures people."""
        return self._load()

    def opens(self, token: str, scope: str = "send") -> bool:
        """Tell whether `token` is this monitor's and may do what `scope` says: send, read or manage.

        In a time that does not depend on how alike tokens are. The monitor's first token may do everything.
        """
        given, now = digest(token), time.time()
        found = hmac.compare_digest(given, self._token)
        for each in self.tokens:
            lives = each.expires is None or each.expires > now
            same = hmac.compare_digest(given, each.sha256)
            found |= same and lives and each.scope in {scope, "manage"}
        return found


class Monitors(Admin, History):
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
        self._bundle = lru_cache(_MAX_REMEMBERED)(self._load_bundle)  # it never changes
        self._detectors = lru_cache(_MAX_REMEMBERED)(self._make_detectors)

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
        window_days: float = 30.0,
        keep_rows: bool = False,
        webhook: str = "",
        webhook_hosts: Sequence[str] = (),
    ) -> tuple[StoredMonitor, str]:
        """Create a monitor; return it and its token, which is kept nowhere.

        Parameters
        ----------
        people_between : float
            Average number of people between false alarms of all kinds together, at least. For flags that
            holds for
            a share of flags up to what the size of the reference allows (95% confidence).
        times : float
            How many times that share the chart of flags is tuned to find.
        window_days : float
            A person whose id is sent again within so many days (`keep_days` at most) is measured again, but
            not counted again.
        keep_rows : bool
            Keep the rows themselves until retention removes them, so that windows of them can be audited.
        webhook : str
            Address told of alarms; its host must be one of `webhook_hosts`.

        Raises
        ------
        InputError
            If a value is out of range, or the webhook's host is not allowed.
        """
        name, note = check_name(name), check_text("note", note)
        if keep_days < 1 or keep_people < 1:
            raise InputError("keep_days and keep_people", "must be at least 1", (keep_days, keep_people))
        if not 0 <= window_days < math.inf:
            raise InputError("window_days", "must be at least 0", window_days)
        check_webhook(webhook, webhook_hosts)
        rate = flag_rate_bound(bundle.above, bundle.people, confidence=_CONFIDENCE)
        share = 1.0 if bundle.known is None else SHARES["flags"]
        chart = design_chart(rate, times=times, people_between=people_between / share)
        text, weights = bundle.dump()
        token, identity = secrets.token_urlsafe(32), secrets.token_hex(16)
        row = {
            "id": identity,
            "owner": owner,
            "name": name,
            "note": note,
            "token_sha256": digest(token),
            "created": self._clock(),
            "keep_days": keep_days,
            "keep_people": keep_people,
            "webhook": webhook,
            **_EMPTY,
            "chart": json.dumps(dataclasses.asdict(chart)),
            "settings": json.dumps(
                {
                    "people_between": people_between,
                    "window_days": min(window_days, keep_days),
                    "keep_rows": keep_rows,
                }
            ),
            **dict.fromkeys(("batches", "people", "flagged", "chart_value"), 0),
        }
        with self._database.writing() as connection:
            connection.execute(sa.insert(MONITORS).values(**row))
            connection.execute(sa.insert(BUNDLES).values(monitor=identity, bundle=text, weights=weights))
        return self.get(identity), token

    def get(self, identity: str) -> StoredMonitor:
        """Return a monitor.

        Raises
        ------
        InputError
            If there is none with that id.
        """
        with self._database.reading() as connection:
            row = connection.execute(_PLAIN.where(MONITORS.c.id == identity)).first()
            if row is None:
                raise InputError("monitor", "must be one that exists", identity)
            return self._monitor(row, tokens_of(connection, identity))

    def of_owner(self, owner: str) -> list[StoredMonitor]:
        """Return an owner's monitors, latest first."""
        asked = _PLAIN.where(MONITORS.c.owner == owner).order_by(MONITORS.c.created.desc())
        return [self._monitor(row) for row in self._database.rows(asked)]

    def _monitor(self, row: Any, tokens: tuple[Token, ...] = ()) -> StoredMonitor:
        plain = dict(row._mapping)
        del plain["batches"]
        plain |= {"chart": Chart(**json.loads(row.chart)), "settings": json.loads(row.settings)}
        plain["_token"] = plain.pop("token_sha256")
        return StoredMonitor(_load=lambda: self._bundle(row.id), tokens=tokens, **plain)

    def _load_bundle(self, identity: str) -> MonitorBundle:
        """Return what measures a monitor's people."""
        asked = sa.select(BUNDLES.c.bundle, BUNDLES.c.weights).where(BUNDLES.c.monitor == identity)
        rows = self._database.rows(asked)
        if not rows:
            raise InputError("monitor", "must be one that exists", identity)
        return MonitorBundle.parse(rows[0].bundle, bytes(rows[0].weights))

    def _make_detectors(self, identity: str) -> Detectors:
        monitor = self.get(identity)
        return Detectors(monitor.bundle.profile, monitor.budget)

    def identities(self) -> list[str]:
        """Return the ids of all monitors."""
        return [row.id for row in self._database.rows(sa.select(MONITORS.c.id))]

    def delete(self, identity: str) -> None:
        """Remove a monitor and everything it measured."""
        with self._database.writing() as connection:
            for table in _OF_ONE:
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
        own: dict[str, list[Batch]] = {}
        for batch in batches:
            own.setdefault(batch.monitor, []).append(batch)
        found: dict[str, Iterator[Stored | InputError]] = {}
        with self._database.writing() as connection:
            for identity, mine in own.items():
                try:
                    state = State(connection, identity, self._detectors(identity))
                except InputError as error:
                    found[identity] = iter([error] * len(mine))
                    continue
                found[identity] = iter(state.add(mine, self._clock()))
                state.write()
        return [next(found[batch.monitor]) for batch in batches]

    def learn(self, identity: str, outcomes: Mapping[str, bool]) -> Known:
        """Note outcomes by the sender's ids: whether each was the favorable one.

        Outcomes known already are passed over; one that is known otherwise is not changed.

        Raises
        ------
        InputError
            If there is no such monitor.
        """
        with self._database.writing() as connection:
            state = State(connection, identity, self._detectors(identity))
            known = state.learn(outcomes, self._clock())
            state.write()
        return known

    def drift(self, identity: str, people: int = 2000) -> Drift:
        """Hold the latest `people` against the baseline."""
        return self.held_against(self.get(identity).bundle, identity, people)

    def prune(self, identity: str) -> int:
        """Remove what is past the retention limits; return how many batches."""
        monitor = self.get(identity)
        oldest, first = self._clock() - 86_400.0 * monitor.keep_days, monitor.people - monitor.keep_people
        past = {table: table.c.received < oldest for table in (BATCHES, BUCKETS, PEOPLE, FLAGS, PREDICTIONS)}
        past[BATCHES] |= BATCHES.c.first_person + BATCHES.c.people <= first
        for table in (FLAGS, PREDICTIONS):
            past[table] |= table.c.person < first
        with self._database.writing() as connection:
            removed = {
                table: connection.execute(sa.delete(table).where(table.c.monitor == identity, gone)).rowcount
                for table, gone in past.items()
            }
        self._database.scrub()
        return removed[BATCHES]
