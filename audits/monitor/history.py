"""What a monitor has seen: its chart, the people flagged, the alarms, and drift from the baseline."""

from __future__ import annotations

import dataclasses
import functools
import json
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa
from scipy.stats import ks_2samp

from audits.errors import InputError
from audits.monitor.alarms import Alarm, alarm_of
from audits.monitor.buckets import merge
from audits.monitor.bundle import MonitorBundle
from audits.monitor.dashboard import Drift, Flag, GroupRates, Point
from audits.monitor.detectors import read_head
from audits.monitor.rates import Tally
from audits.monitor.tables import BATCHES, BUCKETS, CASES, FLAGS, LASTS, MESSAGES, MONITORS, STATES, WAITS
from audits.runs.storage.database import Database
from audits.stats import wilson
from audits.stats.sequential import DriftTest

_MAX_TESTS = 64  # monitors whose drift is kept in memory
_MAX_READ = 100_000  # people read for the test of drift at one time, about half a second


class History:
    """The history of the monitors of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tests: dict[str, tuple[int, DriftTest]] = {}
        self._reading = threading.Lock()

    @property
    def database(self) -> Database:
        """Where it lies."""
        return self._database

    def points(self, identity: str, most: int = 500) -> list[Point]:
        """Return the chart's stretches, oldest first: a batch each, or several joined."""
        asked = sa.select(BUCKETS).where(BUCKETS.c.monitor == identity).order_by(BUCKETS.c.first_person)
        rows = self._database.rows(asked)
        if not rows:
            return []
        return [
            _point(rows[part[0] : part[-1] + 1])
            for part in np.array_split(range(len(rows)), min(most, len(rows)))
        ]

    def flags(self, identity: str, most: int = 200, within: tuple[int, int] | None = None) -> list[Flag]:
        """Return the latest flagged people, latest first; those from one person to another, both included."""
        names = [each.name for each in dataclasses.fields(Flag)]
        asked = sa.select(*(FLAGS.c[name] for name in names)).where(FLAGS.c.monitor == identity)
        asked = asked.order_by(FLAGS.c.person.desc()).limit(most)
        if within is not None:
            asked = asked.where(FLAGS.c.person.between(*within))
        return [
            Flag(**{**row._mapping, "contributions": json.loads(row.contributions)})
            for row in self._database.rows(asked)
        ]

    def alarms(self, identity: str, most: int = 200) -> list[Alarm]:
        """Return the alarms, latest first."""
        asked = sa.select(CASES).where(CASES.c.monitor == identity).order_by(CASES.c.place.desc()).limit(most)
        return [alarm_of(row) for row in self._database.rows(asked)]

    def alarm(self, identity: str, place: int) -> Alarm:
        """Return one alarm.

        Raises
        ------
        InputError
            If there is none of that number.
        """
        mine = sa.and_(CASES.c.monitor == identity, CASES.c.place == place)
        rows = self._database.rows(sa.select(CASES).where(mine))
        if not rows:
            raise InputError("alarm", "must be one of this monitor", place)
        return alarm_of(rows[0])

    def held_against(self, bundle: MonitorBundle, identity: str, people: int) -> Drift:
        """Hold the latest `people` of a monitor against the baseline in its bundle."""
        asked = (
            sa.select(BATCHES.c.sensitivities)
            .where(BATCHES.c.monitor == identity)
            .order_by(BATCHES.c.place.desc())
            .limit(people)
        )
        latest: list[np.ndarray] = []
        size = 0
        with self._database.reading() as connection:
            for row in connection.execute(asked):
                latest.append(_counted(row)[::-1])
                size += len(latest[-1])
                if size >= people:
                    break
        values = np.concatenate(latest)[:people] if latest else np.empty(0)
        above = int(np.count_nonzero(values > bundle.threshold))
        if len(values) < 2 or bundle.audited is None:
            return Drift(len(values), None, None, wilson(above, len(values)), values)
        distance = float(ks_2samp(values, bundle.reference).statistic)
        p_value = self._at_any_time(bundle, identity)[0]
        return Drift(len(values), distance, p_value, wilson(above, len(values)), values)

    def overview(self) -> list[dict[str, Any]]:
        """Return of every monitor its id, name and counts: people, alarms waiting, messages dead …"""
        number = sa.func.count()
        names = ("id", "name", "people", "flagged", "batches", "chart_value", "chart")
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(*(MONITORS.c[name] for name in names))).all()
            found: dict[str, dict[str, int]] = {
                key: dict(connection.execute(sa.select(table, number).where(where).group_by(table)).all())
                for key, table, where in (
                    ("waiting", CASES.c.monitor, WAITS),
                    ("lasting", CASES.c.monitor, LASTS),
                    ("dead", MESSAGES.c.monitor, MESSAGES.c.state == "dead"),
                )
            }
        return [
            {
                **{name: getattr(row, name) for name in names[:5]},
                "chart": row.chart_value / json.loads(row.chart)["limit"],
                **{key: counts.get(row.id, 0) for key, counts in found.items()},
            }
            for row in rows
        ]

    def counted(self, identity: str) -> dict[str, dict[str, int]]:
        """Return by column how many values were missing, never seen, out of range or impossible so far."""
        row = self._state_of(identity)
        return {} if row is None else dict(read_head(bytes(row.streams))["counts"])

    def rates(self, identity: str, level: float = 0.95) -> list[GroupRates]:
        """Return the rates of each group so far; see `GroupRates`."""
        row = self._state_of(identity)
        return Tally({} if row is None else json.loads(row.tally)).rates(level)

    def _state_of(self, identity: str) -> Any:
        return next(iter(self._database.rows(sa.select(STATES).where(STATES.c.monitor == identity))), None)

    def waiting(self, identity: str, most: int = 3) -> tuple[int, list[Alarm]]:
        """Return how many alarms nobody has acknowledged yet, and the first of them.

        Those whose condition lasts come before those that are over, and the oldest before later ones.
        """
        asked = sa.select(CASES).where(CASES.c.monitor == identity, WAITS)
        asked = asked.order_by(CASES.c.ended.is_not(None), CASES.c.place)
        with self._database.reading() as connection:
            number = connection.execute(sa.select(sa.func.count()).select_from(asked.subquery())).scalar_one()
            return number, [alarm_of(row) for row in connection.execute(asked.limit(most))]

    def catch_up(self, bundle: MonitorBundle, identity: str) -> bool:
        """Read some of what is stored for the test of drift; tell whether that was all of it."""
        return bundle.audited is None or self._at_any_time(bundle, identity)[1]

    def _at_any_time(self, bundle: MonitorBundle, identity: str) -> tuple[float, bool]:
        """Return the p-value of drift that holds however often it is asked for, and whether all was read.

        See `DriftTest`. What has been read stays in memory, so that each batch is read once while the process
        lives; of a million people that takes seconds, so that a call reads some of them. The p-value of the
        people read holds too: it holds whenever one stops.
        """
        with self._reading:
            place, test = self._tests.pop(identity, (-1, None))
            test = DriftTest(bundle.reference) if test is None else test
            asked = (
                sa.select(BATCHES.c.place, BATCHES.c.sensitivities)
                .where(BATCHES.c.monitor == identity, BATCHES.c.place > place)
                .order_by(BATCHES.c.place)
                .limit(_MAX_READ)
            )
            with self._database.reading() as connection:
                size, whole = 0, True
                for row in connection.execute(asked):
                    if size >= _MAX_READ:
                        whole = False
                        break
                    place, values = row.place, _counted(row)
                    test.update(values)
                    size += len(values)
            self._tests[identity] = (place, test)
            while len(self._tests) > _MAX_TESTS:
                del self._tests[next(iter(self._tests))]
            return test.p_value, whole and size < _MAX_READ


def _counted(row: Any) -> np.ndarray:
    """Return the sensitivities of a batch's people who count; those stored before count all."""
    values = np.frombuffer(row.sensitivities, dtype="<f8")
    return values[~np.isnan(values)]


def _point(rows: Sequence[Any]) -> Point:
    """Return stretches that follow each other as one."""
    whole = functools.reduce(merge, (row._mapping for row in rows))
    return Point(
        whole["received"],
        whole["first_person"],
        whole["people"],
        whole["flagged"],
        whole["chart_high"],
        whole["chart_value"],
        whole["total"] / whole["people"],
    )
