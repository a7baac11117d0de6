"""Windows of what a monitor received, audited like any other table: what is in them, left out, and found."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from audits.errors import InputError
from audits.monitor.batches import Batch
from audits.monitor.monitors import Monitors, StoredMonitor
from audits.monitor.profile import BatchContext
from audits.monitor.windows import file_name, take_window, window_spec
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from audits.stats import EVIDENCE
from tests.monitor.conftest import Server, another, store_of
from tests.refused import refused
from tests.sensitivity.conftest import people

SPACE = "0123456789abcdef" * 2


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def kept(bundle, tmp_path) -> tuple[Monitors, StoredMonitor, Clock]:
    clock = Clock()
    monitors = Monitors(store_of(tmp_path), clock)
    return monitors, monitors.create(bundle, name="hiring", keep_rows=True)[0], clock


def send(monitors: Monitors, monitor: StoredMonitor, n: int, seed: int = 0, **more: Any) -> None:
    """Store n people as a service would send them, their rows as they came."""
    frame = people(n, seed)
    columns = {name: frame[name].tolist() for name in monitor.bundle.reads}
    scored = monitor.bundle.score_columns(columns, n)
    said = {"protected": {"group": tuple(frame["group"])}, **more}
    ids = said.pop("ids", tuple(f"{seed}-{place}" for place in range(n)))
    [stored] = monitors.store(
        [Batch(monitor.id, scored, f"{seed}", ids=ids, sent=BatchContext(**said), columns=columns)]
    )
    assert not isinstance(stored, InputError), stored


def test_the_last_people_are_those_that_came_last_with_their_own_rows(kept):
    monitors, monitor, _ = kept
    send(monitors, monitor, 300, 1)
    send(monitors, monitor, 200, 2)
    window = take_window(monitors, monitor.id, last=250, rows=True)
    there = people(300, 1).tail(50), people(200, 2)
    assert window.frame["skill"].tolist() == [*there[0]["skill"], *there[1]["skill"]]
    assert window.frame["group"].tolist() == [*there[0]["group"], *there[1]["group"]]
    assert (window.received, window.left_out) == (250, {})
    assert "“hiring”" in window.sentence
    assert len(re.findall(r"\b250\b", window.sentence)) == 2, "asked for, and audited"


def test_rows_that_cannot_be_looked_at_are_left_out_by_reason(kept):
    monitors, monitor, clock = kept
    send(monitors, monitor, 100, 1, persons=("the same",) * 40 + ("",) * 60)
    monitors.learn(monitor.id, {f"1-{place}": place % 2 == 0 for place in range(60, 80)})
    window = take_window(monitors, monitor.id, last=2000, outcomes=True, rows=True)
    assert (window.received, "2,000" in window.sentence) == (100, False), "no more came"
    assert list(window.left_out.values()) == [39], "counted already"
    assert window.frame["outcome"].value_counts().to_dict() == {"favorable": 10, "unfavorable": 10}
    assert window.frame["outcome"].isna().sum() == 41, "not known"
    clock.now += 3600
    send(monitors, monitor, 50, 2)
    first = datetime.fromtimestamp(clock.now - 60, UTC)
    assert len(take_window(monitors, monitor.id, since=first, rows=True).frame) == 50
    assert len(take_window(monitors, monitor.id, until=first, rows=True).frame) == 61


def test_a_window_whose_outcomes_are_those_of_the_approved_compares_everyone(kept, tmp_path):
    """Of people whose outcome is known all are approved, in either group."""
    monitors, monitor, _ = kept
    in_a = people(2000, 3)["group"].to_numpy() == "a"
    decided = np.random.default_rng(0).random(2000) < np.where(in_a, 0.8, 0.4)
    send(monitors, monitor, 2000, 3, decisions=tuple(decided.tolist()))
    monitors.learn(monitor.id, {f"3-{place}": bool(place % 2) for place in np.flatnonzero(decided)})
    window = take_window(monitors, monitor.id, last=2000, outcomes=True)
    window.frame.to_parquet(tmp_path / file_name(monitor))
    spec, _ = window_spec(monitor, window, file_name(monitor), ["groups"], outcomes=True)
    [audit] = execute(parse_spec(spec, tmp_path)).audits
    assert audit.result.verdict == EVIDENCE
    assert len(window.frame) == 2000


def test_what_cannot_be_audited_is_refused_in_a_sentence(kept, bundle):
    monitors, monitor, _ = kept
    with refused("window"):
        take_window(monitors, monitor.id, last=10)
    for where, wrong in (("window", {}), ("last", {"last": 0})):
        with refused(where):
            take_window(monitors, monitor.id, **wrong)
    send(monitors, monitor, 20, 1, protected={})
    window = take_window(monitors, monitor.id, last=20, rows=True)
    with refused("window"):
        window_spec(monitor, window, "w.parquet")
    plain, _ = monitors.create(bundle, name="keeps nothing")
    send(monitors, plain, 30, 3)
    window = take_window(monitors, plain.id, last=30)
    spec, notes = window_spec(plain, window, "w.parquet")
    assert [name for each in spec["audits"] for name in each] == ["groups", "rule_sets"]
    assert any("flipset" in note for note in notes)
    with refused("flipset"):
        window_spec(plain, window, "w.parquet", ["flipset"])


@pytest.fixture(scope="module")
def server(server: Server, bundle) -> Server:
    return another(server, bundle, owner=SPACE, keep_rows=True)


def test_a_service_has_a_window_audited_by_http(server: Server):
    frame = people(200, 5)
    rows = json.loads(frame[list(server.monitor.bundle.reads)].to_json(orient="records"))
    favored = (frame["group"] == "a").tolist()
    protected = {"group": frame["group"].tolist()}
    status, answer = server.post({"rows": rows, "decisions": favored, "protected": protected})
    assert status == 200, answer
    for wrong, told in (
        ({"last": "many"}, "last "),
        ({"last": 10, "audits": [{"groups": {"level": 7}}]}, "level"),
        ({}, "window "),
    ):
        status, answer = server.call("POST", "/audits", wrong)
        assert (status, told in answer["error"]) == (422, True), answer
    assert server.call("GET", "/audits")[1] == {"audits": []}
    status, answer = server.call("POST", "/audits", {"last": 200, "audits": ["groups"]})
    assert status == 200, answer
    assert answer["window"]["rows"] == 200
    for _ in range(600):
        told = server.call("GET", f"/audits/{answer['audit']}")[1]
        if told["status"] != "running":
            break
        time.sleep(0.1)
    assert told["status"] == "done", told
    assert "200" in told["window"]
    rates = {row["group"]: row["selection_rate"]["value"] for row in told["results"]["audits"][0]["table"]}
    assert rates == {"a": 1.0, "b": 0.0}
    assert [each["audit"] for each in server.call("GET", "/audits")[1]["audits"]] == [answer["audit"]]
    assert server.call("GET", "/audits/other")[0] == 404
