"""Faults, injected: servers killed or told to end, whole ones too, and a webhook that does not answer."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from pathlib import Path

import numpy as np
import sqlalchemy as sa

from audits.monitor.monitors import Monitors
from audits.runs.storage.database import Database
from tests.monitor.conftest import ROW, Server, start

SENDERS = 6
ANSWERS_BEFORE_THE_KILL = 20


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
        with contextlib.suppress(OSError, http.client.HTTPException, json.JSONDecodeError):
            for place in range(10_000):
                self.sent.append(key := f"{sender}-{place}")
                status, answer = self._server.post(rows_of(key), **{"Idempotency-Key": key})
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
