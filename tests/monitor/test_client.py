"""The client in a service: all arrives once, and nothing that happens to the server reaches the caller."""

from __future__ import annotations

import http.server
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

import evenhand
from audits.monitor.monitors import Monitors
from tests.monitor.conftest import ROOT, ROW, Server, another, store_of
from tests.sensitivity.conftest import people


class Fickle(http.server.ThreadingHTTPServer):
    """Answers with each of `statuses` in turn, then well; remembers what it was sent."""

    def __init__(self, *statuses: int) -> None:
        self.statuses, self.heard = list(statuses), list[tuple[str, dict]]()
        super().__init__(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/api/v1/monitors/m"


class Answer(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.heard.append((self.headers["Idempotency-Key"], body))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


def test_a_frame_arrives_with_what_was_said(server: Server, bundle):
    server = another(server, bundle)
    address = f"http://127.0.0.1:{server.port}/api/v1/monitors/{server.monitor.id}"
    client = evenhand.Monitor(address, server.token, seconds=0.05)
    frame = people(120, seed=3)
    rows = frame[["skill", "height", "town"]]
    rows.loc[3, "skill"] = np.nan
    scores = bundle.score(rows).score
    client.send(
        rows, ids=range(120), scores=scores, decisions=scores > 0.5, protected={"group": frame["group"]}
    )
    client.send(ROW)
    client.send([ROW, ROW])
    client.send({"skill": "x"})
    assert client.flush()
    assert (client.sent, client.refused, client.dropped) == (123, 1, 0)
    assert "422" in client.problem
    kept = Monitors(store_of(server.home))
    assert kept.get(server.monitor.id).people == 123
    assert sum(each.people for each in kept.rates(server.monitor.id)) == 120


@pytest.fixture
def fickle() -> Iterator[Fickle]:
    server = Fickle(503, 500)
    yield server
    server.shutdown()


def test_it_tries_again_under_the_same_key(fickle: Fickle):
    client = evenhand.Monitor(fickle.url, "t", seconds=0.05)
    client.send([ROW] * 5)
    assert client.flush()
    assert client.sent == 5
    assert len({key for key, _ in fickle.heard}) == 1
    assert len(fickle.heard) == 3


def test_the_service_neither_waits_nor_fails():
    client = evenhand.Monitor("http://127.0.0.1:9/api/v1/monitors/m", "t", most_waiting=1000)
    for _ in range(300):
        client.send([ROW] * 10)
    client.send(3)
    client.send(object())
    client.send(pd.DataFrame({"skill": [1]}), ids=7)
    assert client.dropped == 2000, "nothing was waited for"
    assert not client.close(0.1)
    client.send(ROW)  # after the end: dropped
    assert client.dropped > 2000
    with pytest.raises(ValueError, match="http://"):
        evenhand.Monitor("evenhand.example", "t")


def test_a_server_that_is_not_well_is_asked_less_and_less_often_whatever_comes_in():
    """Half a second, then one, then two: rows that come in meanwhile do not make it sooner."""
    server = Fickle(*[500] * 1000)
    client = evenhand.Monitor(server.url, "t", seconds=0.01)
    began = time.monotonic()
    while time.monotonic() < began + 1.4 or not server.heard:
        client.send(ROW)
        time.sleep(0.005)
    heard = len(server.heard)
    passed = time.monotonic() - began  # a busy machine may have taken longer
    assert 1 <= heard <= 2 + int(np.log2(1 + passed / 0.5))
    client.close(0)
    server.shutdown()


@pytest.mark.parametrize(("status", "people"), [(429, 1), (413, 4), (401, 2)])
def test_what_the_server_refuses(status: int, people: int):
    """Too often: again. Too large: in halves. A wrong token: given up and told; what comes later is sent."""
    server = Fickle(status)
    client = evenhand.Monitor(server.url, "t", seconds=0.02)
    client.send([ROW] * people)
    assert client.flush()
    client.send(ROW)
    assert client.flush()
    lost = people if status == 401 else 0
    assert (client.sent, client.refused, client.dropped) == (people + 1 - lost, lost, 0)
    sizes = [len(body["rows"]) for _, body in server.heard]
    assert sizes == {429: [1, 1, 1], 413: [4, 2, 2, 1], 401: [2, 1]}[status]
    server.shutdown()


def test_processes_forked_from_one_that_sends_send_too_and_end(fickle: Fickle):
    """As of servers that load a service before they fork; here while a thread holds the client's lock."""
    code = (
        "import os, signal, sys, threading, time, evenhand\n"
        "monitor = evenhand.Monitor(sys.argv[1], 't', seconds=0.02)\n"
        "monitor.send([{'a': 0}] * 2)\n"
        "assert monitor.flush(60)\n"
        "held = threading.Event()\n"
        "def hold():\n"
        "    with monitor._changed:\n"
        "        held.set(); time.sleep(1)\n"
        "threading.Thread(target=hold, daemon=True).start(); held.wait()\n"
        "silent = os.fork()\n"
        "if not silent:\n"
        "    signal.alarm(20); sys.exit()\n"
        "child = os.fork()\n"
        "monitor.send([{'a': 1 if child else 2}] * 3)\n"
        "if child:\n"
        "    assert os.waitpid(silent, 0)[1] == os.waitpid(child, 0)[1] == 0\n"
    )
    subprocess.run([sys.executable, "-c", code, fickle.url], check=True, cwd=ROOT, timeout=120)
    stored = {key: body["rows"] for key, body in fickle.heard}
    assert sorted((rows[0]["a"], len(rows)) for rows in stored.values()) == [(0, 2), (1, 3), (2, 3)]


def test_threads_lose_no_row():
    server = Fickle()
    client = evenhand.Monitor(server.url, "t", seconds=0.01)
    threads = [
        threading.Thread(target=lambda own=k: [client.send({"a": own}) for _ in range(200)]) for k in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.flush(60)
    rows = [row["a"] for _, body in server.heard for row in body["rows"]]
    assert client.sent == len(rows) == 1600
    assert sorted(rows) == sorted(list(range(8)) * 200)
    server.shutdown()


def test_it_needs_no_library_of_others():
    code = (
        "import sys, evenhand; m = evenhand.Monitor('http://127.0.0.1:9', 't'); m.send({'a': 1})\n"
        "assert not {'numpy', 'pandas', 'pydantic'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=60)
