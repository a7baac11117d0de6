"""The HTTP routes on a real server: answers, statuses, and what a kill must not lose."""

from __future__ import annotations

import http.client
import json
import sqlite3
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from audits.runs.monitors import Monitors
from tests.monitor.conftest import ROW, Server, start, store_of


def test_one_person_is_measured_and_stored(server: Server, bundle):
    before = Monitors(store_of(server.home)).get(server.monitor.id).people
    status, answer = server.post({"rows": [ROW], "ids": ["applicant 7"]})
    assert status == 200
    [row] = answer["rows"]
    scored = bundle.score([ROW])
    assert row["sensitivity"] == scored.sensitivity[0]
    assert row["score"] == scored.score[0]
    assert row["flagged"] == bool(scored.flagged[0])
    assert row["top"] == dict(scored.top(0))
    assert row["id"] == "applicant 7"
    assert Monitors(store_of(server.home)).get(server.monitor.id).people == before + 1
    status, about = server.ask("GET", f"/api/v1/monitors/{server.monitor.id}", None, auth(server))
    assert status == 200
    assert about["reads"] == ["skill", "height", "town"]
    assert about["people"] == before + 1


def auth(server: Server) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.token}"}


def test_a_large_batch_is_answered_in_order(server: Server, bundle):
    rows = [{**ROW, "skill": place / 100} for place in range(900)]
    status, answer = server.post({"rows": rows})
    assert status == 200
    # sums over batches of another size may differ in the last digit
    assert [row["sensitivity"] for row in answer["rows"]] == pytest.approx(
        bundle.score(rows).sensitivity.tolist()
    )
    assert answer["people"] == 900


@pytest.mark.parametrize(
    ("body", "headers", "status", "words"),
    [
        ({"rows": [{**ROW, "skill": "x"}]}, {}, 422, "rows[0].skill must be a number"),
        ({"rows": [{"skill": 1}]}, {}, 422, "lacks 'height' or 'town'"),
        ({"rows": [{**ROW, "group": "a"}]}, {}, 422, "not read: 'group'"),
        (b'{"rows": [{"skill": Infinity}]}', {}, 422, "JSON"),
        ({"rows": [ROW]}, {"Authorization": "Bearer wrong"}, 401, "token is missing or wrong"),
        ({"rows": [ROW]}, {"Authorization": "\xe9"}, 401, "token is missing or wrong"),
        ({"rows": [ROW]}, {"Content-Type": "text/csv"}, 415, "Content-Type must be one of"),
        ({"rows": [ROW]}, {"Idempotency-Key": "k" * 201}, 422, "Idempotency-Key"),
        (b"x" * 9_000_000, {}, 413, "at most 8 MB"),
    ],
)
def test_faults_have_their_status_and_sentence(server: Server, body, headers, status, words):
    before = Monitors(store_of(server.home)).get(server.monitor.id).people
    found, answer = server.post(body, **headers)
    assert (found, words in answer["error"]) == (status, True), answer
    assert Monitors(store_of(server.home)).get(server.monitor.id).people == before


@pytest.mark.parametrize("name", ["0" * 32, "x", "a-b", "a" * 500])
def test_unknown_monitors_are_not_found(server: Server, name: str):
    status, answer = server.post({"rows": [ROW]}, monitor=name)
    assert status == 404
    assert "error" in answer


def memory_mb(server: Server) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1000


def test_a_body_of_100_mb_is_refused_and_not_kept(server: Server):
    before = memory_mb(server)
    status, answer = server.post(b"[" + b" " * 100_000_000)
    assert (status, "at most 8 MB" in answer["error"]) == (413, True)
    assert memory_mb(server) < before + 40
    assert server.post({"rows": [ROW]})[0] == 200


