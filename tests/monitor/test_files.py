"""Batches as files: dropped into a folder, or handed over; and what is done for monitors without any."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.serving.ingestion import Ingest
from audits.cli.main import main
from audits.errors import RunFailed
from audits.monitor.batches import Batch
from audits.monitor.inbox import inbox, take_files
from audits.monitor.monitors import Monitors, StoredMonitor
from audits.monitor.profile import BatchContext
from audits.monitor.scoring import Scorer
from audits.runs.storage.database import Database, database
from tests.monitor.conftest import ROW, store_of
from tests.refused import refused
from tests.sensitivity.conftest import people

COLUMNS = ["skill", "height", "town"]


@pytest.fixture
def monitors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Monitors:
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))
    return Monitors(store_of(tmp_path))


@pytest.fixture
def service(monitors: Monitors) -> Iterator[Ingest]:
    started = Ingest(monitors, tick_seconds=0.05)
    started.start()
    yield started
    started.close()


def drop(root: Path, monitor: StoredMonitor, name: str, frame: pd.DataFrame) -> Path:
    folder = inbox(root / "monitors", monitor.id)
    folder.mkdir(parents=True, exist_ok=True)
    frame.to_csv(folder / name, index=False)
    os.utime(folder / name, (time.time() - 60,) * 2)
    return folder / name


def await_(true: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.02)


def test_files_dropped_are_stored_once_and_bad_ones_say_why(bundle, tmp_path: Path):
    monitors = Monitors(store_of(tmp_path))
    monitor, _ = monitors.create(bundle, name="m")
    frame = people(50)[COLUMNS].assign(id=[f"n{k}" for k in range(50)])
    for name in ("good.csv", "twice.csv"):
        drop(tmp_path, monitor, name, frame)
    folder = drop(tmp_path, monitor, "bad.csv", frame.rename(columns={"town": "city"})).parent
    (folder / "a fresh.csv").write_text(frame.to_csv(index=False))
    moved = take_files(folder, partial(Ingest(monitors).take, monitor))
    assert sorted(path.parent.name + "/" + path.name for path in moved) == [
        "done/good.csv",
        "done/twice.csv",
        "failed/bad.csv",
    ]
    assert "lacks 'town'" in (folder.parent / "failed" / "bad.csv.txt").read_text()
    assert monitors.get(monitor.id).people == 50
    assert (folder / "a fresh.csv").exists()  # the first looked at; it may still be being written


def test_a_file_on_which_the_worker_keeps_dying_is_set_aside_and_keeps_nobody_waiting(
    monitors: Monitors, bundle, carried, tmp_path: Path
):
    deadly, _ = monitors.create(carried, name="deadly")
    sound, _ = monitors.create(bundle, name="sound")
    bad = drop(tmp_path, deadly, "bad.csv", pd.DataFrame({"work_years": [14.0], "hair_length": [8.0]}))
    drop(tmp_path, sound, "good.csv", people(20)[COLUMNS])
    service = Ingest(monitors, Scorer(seconds=0.001), tick_seconds=0.05)  # every worker is killed at once
    service.start()
    try:
        await_(lambda: not bad.exists())
        await_(lambda: monitors.get(sound.id).people == 20)
    finally:
        service.close()
    failed = bad.parent.parent / "failed" / "bad.csv"
    assert failed.exists()
    assert re.search(r"\b3\b", failed.with_name("bad.csv.txt").read_text()), "tries"
    assert monitors.get(deadly.id).people == 0
    assert not list((bad.parent.parent / "tries").iterdir())


def test_files_stay_while_the_database_is_locked(bundle, tmp_path: Path):
    monitors = Monitors(Database(f"sqlite:///{tmp_path / 'evenhand.sqlite'}?timeout=0.1"))
    monitor, _ = monitors.create(bundle, name="m")
    path = drop(tmp_path, monitor, "good.csv", people(5)[COLUMNS])
    take = partial(Ingest(monitors).take, monitor)
    with store_of(tmp_path).writing():
        for _ in range(5):
            with pytest.raises(RunFailed, match="locked"):
                take_files(path.parent, take)
    assert path.exists()
    assert take_files(path.parent, take)[0].parent.name == "done"
    assert monitors.get(monitor.id).people == 5


def test_the_row_that_is_wrong_is_named_as_the_file_counts_it_and_nothing_is_stored(
    service: Ingest, monitors: Monitors, bundle, tmp_path: Path
):
    monitor, _ = monitors.create(bundle, name="m")
    frame = pd.concat([people(500)[COLUMNS]] * 24, ignore_index=True)
    frame = frame.assign(score=0.5, decision=["True", "False"] * 6000)
    for column, wrong in (("skill", float("inf")), ("score", 7.0)):
        faulty = frame[column].where(frame.index != 11_003, wrong)
        frame.assign(**{column: faulty}).to_parquet(tmp_path / "batch.parquet")
        with refused(f"row 11,004, column {column},"):
            service.take(monitor, tmp_path / "batch.parquet")
    assert monitors.get(monitor.id).people == 0
    frame.to_parquet(tmp_path / "batch.parquet")
    assert service.take(monitor, tmp_path / "batch.parquet").people == 12_000


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
