"""What a monitor of a bundled example would show: a generated month with an incident, measured beforehand.

`python -m benchmarks.monitor_streams` makes the files again.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from importlib.resources import files

from audits.monitor.alarms import Alarm
from audits.monitor.dashboard import Point
from audits.stats.control import Chart


@dataclass(frozen=True)
class ExampleStream:
    """A month of an example's predictions.

    Attributes
    ----------
    incident : str
        What went wrong, and when, in a sentence.
    began : float
        When it did.
    chart : Chart
    points : tuple of Point
    alarms : tuple of Alarm
        In the order in which they were raised.
    people, flagged : int
    columns : dict
        Values by column that the audit never saw.
    """

    incident: str
    began: float
    chart: Chart
    points: tuple[Point, ...]
    alarms: tuple[Alarm, ...]
    people: int
    flagged: int
    columns: dict[str, dict[str, int]]


@functools.cache
def example_stream(name: str) -> ExampleStream | None:
    """Return the stream of the bundled example `name`; None where it has none."""
    path = files("audits.monitor") / "streams" / f"{name}.json"
    if not path.is_file():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    found["chart"] = Chart(**found["chart"])
    found["points"] = tuple(Point(**each) for each in found["points"])
    found["alarms"] = tuple(Alarm(**each) for each in found["alarms"])
    return ExampleStream(**found)
