"""Executors, with real worker processes: progress, cancel, crashes, queues, clean ends."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from audits.errors import RunCancelled, RunFailed
from audits.runs.executors.job import Run
from audits.runs.executors.pool import InlineExecutor, ProcessExecutor
from tests.runs.conftest import make_spec, write_people
from tests.runs.extra_audits import PLUGIN

PATIENCE = 60.0  # seconds: starting a worker takes three, more on a busy machine


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    """One warm worker for all tests that do not need another setting."""
    with ProcessExecutor(1, base=tmp_path_factory.mktemp("home"), plugin=PLUGIN) as executor:
        assert executor.wait_warm(PATIENCE)
        yield executor


def done(run):
    assert run.wait(PATIENCE), f"still {run.status} after {PATIENCE} s"
    return run


def eventually(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def gone(pid: int) -> bool:
    """Tell whether a process is over and reaped: a zombie is not gone."""
    return not Path(f"/proc/{pid}").exists()


def test_inline_and_process_give_the_same_bytes(pool, base):
    spec = make_spec({"rates": {"by": "group"}}, model={"train": "logistic"}, seed=11)
    inline = InlineExecutor().submit(spec, base)
    process = done(pool.submit(spec, base))
    assert inline.status == process.status == "done", (inline.error, process.error)
    assert inline.key == process.key
    first, second = inline.result(), process.result()
    assert json.dumps(first.to_json()) == json.dumps(second.to_json())
    assert first.audits[0].result.people.equals(second.audits[0].result.people)


def test_the_time_left_is_that_of_what_takes_time():
    run = Run("", None)
    run.begin()
    run.report(0.25, "Reading what was read before")
    run._started -= 9
    run.report(0.5, "Working")
    assert run.progress.seconds_left == pytest.approx(18, rel=0.1)


def test_cancel_stops_willing_work_and_keeps_the_worker(pool, base):
    before = pool.pids()
    run = pool.submit(make_spec({"slow": {"seconds": 30.0}}), base)
    assert eventually(lambda: run.progress.doing == "Taking time")
    run.cancel()
    assert done(run).status == "cancelled"
    assert pool.pids() == before, "it stopped within the grace after which a worker is killed"
    with pytest.raises(RunCancelled):
        run.result()


def test_cancel_kills_a_worker_that_does_not_listen_and_the_next_run_works(pool, base):
    [pid] = pool.pids()
    run = pool.submit(make_spec({"slow": {"seconds": 30.0, "stubborn": True}}), base)
    assert eventually(lambda: run.progress.doing == "Not listening")
    run.cancel()
    assert done(run).status == "cancelled"
    assert gone(pid)
    assert done(pool.submit(make_spec(seed=101), base)).status == "done"
    assert pool.pids() != [pid]
    assert not list((pool._store.folder("x").parent).glob("*.partial"))


@pytest.mark.parametrize(("how", "ending"), [("segfault", "SIGSEGV"), ("garbage", "SIGKILL")])
def test_a_worker_that_dies_gives_a_clear_failure_and_the_next_run_works(pool, base, how, ending):
    [pid] = pool.pids()
    run = done(pool.submit(make_spec({"break": {"how": how}}), base))
    assert (run.status, run.error.kind) == ("failed", "failed")
    assert all(each in run.error.sentence for each in (ending, "'About to break'"))
    assert gone(pid)
    with pytest.raises(RunFailed):
        run.result()
    assert done(pool.submit(make_spec(seed=200 + len(how)), base)).status == "done"


def test_too_little_memory_and_exceptions_fail_the_run_and_keep_the_worker(pool, base):
    before = pool.pids()
    memory = done(pool.submit(make_spec({"break": {"how": "memory"}}), base))
    assert (memory.status, memory.error.kind) == ("failed", "failed")
    error = done(pool.submit(make_spec({"break": {"how": "error"}}), base))
    assert "(LookupError: no such thing)" in error.error.sentence
    assert all(each in error.error.details for each in ("Traceback", "break_down"))
    assert pool.pids() == before


def test_a_run_that_goes_on_is_shared_by_its_owner_alone(pool, base):
    spec = make_spec({"slow": {"seconds": 0.5}}, seed=31)
    running = pool.submit(spec, base, owner="ann")
    assert pool.submit(spec, base, owner="ann") is running
    other = pool.submit(spec, base, owner="bob")
    waiting = pool.submit(make_spec(seed=102), base)
    assert waiting.status == "queued"
    waiting.cancel()
    assert waiting.status == "cancelled"
    assert [done(run).status for run in (running, other)] == ["done", "done"]
    assert running.result().to_json() == other.result().to_json()
    kept = [path.name for path in pool._store.folder("x").parent.glob("of-*/*")]
    assert kept.count(running.key) == 2  # one result for each: what someone has is nobody else's
    again = pool.submit({**spec, "seed": 32}, base, owner="ann")
    again.cancel()
    assert pool.submit({**spec, "seed": 32}, base, owner="ann") is not again, "what she cancelled is over"


def test_a_finished_run_returns_at_once_for_equal_files_elsewhere(pool, base, tmp_path):
    spec = make_spec(seed=41)
    first = done(pool.submit(spec, base))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write_people(elsewhere / "people.csv")
    nested = make_spec(seed=41)
    nested["data"]["path"] = "elsewhere/people.csv"
    assert pool.submit(nested, tmp_path, owner="someone else").status != "done"  # nobody else's result
    again = pool.submit(nested, tmp_path)
    assert (again.status, again.key) == ("done", first.key)
    assert again.result().to_json()["audits"] == first.result().to_json()["audits"]
    write_people(elsewhere / "people.csv", seed=1)
    changed = pool.submit(nested, tmp_path)
    assert changed.key != first.key
    assert done(changed).result().data["sha256"] != first.result().data["sha256"]


def test_a_file_that_changes_while_its_run_waits_is_noticed(pool, base):
    blocker = pool.submit(make_spec({"slow": {"seconds": 1.0}}, seed=51), base)
    other = base.parent / "changing"
    other.mkdir()
    write_people(other / "people.csv", seed=3)
    run = pool.submit(make_spec(seed=51), other)
    write_people(other / "people.csv", seed=4)
    assert done(blocker).status == "done"
    assert done(run).status == "failed"
    assert (run.error.kind, run.error.where) == ("input", "data.path or model.path")
