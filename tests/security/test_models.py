"""Model files that want more than they show: their run ends with a sentence, and the next one works."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from audits.runs.executors.pool import ProcessExecutor
from audits.runs.executors.queue import RunLimits, RunQueue
from tests.security.corpus import MODELS, write

_PATIENCE = 120.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    frame = frame.assign(sex=rng.choice(["f", "m"], 300), hired=rng.integers(0, 2, 300))
    frame.to_csv(found / "people.csv", index=False)
    return found


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_SCORE_SECONDS", "2")
        limits = RunLimits(memory=1_500_000_000, seconds=60, at_once=1, waiting=2)
        with ProcessExecutor(1, base=tmp_path_factory.mktemp("home"), limits=limits) as executor:
            assert executor.wait_warm(_PATIENCE)
            yield executor


def spec(model: dict) -> dict:
    data = {"path": "people.csv", "label": "hired", "favorable": 1, "protected": ["sex"]}
    data["features"] = ["a", "b"]
    return {"data": data, "model": model, "seed": 0, "audits": [{"groups": {}}]}


def done(run):
    assert run.wait(_PATIENCE)
    return run


@pytest.mark.parametrize("name", list(MODELS))
def test_a_model_that_wants_more_than_it_shows_ends_with_a_sentence(pool, folder, name):
    make, told = MODELS[name]
    write(folder, name, make)
    run = done(pool.submit(spec({"path": name, "columns": ["a", "b"]}), folder, owner="somebody"))
    assert (run.status, run.error.kind) == ("failed", "input")
    assert all(each in run.error.sentence for each in (name, *told)), run.error.sentence
    if name == "hidden-filled.onnx":  # its run's process was ended
        good = done(pool.submit(spec({"train": "logistic"}), folder, owner="somebody"))
        assert good.status == "done", good.error


def test_a_run_that_takes_too_long_is_ended_and_says_so(pool, folder, monkeypatch):
    monkeypatch.setattr(pool, "limits", dataclasses.replace(pool.limits, seconds=1))
    write(folder, "loop.onnx", MODELS["loop.onnx"][0])
    run = done(pool.submit(spec({"path": "loop.onnx", "columns": ["a", "b"]}) | {"seed": 1}, folder))
    assert "1 second" in run.error.sentence


def test_of_two_owners_each_has_his_turn_and_nobody_queues_without_end(pool, folder):
    ended = []

    def submit(owner: str, seed: int):
        run = pool.submit(spec({"train": "logistic"}) | {"seed": seed}, folder, owner=owner)
        run.on_end(lambda: ended.append((owner, run.status)))
        return run

    greedy = [submit("greedy", 50 + k) for k in range(8)]  # faster than they are carried out
    refused = [run for run in greedy if run.status == "failed"]
    assert "2" in refused[-1].error.sentence, "one goes on and two wait: a further one is one too many"
    modest = submit("modest", 90)
    for run in (modest, *greedy):
        done(run)
    carried_out = [owner for owner, status in ended if status == "done"]
    assert carried_out.index("modest") < len(carried_out) - 1, "it came before the last of the greedy one's"


def test_memory_is_planned_over_all_runs_together(monkeypatch):
    """Of two models of 4.7 GB each one goes on at a time on a machine of 12 GB."""
    monkeypatch.setattr("audits.runs.executors.queue.machine_memory", lambda: 12_000_000_000)
    monkeypatch.setenv("EVENHAND_RUN_MEMORY_MB", "5000")
    queue = RunQueue(RunLimits.of_server(2))
    jobs = [SimpleNamespace(run=SimpleNamespace(owner=owner)) for owner in ("a", "b")]
    for job in jobs:
        queue.add(job)
    queue.begin(queue.first())
    assert queue.first() is None
    queue.end(jobs[0])
    assert queue.first() is jobs[1]
    monkeypatch.delenv("EVENHAND_RUN_MEMORY_MB")
    assert RunLimits.of_server(2).together == 2
