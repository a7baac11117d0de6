"""Runs on a Dask cluster of two processes: the same numbers as in this process, and how it fails."""

from __future__ import annotations

import importlib
import json
import os
import sys
import types

import pandas as pd
import pytest

from audits.runs.executors import dask as clusters
from audits.runs.executors.dask import DaskExecutor
from audits.runs.executors.inline import InlineExecutor
from tests.refused import refused
from tests.runs.conftest import make_spec, write_people

distributed = pytest.importorskip("distributed")

PAIR = {"source": {"group": "north"}, "target": {"group": "south"}}
AUDITS = [
    *({"groups": {}}, {"rule_sets": {"samples": 0, "permutations": 49}}),
    *({"flipset": {**PAIR, "permutations": 19, "seconds": 1}}, {"sensitivity": {"bootstrap": 100}}),
]


@pytest.fixture(scope="module", autouse=True)
def neutral_main():
    """A page that a test showed is the main module still, which every process of a cluster would run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
        yield


@pytest.fixture(scope="module")
def cluster():
    asked = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**asked) as found:
        yield found


@pytest.fixture(scope="module")
def executor(cluster, tmp_path_factory):
    with DaskExecutor(cluster.scheduler_address, base=tmp_path_factory.mktemp("home")) as found:
        yield found


def same_there(executor, spec, folder):
    """Carry a spec out here and there, and compare what is found."""
    here, run = InlineExecutor().submit(spec, folder).result(), executor.submit(spec, folder)
    there = run.result()
    assert here.data == there.data
    for one, other in zip(here.audits, there.audits, strict=True):
        first, second = (json.dumps(each.result.to_json(), sort_keys=True) for each in (one, other))
        assert first == second, one.name
    assert run.progress.doing == "Done"


def test_audits_find_there_what_they_find_here(executor, base):
    spec = make_spec(*AUDITS, model={"train": "logistic"})
    same_there(executor, spec, base)
    assert executor.submit(spec, base).finished  # kept here, under its key


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


def test_files_of_a_table_are_counted_by_all_workers(executor, base, counted):
    (base / "people").mkdir()
    for part in range(4):
        write_people(base / "part.csv", seed=part, n=700)
        pd.read_csv(base / "part.csv").to_parquet(base / "people" / f"{part}.parquet")
    spec = make_spec(*AUDITS[:2])
    spec["data"] |= {"path": "people"}
    same_there(executor, spec, base)


def test_what_is_wrong_is_said_as_here(executor, base):
    wrong = make_spec({"groups": {}})
    wrong["data"]["protected"] = ["grup"]
    with refused("data.protected", "'grup'"):
        executor.submit(wrong, base).result()


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
