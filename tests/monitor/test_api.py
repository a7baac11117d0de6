"""The HTTP routes on a real server: answers, statuses, and a body that grows."""

from __future__ import annotations

import gzip
import http.client
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from audits.monitor.bundle import MonitorBundle
from audits.monitor.monitors import Monitors
from audits.sensitivity import SensitivityOptions, sensitivity
from tests.models.test_plain_trees import subject_of
from tests.monitor.conftest import ROW, Server, another, arrow, store_of


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


def test_a_body_without_a_stated_length_is_refused_when_it_grows_too_large(server: Server):
    headers = {**auth(server), "Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    pieces = (b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [b" " * (1 << 20)] * 20 + [b""])
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    path = f"/api/v1/monitors/{server.monitor.id}/predictions"
    connection.request("POST", path, pieces, headers, encode_chunked=False)
    assert connection.getresponse().status == 413
    connection.close()


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
    asked = SensitivityOptions(bootstrap=100, match_set="off", status_model="logistic")
    server = another(server, MonitorBundle.of(sensitivity(subject_of("boosting"), asked)))
    row = {"age": 40, "debt": 900.0, "owner": True, "town": "west", "job": "job 1"}
    dates = ["2009-05-01", "2009-05-01T00:00:00", "2009-05-01 00:00:00+02:00", None]
    packed = {name: [value] * 2 for name, value in row.items()} | {"since": [datetime(2009, 5, 1), None]}
    status, said = server.post({"rows": [{**row, "since": date} for date in dates]})
    assert status == 200, said
    scores = [each["score"] for each in said["rows"]]
    assert scores[0] == scores[1] == scores[2]
    found = server.post(arrow(packed), **ARROW)[1]["rows"]
    assert [each["score"] for each in found] == [scores[0], scores[3]]
