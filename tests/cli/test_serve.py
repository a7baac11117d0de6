"""A pickled pipeline in a process of its own answers for an audit, person by person as itself."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from audits.cli import model_server
from audits.data import build_data, data_spec, read_table
from audits.models import make_subject, model_spec

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """people.csv, and a pipeline of numbers and words fitted on it."""
    folder = tmp_path_factory.mktemp("served")
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 240), "job": rng.choice(["cook", "judge"], 240)})
    frame["hours"] = rng.integers(1, 60, 240)
    frame["paid"] = np.where(frame["hours"] + 20 * (frame["job"] == "judge") > 35, "yes", "no")
    frame.to_csv(folder / "people.csv", index=False)
    steps = make_column_transformer((StandardScaler(), ["hours"]), (OneHotEncoder(), ["job"]))
    X = frame[["hours", "job"]]
    joblib.dump(make_pipeline(steps, LogisticRegression()).fit(X, frame["paid"]), folder / "model.joblib")
    return folder


@pytest.fixture(scope="module")
def address(folder):
    """Where the served pipeline answers."""
    words = [*(sys.executable, "-m", "audits", "serve", "model.joblib"), *("--port", "0", "--python")]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    with subprocess.Popen(
        [*words, sys.executable], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        said = [server.stdout.readline() for _ in range(3)]
        address = said[0].split()[-1]
        assert address.startswith("http://127.0.0.1:"), said
        assert "hours, job" in said[1]
        yield address
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0


def scores_from(address, folder):
    """Return what an audit gets from the service for everyone in people.csv."""
    section = {"label": "paid", "favorable": "yes", "protected": ["sex"], "features": ["job", "hours"]}
    data = build_data(read_table(folder / "people.csv"), data_spec(section))
    return make_subject(data, model_spec({"endpoint": {"url": address}})).scores


def test_scores_are_the_pipeline_s_own(folder, address):
    frame = pd.read_csv(folder / "people.csv")
    own = joblib.load(folder / "model.joblib").predict_proba(frame[["hours", "job"]])[:, 1]
    np.testing.assert_allclose(scores_from(address, folder), own, rtol=0, atol=1e-12)


def test_a_missing_column_is_named(address):
    body = json.dumps({"instances": [{"hours": 3}]}).encode()
    with pytest.raises(urllib.error.HTTPError, match="400") as refused:
        urllib.request.urlopen(urllib.request.Request(address, body, {"Content-Type": "application/json"}))
    told = refused.value.read().decode()
    assert all(each in told for each in ("['job']", "data.features"))


def test_what_cannot_be_served(folder, cli, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "model.onnx").write_bytes(b"")
    for words, tells in {
        "nowhere.joblib": ("MODEL", "nowhere.joblib"),
        "model.onnx": ("model.onnx", "model: {path: …}"),
        "model.joblib --python nopython": ("--python", "'nopython'"),
        "model.joblib --port 70000": ("--port", "65,535"),
    }.items():
        answer = cli("serve", *words.split())
        assert answer.status == 2
        assert all(each in answer.err for each in tells), answer.err
    joblib.dump(SimpleNamespace(predict_proba=len), "chances.joblib")
    with pytest.raises(ValueError, match="no number"):  # it is opened, and the port is next
        model_server.main("chances.joblib", "no number")
