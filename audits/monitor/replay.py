"""A past file run through a monitor: when would it have alarmed? Nothing is kept of it."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audits.errors import InputError
from audits.monitor.alarms import Alarm
from audits.monitor.batches import Batch
from audits.monitor.bundle import MonitorBundle
from audits.monitor.monitors import Monitors
from audits.runs.storage.database import Database
from audits.stats.text import count, people, several


@dataclass(frozen=True)
class Replay:
    """What a monitor would have said of people in their order.

    Attributes
    ----------
    people, counted, flagged : int
    alarms : tuple of Alarm
        In the order of people.
    columns : dict
        Values by column that were missing, never seen, out of range or impossible.
    """

    people: int
    counted: int
    flagged: int
    alarms: tuple[Alarm, ...]
    columns: dict[str, dict[str, int]]

    def sentences(self) -> list[str]:
        """Return in words what happened when."""
        head = f"{people(self.people)}, {count(self.flagged)} flagged, {several(len(self.alarms), 'alarm')}."
        return [head, *(f"Person {count(each.person + 1)}: {each.sentence}" for each in self.alarms)]


def replay(bundle: MonitorBundle, batches: Iterable[Batch], **settings: Any) -> Replay:
    """Run batches through a monitor of `bundle` that is made for them and thrown away.

    Parameters
    ----------
    batches : iterable of Batch
        The monitor that they name does not matter.
    settings
        As `Monitors.create` takes them: ``people_between``, ``times``, ``window_days``.

    Raises
    ------
    InputError
        If a setting or a batch is wrong.
    """
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'replay.sqlite'}")
        try:
            monitors = Monitors(database)
            monitor, _ = monitors.create(bundle, name="replay", **settings)
            counted = 0
            for batch in batches:
                own = dataclasses.replace(batch, monitor=monitor.id, key=None, ids=(), columns=None)
                [stored] = monitors.store([own])
                if isinstance(stored, InputError):
                    raise stored
                counted += stored.counted
            after = monitors.get(monitor.id)
            alarms = tuple(reversed(monitors.alarms(monitor.id, 10_000)))
            return Replay(after.people, counted, after.flagged, alarms, monitors.counted(monitor.id))
        finally:
            database.engine.dispose()


def compare_alarms(first: Replay, second: Replay) -> list[dict[str, Any]]:
    """Return by condition at which person each of two monitors alarmed first, None where it did not."""
    at = [{each.about: each.person for each in reversed(found.alarms)} for found in (first, second)]
    names = sorted({*at[0], *at[1]}, key=lambda name: min(own[name] for own in at if name in own))
    return [{"about": name, "first": at[0].get(name), "second": at[1].get(name)} for name in names]
