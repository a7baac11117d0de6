"""What a run would take, told before it: what becomes of the rows, and how it grows."""

from __future__ import annotations

import dataclasses
import json
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audits.cli.main import main
from audits.runs.execute import carry_out, prepared_subject
from audits.runs.executing.threads import fixed_threads
from audits.runs.planning.estimating import _grown, estimate
from audits.runs.planning.probing import Probed, probe
from audits.runs.spec import parse_spec


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(2)
    place = tmp_path_factory.mktemp("people")
    for rows in (2_000, 30_000):
        frame = pd.DataFrame({"sex": rng.choice(["f", "m"], rows), "x": rng.normal(size=rows)})
        frame["job"] = rng.choice(["cook", "clerk", "nurse"], rows)
        frame["hired"] = (rng.random(rows) < 0.4).astype(int)
        frame["score"] = rng.random(rows)
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), place / f"{rows}.parquet")
        frame.to_csv(place / f"{rows}.csv", index=False)
    return place


def spec_of(folder, path, audit="groups", model=None, **data):
    section = {"path": path, "protected": ["sex"], "label": "hired", "favorable": 1, **data}
    model = model or {"predictions": {"score": "score"}}
    return parse_spec({"data": section, "model": model, "audits": [{audit: {}}]}, folder)


@pytest.fixture
def untried(monkeypatch):
    """Nothing is tried on a few people: what records expect is told."""
    monkeypatch.setattr("audits.runs.planning.estimating.probe", lambda *_: None)


@pytest.mark.usefixtures("untried")
def test_what_becomes_of_the_rows_is_told(folder, monkeypatch):
    held = estimate(spec_of(folder, "30000.parquet"))
    assert (held.how, held.rows, held.people) == ("held", 30_000, 30_000)
    assert estimate(spec_of(folder, "30000.csv")).people == 30_000
    drawn = estimate(spec_of(folder, "30000.parquet", draw=5000, keep=[{"column": "job", "in": ["cook"]}]))
    assert (drawn.how, drawn.rows) == ("drawn", 30_000)
    assert drawn.people == pytest.approx(5000 / 3, rel=0.1)
    monkeypatch.setattr("audits.runs.reading.countable.COUNTED_FROM", 1)
    counted = estimate(spec_of(folder, "30000.parquet"))
    assert (counted.how, counted.people) == ("counted", 30_000)


@pytest.mark.usefixtures("untried")
def test_more_people_take_longer_and_a_model_trained_here_leaves_fewer(folder):
    trained = {"train": "mlp"}
    few, many = (
        estimate(spec_of(folder, f"{rows}.parquet", "sensitivity", trained, features=["x", "job"]))
        for rows in (2_000, 30_000)
    )
    assert many.people == 9_000
    assert many.guessed == ("sensitivity",)
    assert many.steps["sensitivity"] / many.speed > 5 * few.steps["sensitivity"] / few.speed
    assert many.memory > few.memory
    assert sum(many.steps.values()) == pytest.approx(many.seconds)


def test_what_audits_take_is_measured_on_a_few_people(folder):
    """Processor time of the audits alone, to a factor of 4: other work disturbs seconds by that much."""
    for rows in (2_000, 30_000):
        spec = spec_of(folder, f"{rows}.parquet", "loss_ratio", {"train": "logistic"}, features=["x", "job"])
        told = estimate(spec)
        assert not told.guessed
        with fixed_threads():
            subject = prepared_subject(spec)
            carry_out(spec.audits[0], 0, subject, 0)  # libraries are loaded once
            begun = time.process_time()
            carry_out(spec.audits[0], 0, subject, 0)
            took = time.process_time() - begun
        assert took / 4 < told.steps["loss_ratio"] < 4 * took + 4  # seconds to load libraries


def test_what_was_measured_until_time_was_up_is_told(folder, monkeypatch, tmp_path):
    measured = probe(spec_of(folder, "2000.parquet"), 2_000)
    assert measured.audits["0 groups"].people[:2] == (500, 1_500)
    line = json.dumps(dataclasses.asdict(measured))
    slow = tmp_path / "slow"  # something that is cut off in the middle of a line
    slow.write_text(f"#!/bin/sh\necho '{line}'\nprintf '%s' '{line[:50]}'\nexec sleep 30\n", encoding="utf-8")
    slow.chmod(0o755)
    monkeypatch.setattr("audits.runs.planning.probing.sys.executable", str(slow))
    monkeypatch.setattr("audits.runs.planning.probing._SECONDS", 0.5)
    assert probe(spec_of(folder, "2000.parquet"), 2_000) == measured


def test_seconds_grow_as_expected_or_as_measured_where_that_is_less():
    linear = Probed((100, 300, 900), (1.1, 1.3, 1.9))
    assert _grown(linear, lambda n: 5 + n, 9_000) == pytest.approx(10.0)
    assert _grown(linear, lambda n: n**2, 9_000) == pytest.approx(10.0)
    assert _grown(linear, lambda n: min(n, 1_800), 9_000) == pytest.approx(2.8)
    square = Probed((100, 300, 900), (1.01, 1.09, 1.81))
    assert _grown(square, lambda n: n**2, 9_000) == pytest.approx(82, rel=0.01)
    assert _grown(square, lambda n: n**2, 800) == 1.81  # fewer than were tried


@pytest.mark.usefixtures("untried")
def test_the_command_runs_nothing(folder, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = spec_of(folder, str(folder / "2000.parquet")).to_dict()
    (tmp_path / "spec.json").write_text(json.dumps(document), encoding="utf-8")
    assert main(["run", "spec.json", "--estimate"]) == 0
    told = capsys.readouterr().out
    assert "all 2,000 rows are held in memory" in told.replace("\n", " ")
    assert "groups: " in told
    assert [path.name for path in tmp_path.iterdir()] == ["spec.json"]
