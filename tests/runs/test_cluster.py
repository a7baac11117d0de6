"""Runs on a Dask cluster of two processes: the same numbers as in this process, and how it fails."""

from __future__ import annotations

import importlib
import json
import os
import sys
import types

import numpy as np
import pandas as pd
import pytest

from audits.runs.executors import dask as clusters
from audits.runs.executors.dask import DaskExecutor
from audits.runs.executors.inline import InlineExecutor
from tests.refused import refused

distributed = pytest.importorskip("distributed")

MODEL = {"train": "logistic"}
AUDITS = {
    "groups": {},
    "rule_sets": {"samples": 0, "permutations": 49},
    "flipset": {"source": {"sex": "f"}, "target": {"sex": "m"}, "permutations": 19, "seconds": 1},
    "sensitivity": {"protected": "sex", "bootstrap": 100},
}


@pytest.fixture(scope="module", autouse=True)
def neutral_main():
    """A page that a test showed is the main module still, which every process of a cluster would run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
        yield


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("people")
    rng = np.random.default_rng(3)
    n = 240
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "income": rng.normal(3, 1, n).round(2)})
    frame["age"] = rng.integers(18, 70, n)
    frame["repaid"] = (rng.random(n) < 1 / (1 + np.exp(3 - frame["income"]))).astype(int)
    frame.to_csv(place / "people.csv", index=False)
    return place


def spec_of(*audits, model=MODEL):
    data = {"path": "people.csv", "protected": ["sex"], "label": "repaid", "favorable": 1}
    return {"data": data, "model": model, "audits": [{name: AUDITS[name]} for name in audits]}


@pytest.fixture(scope="module")
def executor(cluster, tmp_path_factory):
    with DaskExecutor(cluster.scheduler_address, base=tmp_path_factory.mktemp("home")) as found:
        yield found


def test_every_audit_finds_there_what_it_finds_here(executor, folder):
    spec = spec_of(*AUDITS)
    run = executor.submit(spec, folder)
    here = InlineExecutor().submit(spec, folder).result()
    there = run.result()
    for one, other in zip(here.audits, there.audits, strict=True):
        first, second = (json.dumps(each.result.to_json(), sort_keys=True) for each in (one, other))
        assert first == second, one.name
    assert run.progress.doing == "Done"
    assert executor.submit(spec, folder).finished  # kept here, under its key


@pytest.fixture
def counted(executor, monkeypatch):
    """Tables of a few rows are counted, here and in every worker."""
    monkeypatch.setattr("audits.runs.source.strategy.COUNTED_FROM", 1)
    executor._client.run(count_from, 1)
    yield
    executor._client.run(count_from, 1_000_000)


def count_from(rows):
    """Have this worker count tables of so many rows."""
    importlib.import_module("audits.runs.source.strategy").COUNTED_FROM = rows


def test_files_of_a_table_are_counted_by_all_workers(executor, tmp_path, counted):
    rng = np.random.default_rng(1)
    (tmp_path / "people").mkdir()
    for part in range(4):
        frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 700), "income": rng.normal(3, 1, 700)})
        frame["age"], frame["score"] = rng.integers(18, 70, 700), rng.random(700)
        frame["repaid"] = (rng.random(700) < 1 / (1 + np.exp(3 - frame["income"]))).astype(int)
        frame.to_parquet(tmp_path / "people" / f"{part}.parquet")
    spec = spec_of("groups", "rule_sets", model={"predictions": {"score": "score"}})
    spec["data"] |= {"path": "people"}
    here = InlineExecutor().submit(spec, tmp_path).result()
    there = executor.submit(spec, tmp_path).result()
    assert here.data == there.data
    for one, other in zip(here.audits, there.audits, strict=True):
        first, second = (json.dumps(each.result.to_json(), sort_keys=True) for each in (one, other))
        assert first == second, one.name


def test_what_is_wrong_is_said_as_here(executor, folder):
    wrong = spec_of("groups")
    wrong["data"]["protected"] = ["sexx"]
    with refused("data.protected", "'sexx'"):
        executor.submit(wrong, folder).result()


def test_other_versions_are_refused(cluster, monkeypatch, tmp_path):
    monkeypatch.setattr(clusters, "stamp", elsewhere)
    with refused("EVENHAND_DASK_SCHEDULER", "numpy"):
        DaskExecutor(cluster.scheduler_address, base=tmp_path)


def elsewhere():
    """Return a stamp that is another in each process."""
    return {"numpy": str(os.getpid())}


def test_a_scheduler_that_is_not_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "_CONNECT_SECONDS", 1)
    with refused("EVENHAND_DASK_SCHEDULER"):
        DaskExecutor("tcp://127.0.0.1:1", base=tmp_path / "home")
    monkeypatch.delenv("EVENHAND_DASK_SCHEDULER", raising=False)
    with refused("EVENHAND_DASK_SCHEDULER"):
        DaskExecutor(base=tmp_path / "home")