def test_a_body_of_a_gigabyte_is_refused_before_it_is_read(server: Server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.putrequest("POST", f"/api/v1/monitors/{server.monitor.id}/predictions")
    for name, value in {
        **auth(server),
        "Content-Type": "application/json",
        "Content-Length": "1000000000",
    }.items():
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_a_body_without_a_stated_length_is_refused_when_it_grows_too_large(server: Server):
    headers = {**auth(server), "Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    pieces = (b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [b" " * (1 << 20)] * 20 + [b""])
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    path = f"/api/v1/monitors/{server.monitor.id}/predictions"
    connection.request("POST", path, pieces, headers, encode_chunked=False)
    assert connection.getresponse().status == 413
    connection.close()


def test_a_batch_sent_twice_counts_once(server: Server):
    body = {"rows": [ROW, ROW]}
    first = server.post(body, **{"Idempotency-Key": "monday"})[1]
    again = server.post(body, **{"Idempotency-Key": "monday"})[1]
    assert again == {**first, "replayed": True, "alarms": []}
    status, answer = server.post({"rows": [ROW]}, **{"Idempotency-Key": "monday"})
    assert (status, "another content" in answer["error"]) == (409, True)


def test_the_same_key_at_the_same_time_counts_once(server: Server):
    before = Monitors(store_of(server.home)).get(server.monitor.id).people
    found: list[bool] = []

    def send() -> None:
        found.append(server.post({"rows": [ROW]}, **{"Idempotency-Key": "rush"})[1]["replayed"])

    threads = [threading.Thread(target=send) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [False] + [True] * 11
    assert Monitors(store_of(server.home)).get(server.monitor.id).people == before + 1


@pytest.mark.parametrize("hours", [-48, 0, 48])
def test_a_clock_that_is_wrong_is_told_and_does_not_count(server: Server, hours: int):
    at = (datetime.now(UTC) + timedelta(hours=hours)).isoformat()
    status, answer = server.post({"rows": [ROW], "at": at})
    assert status == 200
    assert bool(answer["notes"]) == bool(hours)
    point = Monitors(store_of(server.home)).points(server.monitor.id)[-1]
    assert abs(point.received - time.time()) < 30


def test_a_locked_database_delays_an_answer_and_loses_nothing(server: Server):
    locked = sqlite3.connect(server.home / "evenhand.sqlite", isolation_level=None)
    locked.execute("BEGIN IMMEDIATE")
    answers: list[int] = []
    thread = threading.Thread(target=lambda: answers.append(server.post({"rows": [ROW]})[0]))
    thread.start()
    time.sleep(0.7)
    assert not answers
    locked.execute("ROLLBACK")
    thread.join(timeout=30)
    assert answers == [200]


def test_the_description_names_every_status(server: Server):
    _, document = server.ask("GET", "/api/v1/openapi.json")
    post = document["paths"]["/api/v1/monitors/{monitor}/predictions"]["post"]
    assert set(post["responses"]) == {"200", "401", "404", "409", "413", "415", "422", "503"}
    answer = server.post({"rows": [{**ROW, "town": "moon"}]})[1]
    import jsonschema

    schema = {**document["components"]["schemas"]["Measured"], "components": document["components"]}
    jsonschema.validate(answer, schema)
    assert answer["rows"][0]["unseen"] == ["town"]


def test_what_was_answered_is_stored_though_the_server_is_killed(bundle, tmp_path: Path):
    monitor, token = Monitors(store_of(tmp_path)).create(bundle, name="m")
    server = start(tmp_path, monitor, token)
    answered: list[str] = []
    sent: list[str] = []

    def load(sender: int) -> None:
        for place in range(10_000):
            key = f"{sender}-{place}"
            sent.append(key)
            try:
                if server.post({"rows": [ROW] * 3}, **{"Idempotency-Key": key})[0] == 200:
                    answered.append(key)
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                return

    threads = [threading.Thread(target=load, args=(sender,)) for sender in range(4)]
    for thread in threads:
        thread.start()
    while len(answered) < 60:
        time.sleep(0.01)
    server.kill()
    for thread in threads:
        thread.join()
    with sqlite3.connect(tmp_path / "evenhand.sqlite") as database:
        stored = {key for (key,) in database.execute("SELECT idempotency_key FROM monitor_batches")}
        people = database.execute("SELECT people FROM monitors").fetchone()[0]
    assert set(answered) <= stored <= set(sent)
    assert people == 3 * len(stored)  # counters and batches are one
    again = start(tmp_path, monitor, token)
    try:
        lost = [key for key in sent if key not in answered]
        for key in [*answered[:3], *lost]:
            status, answer = again.post({"rows": [ROW] * 3}, **{"Idempotency-Key": key})
            assert (status, answer["replayed"]) == (200, key in stored)
    finally:
        again.kill()
