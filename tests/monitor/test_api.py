"""The HTTP routes on a real server: answers, statuses, and a database that is locked or down."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import http.client
import json
import sqlite3
import subprocess
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.serving.ingestion import Ingest
from audits.errors import RunFailed
from audits.monitor.bundle import MonitorBundle
from audits.monitor.monitors import Monitors
from audits.runs.storage.database import Database, is_unreachable
from audits.sensitivity import SensitivityOptions, sensitivity
from tests.models.test_plain_trees import subject_of
from tests.monitor.conftest import ROW, Server, another, arrow, start, store_of
from tests.runs.postgres import Postgres


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
    assert about["reads"] == ["height", "skill", "town"]
    assert about["people"] == before + 1


def auth(server: Server) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.token}"}


ARROW = {"Content-Type": "application/vnd.apache.arrow.stream"}


@pytest.mark.parametrize(
    ("body", "headers", "status", "told"),
    [
        ({"rows": [{**ROW, "skill": "x"}]}, {}, 422, "rows[0].skill"),
        ({"rows": [{**ROW, "group": "a"}]}, {}, 422, "group"),
        ({"rows": [ROW]}, {"Authorization": "Bearer wrong"}, 401, "token"),
        ({"rows": [ROW]}, {"Authorization": "\xe9"}, 401, "token"),
        ({"rows": [ROW]}, {"Content-Type": "text/csv"}, 415, "Content-Type"),
        ({"rows": [ROW]}, {"Idempotency-Key": "k" * 201}, 422, "Idempotency-Key"),
        (b"x" * 9_000_000, {}, 413, "8,000 kB"),
        (b'{"rows": [{"skill": 1, "height": 1, "town": 1e400}]}', {}, 422, "rows[0].town"),
        (gzip.compress(b"{}", mtime=0), {"Content-Encoding": "gzip"}, 415, "Content-Encoding"),
        (arrow({"skill": [0.5], "height": [1], "town": [2**62]}, "us"), ARROW, 422, "'town'"),
        (arrow({"skill": [0.5, 1.0]}, twice=True), ARROW, 422, "'skill'"),
    ],
)
def test_faults_have_their_status_and_sentence(server: Server, body, headers, status, told):
    before = Monitors(store_of(server.home)).get(server.monitor.id).people
    found, answer = server.post(body, **headers)
    assert (found, told in answer["error"]) == (status, True), answer
    assert Monitors(store_of(server.home)).get(server.monitor.id).people == before


def test_another_method_is_told_which_ones_there_are(server: Server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("PUT", f"/api/v1/monitors/{server.monitor.id}/predictions", b"{}", auth(server))
    response = connection.getresponse()
    assert (response.status, response.headers["Allow"]) == (405, "POST, PATCH")
    connection.close()


def test_one_key_with_two_contents_at_the_same_time_has_one_winner(server: Server):
    found: list[tuple[int, int, bool | None]] = []

    def send(content: int) -> None:
        body = {"rows": [{**ROW, "skill": content}]}
        status, answer = server.post(body, **{"Idempotency-Key": "either"})
        found.append((content, status, answer.get("replayed")))

    threads = [threading.Thread(target=send, args=(k % 2,)) for k in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [winner] = {content for content, status, _ in found if status == 200}
    assert (
        sorted(each for each in found if each[0] == winner)
        == [(winner, 200, False)] + [(winner, 200, True)] * 5
    )
    assert [status for content, status, _ in found if content != winner] == [409] * 6


@pytest.mark.parametrize("name", ["0" * 32, "a" * 500])
def test_unknown_monitors_are_not_found(server: Server, name: str):
    status, answer = server.post({"rows": [ROW]}, monitor=name)
    assert status == 404
    assert "error" in answer


def test_a_body_announced_as_a_gigabyte_is_refused_unread(server: Server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.putrequest("POST", f"/api/v1/monitors/{server.monitor.id}/predictions")
    for name, value in {**auth(server), "Content-Type": "application/json"}.items():
        connection.putheader(name, value)
    connection.putheader("Content-Length", "1000000000")
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


@pytest.mark.parametrize("hours", [0, 48])
def test_a_clock_that_is_wrong_is_told_and_does_not_count(server: Server, hours: int):
    at, began = (datetime.now(UTC) + timedelta(hours=hours)).isoformat(), time.time()
    status, answer = server.post({"rows": [ROW], "at": at})
    ended = time.time()
    assert status == 200
    assert bool(answer["notes"]) == bool(hours)
    point = Monitors(store_of(server.home)).points(server.monitor.id)[-1]
    assert began - 1 <= point.received <= ended + 1


def test_a_briefly_locked_database_is_waited_for(server: Server):
    locked = sqlite3.connect(server.home / "evenhand.sqlite", isolation_level=None)
    locked.execute("BEGIN IMMEDIATE")
    answers: list[int] = []
    thread = threading.Thread(target=lambda: answers.append(server.post({"rows": [ROW]})[0]))
    thread.start()
    time.sleep(0.7)
    assert not answers
    locked.execute("ROLLBACK")
    locked.close()
    thread.join(timeout=30)
    assert answers == [200]


def test_a_database_locked_for_good_is_said_to_all_who_wait_and_loses_nothing(bundle, tmp_path: Path):
    monitors = Monitors(Database(f"sqlite:///{tmp_path / 'evenhand.sqlite'}?timeout=0.3"))
    monitor, _ = monitors.create(bundle, name="m")
    service, body = Ingest(monitors), json.dumps({"rows": [ROW]}).encode()

    async def send() -> list[Any]:
        asked = (service.answer(monitor, body, "json", str(key)) for key in range(12))
        return await asyncio.gather(*asked, return_exceptions=True)

    service.start()
    try:
        with store_of(tmp_path).writing():
            began = time.monotonic()
            answers = asyncio.run(send())
            assert time.monotonic() - began < 8 * 0.3, "one by one they would take twelve times as long"
            assert all(isinstance(each, RunFailed) and is_unreachable(each) for each in answers), answers
            assert asyncio.run(service.find(monitor.id)).people == 0  # reading goes on
        assert [each["replayed"] for each in asyncio.run(send())] == [False] * 12
        assert monitors.get(monitor.id).people == 12
    finally:
        service.close()


def test_a_database_server_that_is_down_is_said_and_loses_nothing(bundle, tmp_path: Path):
    database, servers = Postgres(), list[Server]()

    def post(key: str) -> tuple[int, bool | None]:
        status, answer = servers[0].post({"rows": [ROW]}, **{"Idempotency-Key": key})
        return status, answer.get("replayed")

    try:
        database.start()
        monitor, token = Monitors(Database(database.url)).create(bundle, name="m")
        servers.append(start(tmp_path, monitor, token, EVENHAND_DATABASE_URL=database.url))
        assert post("before") == (200, False)
        database.stop()
        assert post("meanwhile") == (503, None)
        database.start()
        assert post("before") == (200, True)
        assert post("meanwhile") == (200, False)
        assert Monitors(Database(database.url)).get(monitor.id).people == 2
    finally:
        for server in servers:
            server.kill()
        with contextlib.suppress(subprocess.CalledProcessError):  # it is down already
            database.stop()
        database.remove()


def test_the_description_names_every_status(server: Server):
    _, document = server.ask("GET", "/api/v1/openapi.json")
    post = document["paths"]["/v1/monitors/{monitor}/predictions"]["post"]
    assert set(post["responses"]) == {
        *("200", "401", "403", "404", "405", "409", "413", "415", "422", "429", "500", "503", "507")
    }
    answer = server.post({"rows": [{**ROW, "town": "moon"}]})[1]
    import jsonschema

    schema = {**document["components"]["schemas"]["MeasuredBatch"], "components": document["components"]}
    jsonschema.validate(answer, schema)
    assert answer["rows"][0]["unseen"] == ["town"]


def test_what_a_monitor_carries_along_is_asked_in_a_process_of_its_own(server: Server, carried):
    server = another(server, carried)
    rows = [{"work_years": place / 5, "hair_length": 8.0} for place in range(100)]
    status, answer = server.post({"rows": rows})
    assert status == 200, answer
    expected = carried.score(rows)
    found = [each["sensitivity"] for each in answer["rows"]]
    np.testing.assert_allclose(found, expected.sensitivity, rtol=1e-12)
    assert [each["score"] for each in answer["rows"]] == expected.score.tolist()
    assert [each["flagged"] for each in answer["rows"]] == expected.flagged.tolist()
    libraries = Path(f"/proc/{server.process.pid}/maps").read_text()
    assert "onnxruntime" not in libraries  # the stranger's file was not opened where pages are served
    status, answer = server.post({"rows": [{**rows[0], "work_years": "many"}]})
    assert (status, "rows[0].work_years" in answer["error"]) == (422, True)


def test_dates_come_in_as_they_are_written(server: Server):
    """By JSON in several forms at once, and as Arrow's own."""
    bundle = MonitorBundle.of(
        sensitivity(
            subject_of("boosting"),
            SensitivityOptions(bootstrap=100, match_set="off", status_model="logistic"),
        )
    )
    server = another(server, bundle)
    row = {"age": 40, "debt": 900.0, "owner": True, "town": "west", "job": "job 1"}
    dates = ["2009-05-01", "2009-05-01T00:00:00", "2009-05-01 00:00:00+02:00", None]
    packed = {name: [value] * 2 for name, value in row.items()} | {"since": [datetime(2009, 5, 1), None]}
    status, said = server.post({"rows": [{**row, "since": date} for date in dates]})
    assert status == 200, said
    scores = [each["score"] for each in said["rows"]]
    assert scores[0] == scores[1] == scores[2]
    status, said = server.post(arrow(packed), **ARROW)
    assert status == 200, said
    assert [each["score"] for each in said["rows"]] == [scores[0], scores[3]]
