"""A server that is told to end hands its runs back: the next one starts each again, once, and says so."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

from audits.monitor.monitors import Monitors
from audits.runs.storage.saved import RESTARTED
from tests.monitor.conftest import FULL_APP, Server, start, store_of
from tests.sensitivity.conftest import people

SPACE = "0123456789abcdef" * 2
LONG = {
    "flipset": {"source": {"group": "a"}, "target": {"group": "b"}, "permutations": 99_999, "seconds": 3600}
}


def test_runs_start_again_once_after_a_sigterm(bundle, tmp_path: Path):
    monitor, token = Monitors(store_of(tmp_path)).create(bundle, name="m", owner=SPACE, keep_rows=True)
    frame = people(600, 5)
    rows = json.loads(frame[list(bundle.reads)].to_json(orient="records"))
    body = {
        "rows": rows,
        "ids": [str(k) for k in range(600)],
        "protected": {"group": frame["group"].tolist()},
    }
    for life in range(3):
        server = start(tmp_path, monitor, token, FULL_APP)
        try:
            if not life:
                assert server.post(body)[0] == 200
                for last in (600, 599, 598):  # more than there are workers: some wait
                    status, answer = _ask(server, "POST", {"last": last, "audits": [LONG]})
                    assert status == 200, answer
            wanted = {0: "running", 1: "running", 2: "interrupted"}[life]
            found = _runs(server, wanted)
            assert [each["status"] for each in found] == [wanted] * 3, found
            assert all((RESTARTED in each["note"]) == (life > 0) for each in found)
            began = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(60)
            assert time.monotonic() - began < 40
        finally:
            server.kill()


def _ask(server: Server, method: str, body: Any = None) -> tuple[int, Any]:
    head = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    path = f"/api/v1/monitors/{server.monitor.id}/audits"
    return server.ask(method, path, None if body is None else json.dumps(body).encode(), head)


def _runs(server: Server, wanted: str) -> list[dict[str, Any]]:
    """Return the audits of windows once all stand as `wanted`, or after a while."""
    found: list[dict[str, Any]] = []
    for _ in range(60):
        found = _ask(server, "GET")[1]["audits"]
        if found and {each["status"] for each in found} == {wanted}:
            time.sleep(12 if wanted == "interrupted" else 1)  # nothing starts them a second time
            return _ask(server, "GET")[1]["audits"]
        time.sleep(0.5)
    return found
