"""The client in a service: all arrives once, and nothing that happens to the server reaches the caller."""

from __future__ import annotations

import http.server
import json
import threading

import numpy as np
import pandas as pd
import pytest

import evenhand
from audits.cli.main import main
from audits.monitor.monitors import Monitors
from tests.monitor.conftest import ROW, Server, another, store_of
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


def test_a_frame_arrives_with_what_was_said(server: Server, bundle, tmp_path, monkeypatch):
    server = another(server, bundle)
    address = f"http://127.0.0.1:{server.port}/api/v1/monitors/{server.monitor.id}"
    client = evenhand.Monitor(address, server.token, seconds=0.05)
    frame = people(120, seed=3)
    rows = frame[["skill", "height", "town"]]
    rows.loc[3, "skill"] = np.nan
    scores = bundle.score(rows).score
    said = {"scores": scores, "decisions": scores > 0.5, "protected": {"group": frame["group"]}}
    client.send(rows, ids=range(120), **said)
    client.send(ROW)
    client.send([ROW, ROW])
    client.send({"skill": "x"})
    assert client.flush()
    assert (client.sent, client.refused, client.dropped) == (123, 1, 0)
    assert "422" in client.problem
    kept = Monitors(store_of(server.home))
    assert kept.get(server.monitor.id).people == 123
    assert sum(each.people for each in kept.rates(server.monitor.id)) == 120
    path, beside = tmp_path / "night.csv", {"group": frame["group"], "ok": scores > 0.5}
    rows.assign(**beside, who=range(120)).to_csv(path, index=False)
    monkeypatch.setenv("EVENHAND_MONITOR_TOKEN", server.token)
    named = ("--id", "who", "--decision", "ok", "--protected", "group")
    assert main(["monitor", "send", address, str(path), *named]) == 0
    assert sum(each.people for each in kept.rates(server.monitor.id)) == 240


def test_the_service_neither_waits_nor_fails():
    client = evenhand.Monitor("http://127.0.0.1:9/api/v1/monitors/m", "t", most_waiting=1000)
    for _ in range(300):
        client.send([ROW] * 10)
    client.send(3)
    client.send(object())
    client.send(pd.DataFrame({"skill": [1]}), ids=7)
    client.send([ROW, ROW], ids=["one of two"])
    assert client.refused == 5, "counted, though nothing was sent"
    assert client.dropped == 2000, "nothing was waited for"
    assert not client.close(0.1)
    client.send(ROW)  # after the end: dropped
    assert client.dropped > 2000
    with pytest.raises(ValueError, match="http://"):
        evenhand.Monitor("evenhand.example", "t")


@pytest.mark.parametrize(("status", "people"), [(429, 1), (413, 4), (401, 2), (503, 5)])
def test_what_the_server_refuses(status: int, people: int):
    """Too often, or down: again, under the same key. Too large: in halves. A wrong token: given up."""
    server = Fickle(status)
    client = evenhand.Monitor(server.url, "t", seconds=0.02)
    client.send([ROW] * people)
    assert client.flush()
    # of integers, of which others are missing
    client.send(pd.Series(ROW), ids=[7.0], protected={"group": [2.0], "b": [pd.NA]})
    assert client.flush()
    assert {"ids": ["7"], "protected": {"group": [2.0], "b": [None]}}.items() <= server.heard[-1][1].items()
    lost = people if status == 401 else 0
    assert (client.sent, client.refused, client.dropped) == (people + 1 - lost, lost, 0)
    sizes = [len(body["rows"]) for _, body in server.heard]
    assert sizes == {429: [1, 1, 1], 413: [4, 2, 2, 1], 401: [2, 1], 503: [5, 5, 1]}[status]
    assert (server.heard[0][0] == server.heard[1][0]) == (status in {429, 503})
    server.shutdown()
