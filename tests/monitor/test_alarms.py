"""What alarms, what does not, and how long an alarm lasts, in worlds whose every change is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.data.preprocessing.groups import cut as cut_ages
from audits.monitor.batches import Batch
from audits.monitor.bundle import MonitorBundle
from audits.monitor.monitors import Monitors, StoredMonitor
from audits.monitor.profile import BatchContext
from audits.monitor.recoding import as_audited, with_values
from audits.monitor.windows import take_window
from audits.runs.execute import prepared_subject
from audits.runs.spec import parse_spec
from tests.monitor.conftest import store_of


def world(rng: np.random.Generator, n: int) -> pd.DataFrame:
    x = rng.normal(size=n)
    score = 1 / (1 + np.exp(-x - rng.normal(size=n)))
    good, sex = (rng.random(n) < score).astype(int), rng.choice(["f", "m"], n)
    return pd.DataFrame({"x": x, "age": rng.integers(18, 70, n), "score": score, "good": good, "sex": sex})


def bundle_of(folder: Path, frame: pd.DataFrame, model: dict[str, Any], **data: Any) -> MonitorBundle:
    frame.to_csv(folder / "reference.csv", index=False)
    usual = {"path": "reference.csv", "label": "good", "protected": ["sex"], "features": ["x", "age"]}
    document = {"data": {**usual, "favorable": 1, **data}, "model": {"predictions": model}}
    spec = parse_spec({**document, "audits": ["groups"]}, folder)
    return with_values(MonitorBundle.of_predictions(prepared_subject(spec)), spec.to_dict()["data"])


def send(monitors: Monitors, monitor: StoredMonitor, frame: pd.DataFrame, **groups: str) -> None:
    """Send people a thousand at a time, with their scores; `groups` are attributes and their columns."""
    for start in range(0, len(frame), 1000):
        part = frame.iloc[start : start + 1000]
        protected = {name: tuple(part[column]) for name, column in groups.items()}
        sent = BatchContext(tuple(part["score"]), protected=protected)
        monitors.store([Batch.of(monitor.id, monitor.bundle, monitor.bundle.score(part), sent)])


def test_scores_that_fall_alarm_beside_an_alarm_that_somebody_knows(tmp_path):
    """Wrong values move scores; once somebody knows of them, or after long, scores that move are news."""
    rng = np.random.default_rng(0)
    bundle = bundle_of(tmp_path, world(rng, 1000), {"score": "score"})
    monitors = Monitors(store_of(tmp_path))
    monitor, _ = monitors.create(bundle, name="m")
    frame = world(rng, 3500)
    frame.loc[rng.random(3500) < 0.05, "age"] = -1
    send(monitors, monitor, frame.iloc[:1500])
    [known] = monitors.alarms(monitor.id)
    assert known.kind == "impossible"
    monitors.acknowledge(monitor.id, known.place, "")
    send(monitors, monitor, frame.iloc[1500:].assign(score=0.4 * frame["score"]))
    found = {alarm.kind: alarm for alarm in monitors.alarms(monitor.id)}
    assert found.keys() == {"impossible", "scores", "decisions"}
    assert 1500 < found["scores"].person < 1700
    assert found["impossible"].times < 20, "what is found of scores is not found of ages"


@pytest.mark.parametrize("bins", [[18, 30, 45, 70], 3])
def test_ages_are_grouped_as_the_audit_cut_them(bins, tmp_path):
    rng = np.random.default_rng(1)
    cut = {"protected": ["age"], "bins": {"age": bins}}
    bundle = bundle_of(tmp_path, world(rng, 1000), {"score": "score"}, **cut)
    assert MonitorBundle.parse(*bundle.dump()).bins == bundle.bins
    frame = world(rng, 1000)
    columns = {name: frame[name].tolist() for name in bundle.reads}
    ages = tuple(frame["age"].astype(str))
    _, sent = as_audited(bundle, columns, BatchContext(protected={"age": (*ages[:-2], "[30, 45)", None)}))
    assert {*sent.protected["age"][:-2]} == {*bundle.groups["age"]}
    assert sent.protected["age"][-2:] == ("[30, 45)", None)
    assert {*bundle.sent_of(frame).protected["age"]} == {*bundle.groups["age"]}
    monitors = Monitors(store_of(tmp_path))
    monitor, _ = monitors.create(bundle, name="m", keep_rows=True)
    beside = BatchContext(tuple(frame["score"]), protected={"age": sent.protected["age"][:1] + (None,) * 999})
    batch = Batch.of(monitor.id, bundle, bundle.score(frame), beside, columns=columns)
    monitors.store([batch])
    window = take_window(monitors, monitor.id, last=1000, rows=True)
    assert window.groups["age"] == cut_ages(frame["age"], bundle.bins["age"]).value_counts().to_dict()
