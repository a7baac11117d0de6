"""What retention, deletion and erasing take out of a monitor is in no file; clocks that jump take nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from app.serving.ingestion import Ingest
from app.serving.maintenance import Maintenance
from app.workspaces.workspace import Workspace, new_token
from audits.cli.main import main
from audits.monitor.batches import Batch
from audits.monitor.monitors import Monitors
from audits.monitor.profile import BatchContext
from audits.runs.storage.database import database
from tests.monitor.conftest import ROOT, ROW

MARK = "Zanzibarensis"
DAY = 86_400.0
FAKETIME = [str(path) for path in Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")]


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


def test_an_upload_that_a_server_was_killed_at_is_swept(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))
    space = Workspace(new_token(), tmp_path)
    files = space.folder / "files"
    files.mkdir(parents=True)
    child = os.fork()
    if not child:

        class Endless:
            def read(self, _):
                if list(files.glob("*.partial")):
                    os.kill(os.getpid(), 9)
                return b"x"

        space.add_file("people.csv", Endless())
    os.waitpid(child, 0)
    [half] = files.glob("*.partial")
    Maintenance().tidy()
    assert half.exists()  # someone may be at it
    os.utime(half, (time.time() - 7200,) * 2)
    Maintenance().tidy()
    assert not half.exists()
    assert space.files() == []


_LIVES = """
import json, os, select, sys, time

from app.serving.ingestion import Ingest
from audits.monitor.monitors import Monitors
from audits.runs.storage.database import database
monitors, left = Monitors(database()), []
service = Ingest(monitors, tick_seconds=0.1, prune_seconds=0.1)
service.start()
for jump in ("+0", "+400d", "-400d", "+0"):
    with open(sys.argv[1] + "-", "w") as told:
        told.write(jump)
    os.replace(sys.argv[1] + "-", sys.argv[1])
    select.select([], [], [], 1.5)
    left.append((round(time.time() / 86400), len(monitors.flags(sys.argv[2]))))
service.close()
print(json.dumps(left))
"""


@pytest.mark.skipif(not FAKETIME, reason="needs Debian's libfaketime")
def test_a_clock_that_jumps_by_a_year_takes_nothing(bundle, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))
    _, identity = filled(bundle)
    told = tmp_path / "clock"
    told.write_text("+0")
    faked = {"LD_PRELOAD": FAKETIME[0], "FAKETIME_TIMESTAMP_FILE": str(told), "FAKETIME_NO_CACHE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _LIVES, str(told), identity],
        env={**os.environ, **faked, "FAKETIME_DONT_FAKE_MONOTONIC": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    days, flags = zip(*json.loads(done.stdout.splitlines()[-1]), strict=True)
    assert days[1] - days[0] > 390 > -390 > days[2] - days[0]
    assert flags == (3, 3, 3, 3)
