"""Make the month that Monitor shows of a bundled example: people as they were audited, then an incident.

``python -m benchmarks.monitor_streams`` writes ``audits/monitor/streams/*.json``. Each day people are drawn
from the example's table with seed 0; from the incident on one column arrives in another unit. Everything is
measured and watched by a monitor as it is deployed.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from datetime import UTC, datetime
from typing import Any

import numpy as np

from audits.data import read_table
from audits.data.samples import CATALOG
from audits.monitor.batches import Batch
from audits.monitor.monitors import Monitors
from audits.monitor.recoding import frame_as_audited, with_values
from audits.records import resolve
from audits.runs.documents import load_document
from audits.runs.executors.inline import InlineExecutor
from audits.runs.registry import AUDITS
from audits.runs.storage.database import Database
from benchmarks.serving import ROOT

DAYS, PEOPLE, SICK = 30, 150, 20
FIRST = datetime(2026, 3, 1, 9, tzinfo=UTC).timestamp()
INCIDENTS: dict[str, tuple[str, float, str]] = {
    "hiring": ("work_years", 12.0, "in months instead of years"),
    "loans": ("income", 1 / 12, "per month instead of per year"),
    "law_school": ("gpa", 25.0, "on a scale of 100 instead of 4"),
}


def make(name: str) -> dict[str, Any]:
    """Return the stream of the example `name` as it is written."""
    folder = ROOT / "sample_data"
    spec = dict(load_document(folder / f"{name}.yaml"))
    protected = spec["data"]["protected"][0]
    spec |= {"audits": [{"sensitivity": {"protected": protected}}], "search": "off"}
    run = InlineExecutor().submit(spec, folder).result()
    record = AUDITS["sensitivity"]
    bundle = with_values(resolve(record.bundle)(run.audits[0].result, note=""), run.spec["data"])
    frame = frame_as_audited(bundle, read_table(folder / CATALOG[name].files[1]).frame)
    column, times, said = INCIDENTS[name]
    now, rng = [FIRST], np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        monitors = Monitors(Database(f"sqlite:///{place}/monitor.sqlite"), clock=lambda: now[0])
        monitor, _ = monitors.create(bundle, name=name, people_between=20_000)
        for day in range(DAYS):
            now[0] = FIRST + 86_400 * day
            rows = frame.iloc[rng.permutation(len(frame))[:PEOPLE]].reset_index(drop=True)
            if day >= SICK:
                rows[column] = (rows[column].astype(float) * times).round(2).astype(float)
            scored = bundle.score(rows)
            [stored] = monitors.store([Batch(monitor.id, scored, str(day), look=bundle.look(scored))])
            assert not isinstance(stored, Exception), stored
        kept = monitors.get(monitor.id)
        when = datetime.fromtimestamp(FIRST + 86_400 * SICK, UTC)
        alarms = sorted(monitors.alarms(monitor.id), key=lambda each: each.place)
        found = {
            "incident": f"From {when.day} {when:%B} on, {column} arrived {said}.",
            "began": when.timestamp(),
            "chart": dataclasses.asdict(kept.chart),
            "points": [dataclasses.asdict(each) for each in monitors.points(monitor.id)],
            "alarms": [dataclasses.asdict(each) for each in alarms],
            "people": kept.people,
            "flagged": kept.flagged,
            "columns": monitors.counted(monitor.id),
        }
        monitors.database.engine.dispose()
    return found


if __name__ == "__main__":
    for name in INCIDENTS:
        found = make(name)
        file = ROOT / "audits" / "monitor" / "streams" / f"{name}.json"
        file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"{name}: {found['flagged']} of {found['people']} flagged, {len(found['alarms'])} alarms")
