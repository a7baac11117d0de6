"""What a monitor has seen: its chart, the people flagged, the alarms, and drift from the baseline."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa
from scipy.stats import ks_2samp

from audits.runs.database import Database
from audits.runs.monitor_storing import ALARMS, BATCHES, FLAGS
from audits.sensitivity import MonitorBundle
from audits.sensitivity.monitor.watching import Alarm, Drift, Flag, Point
from audits.stats import wilson

__all__ = ["History"]


class History:
    """The history of the monitors of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def points(self, identity: str, most: int = 500) -> list[Point]:
        """Return the chart's latest stretches, oldest first: one a batch, joined where there are more."""
        asked = (
            sa.select(
                BATCHES.c.received,
                BATCHES.c.first_person,
                BATCHES.c.people,
                BATCHES.c.flagged,
                BATCHES.c.chart_high,
                BATCHES.c.chart_value,
                BATCHES.c.mean,
            )
            .where(BATCHES.c.monitor == identity)
            .order_by(BATCHES.c.place.desc())
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
            sa.select(FLAGS).where(FLAGS.c.monitor == identity).order_by(FLAGS.c.person.desc()).limit(most)
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
            sa.select(ALARMS).where(ALARMS.c.monitor == identity).order_by(ALARMS.c.person.desc()).limit(most)
        )
        with self._database.reading() as connection:
            return [
                Alarm(row.person, row.raised, row.sentence, row.webhook, row.acknowledged, row.note)
                for row in connection.execute(asked)
            ]

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
                latest.append(np.frombuffer(row.sensitivities, dtype="<f8")[::-1])
                size += len(latest[-1])
                if size >= people:
                    break
        values = np.concatenate(latest)[:people] if latest else np.empty(0)
        above = int(np.count_nonzero(values > bundle.threshold))
        if len(values) < 2:
            return Drift(len(values), None, None, wilson(above, len(values)), values)
        found = ks_2samp(values, bundle.reference)
        return Drift(
            len(values), float(found.statistic), float(found.pvalue), wilson(above, len(values)), values
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
