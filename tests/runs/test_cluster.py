"""Runs on a Dask cluster of two processes: the same numbers as in this process, and how it fails."""

from __future__ import annotations

import json
import sys
import types

import pytest

from audits.runs.executors import dask as clusters
from audits.runs.executors.dask import DaskExecutor
from audits.runs.executors.inline import InlineExecutor
from tests.refused import refused
from tests.runs.conftest import make_spec

distributed = pytest.importorskip("distributed")

PAIR = {"source": {"group": "north"}, "target": {"group": "south"}}
AUDITS = [
    {"groups": {}},
    {"outcome_transport": {"against": "equal_opportunity", "permutations": 19, "draws": 0}},
    {"flipset": {**PAIR, "permutations": 19, "seconds": 1}},
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


def test_audits_find_there_what_they_find_here(executor, base):
    spec = make_spec(*AUDITS, model={"train": "logistic"})
    here, run = InlineExecutor().submit(spec, base).result(), executor.submit(spec, base)
    there = run.result()
    assert here.data == there.data
    for one, other in zip(here.audits, there.audits, strict=True):
        first, second = (json.dumps(each.result.to_json(), sort_keys=True) for each in (one, other))
        assert first == second, one.name
    assert run.progress.doing == "Done"
    assert executor.submit(spec, base).finished  # kept here, under its key
    spec["data"]["protected"] = ["grup"]
    with refused("data.protected", "'grup'"):
        executor.submit(spec, base).result()


def test_a_scheduler_that_is_not_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "_CONNECT_SECONDS", 1)
    with refused("EVENHAND_DASK_SCHEDULER"):
        DaskExecutor("tcp://127.0.0.1:1", base=tmp_path / "home")
    monkeypatch.delenv("EVENHAND_DASK_SCHEDULER", raising=False)
    with refused("EVENHAND_DASK_SCHEDULER"):
        DaskExecutor(base=tmp_path / "home")
