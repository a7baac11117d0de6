"""Faults, injected: servers killed or told to end, whole ones too, and a webhook that does not answer."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from app.serving import api, webhook
from app.serving.ingestion import Ingest
from audits.monitor.batches import Batch
from audits.monitor.monitors import Monitors
from audits.runs.storage.database import Database
from audits.runs.storage.saved import RESTARTED, SavedRuns
from tests.monitor.conftest import FULL_APP, ROW, Server, start, store_of
from tests.sensitivity.conftest import people

SPACE = "0123456789abcdef" * 2
LONG = {
    "flipset": {"source": {"group": "a"}, "target": {"group": "b"}, "permutations": 99_999, "seconds": 3600}
}


def test_runs_start_again_after_a_sigterm(bundle, tmp_path: Path):
    monitor, token = Monitors(store_of(tmp_path)).create(bundle, name="m", owner=SPACE, keep_rows=True)
    frame = people(600, 5)
    rows = json.loads(frame[list(bundle.reads)].to_json(orient="records"))
    body = {
        "rows": rows,
        "ids": [str(k) for k in range(600)],
        "protected": {"group": frame["group"].tolist()},
    }
    for life in range(2):
        server = start(tmp_path, monitor, token, FULL_APP)
        try:
            if not life:
                # a wrong address of the API is told, not answered with a page
                assert server.ask("GET", "/api/v1/monitor")[0] == 404
                assert server.post(body)[0] == 200
                for last in (600, 599, 598):  # more than there are workers: some wait
                    status, answer = server.call("POST", "/audits", {"last": last, "audits": [LONG]})
                    assert status == 200, answer
            found = _runs(server, restarted=life > 0)
            assert [each["status"] for each in found] == ["running"] * 3, found
            assert all((RESTARTED in each["note"]) == (life > 0) for each in found)
            began = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(60)
            assert time.monotonic() - began < 40
        finally:
            server.kill()
    saved = SavedRuns(tmp_path)
    assert [run.status for run in saved.list(owner=SPACE)] == ["interrupted"] * 3
    assert not saved.handed_back(), "they start again but once"


def test_a_webhook_that_does_not_answer_is_seen_by_readiness_and_fails_with_its_reason(
    bundle, tmp_path, monkeypatch
):
    silent = socket.create_server(("127.0.0.1", 0))
    host = f"127.0.0.1:{silent.getsockname()[1]}"
    monkeypatch.setenv("EVENHAND_WEBHOOK_HOSTS", host)
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))
    monkeypatch.setattr(webhook, "_STUCK_SECONDS", 0.2)
    monkeypatch.setattr(webhook, "_SECONDS", 0.6)
    monitors = Monitors(store_of(tmp_path))
    address = {"webhook": f"http://{host}/", "webhook_hosts": (host,)}
    monitor, _ = monitors.create(bundle, name="m", people_between=2000, **address)
    scored = bundle.score([ROW] * 120)
    monitors.store([Batch(monitor.id, replace(scored, flagged=np.ones(120, dtype=bool)), "x")])
    service = Ingest(monitors, tick_seconds=0.1)
    monkeypatch.setattr(api.monitor_api, "INGEST", service)
    service.start()
    try:
        assert any("webhook" in api.faults() or time.sleep(0.05) for _ in range(40))
        for _ in range(100):
            if not service.stuck and monitors.alarms(monitor.id)[0].told:
                break
            time.sleep(0.1)
        assert "timed out" in monitors.alarms(monitor.id)[0].told
        assert "webhook" not in api.faults()
    finally:
        silent.close()
        service.close()


def _runs(server: Server, *, restarted: bool) -> list[dict[str, Any]]:
    """Return the audits of windows once all go on, or after a while."""
    found: list[dict[str, Any]] = []
    for _ in range(120):
        found = server.call("GET", "/audits")[1]["audits"]
        if found and all(e["status"] == "running" and (RESTARTED in e["note"]) == restarted for e in found):
            break
        time.sleep(0.25)
    return found


SENDERS = 6
ANSWERS_BEFORE_THE_KILL = 60


class Load:
    """Senders that post one batch after the other, each under its own key, until the server is gone."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.sent: list[str] = []
        self.answered: dict[str, list[float]] = {}
        self._threads = [threading.Thread(target=self._send, args=(k,)) for k in range(SENDERS)]
        for thread in self._threads:
            thread.start()

    def _send(self, sender: int) -> None:
        for place in range(10_000):
            key = f"{sender}-{place}"
            self.sent.append(key)
            try:
                status, answer = self._server.post(rows_of(key), **{"Idempotency-Key": key})
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                return
            if 200 <= status < 300:
                self.answered[key] = [row["sensitivity"] for row in answer["rows"]]

    def join(self) -> None:
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()


def rows_of(key: str) -> dict[str, list[dict[str, object]]]:
    """Return a batch whose people are those of no other key."""
    sender, place = map(int, key.split("-"))
    return {"rows": [{**ROW, "skill": sender + place / 1000, "height": 150 + k} for k in range(3)]}


def stored_in(url: str, monitor: str) -> dict[str, list[float]]:
    """Return a monitor's sensitivities stored under each key; a key stored twice is an error."""
    asked = sa.text("SELECT idempotency_key, sensitivities FROM monitor_batches WHERE monitor = :monitor")
    with Database(url).reading() as connection:
        rows = connection.execute(asked, {"monitor": monitor}).all()
    found = {key: np.frombuffer(values, "<f8").tolist() for key, values in rows}
    assert len(found) == len(rows)
    return found


def test_what_was_answered_is_stored_though_the_server_is_killed(bundle, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'evenhand.sqlite'}"
    monitors = Monitors(Database(url))
    monitor, token = monitors.create(bundle, name="killed")
    server = start(tmp_path, monitor, token, EVENHAND_DATABASE_URL=url)
    try:
        load = Load(server)
        began = time.monotonic()
        while len(load.answered) < ANSWERS_BEFORE_THE_KILL and time.monotonic() < began + 60:
            time.sleep(0.005)
        assert len(load.answered) >= ANSWERS_BEFORE_THE_KILL
    finally:
        server.kill()
    load.join()
    stored = stored_in(url, monitor.id)
    assert set(load.answered) <= set(stored) <= set(load.sent)
    assert all(stored[key] == values for key, values in load.answered.items())
    assert monitors.get(monitor.id).people == 3 * len(stored)  # counters and batches are one

    again = start(tmp_path, monitor, token, EVENHAND_DATABASE_URL=url)
    try:
        for key in load.sent:
            status, answer = again.post(rows_of(key), **{"Idempotency-Key": key})
            assert (status, answer["replayed"]) == (200, key in stored)
    finally:
        again.kill()
    now = stored_in(url, monitor.id)
    assert set(now) == set(load.sent)
    assert monitors.get(monitor.id).people == 3 * len(now)
    point = monitors.points(monitor.id, most=1)[0]
    assert point.people == 3 * len(now)
