"""What retention, deletion and erasing take out of a monitor is in no file; clocks that jump take nothing."""

from __future__ import annotations

import time

import numpy as np
import pytest

from app.serving.ingestion import Ingest
from audits.cli.main import main
from audits.monitor.batches import Batch
from audits.monitor.monitors import Monitors
from audits.monitor.profile import BatchContext
from audits.runs.storage.database import database
from tests.monitor.conftest import ROW

MARK = "Zanzibarensis"
DAY = 86_400.0


def holding(base) -> list[str]:
    return [
        str(path) for path in sorted(base.rglob("*")) if path.is_file() and MARK.encode() in path.read_bytes()
    ]


def filled(bundle, clock=time.time) -> tuple[Monitors, str]:
    monitors = Monitors(database(), clock=clock)
    monitor, _ = monitors.create(bundle, name="m", keep_rows=True)
    scored = bundle.score([ROW] * 3)
    scored.flagged[:] = True
    columns = {name: np.repeat(value, 3).tolist() for name, value in ROW.items()} | {"town": [MARK] * 3}
    sent = BatchContext(protected={"group": ("a",) * 3})
    ids = (MARK, f"{MARK} 2", "another")
    monitors.store([Batch(monitor.id, scored, "x", None, ids, sent=sent, columns=columns)])
    return monitors, monitor.id


@pytest.mark.parametrize("way", ["retention", "deletion", "erasing"])
def test_no_byte_of_it_is_left(way, bundle, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))
    now = [1e9]
    monitors, identity = filled(bundle, lambda: now[0])
    assert holding(tmp_path)
    if way == "retention":
        now[0] += 100 * DAY
        monitors.prune(identity)
    elif way == "deletion":
        Ingest(monitors).remove(identity)
    else:
        for person in (MARK, f"{MARK} 2"):
            assert main(["erase", "--person", person, "--column", "id"]) == 0
        assert main(["erase", "--person", "another", "--column", "id"]) == 0
    assert not holding(tmp_path)


def test_a_clock_that_jumps_by_a_year_takes_nothing(bundle, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))
    monitors, identity = filled(bundle)
    jump, real = [0.0], time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump[0])
    monitors._clock = time.time
    service = Ingest(monitors, tick_seconds=0.02, prune_seconds=0.02)
    service.start()
    try:
        for days in (0, 400, -400, 0):
            jump[0] = days * DAY
            time.sleep(0.3)
            assert len(monitors.flags(identity)) == 3
            assert abs((tmp_path / "status" / "pruned").stat().st_mtime - time.time()) < DAY, "it has looked"
    finally:
        service.close()
