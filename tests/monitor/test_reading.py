"""The API besides predictions on a real server: reading, outcomes, alarms, tokens, hostile bodies."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from audits.runs.monitoring.monitors import Monitors
from tests.monitor.conftest import ROW, Server, start, store_of

SECRET = "let prometheus in"


@pytest.fixture(scope="module")
def server(bundle, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("reading")
    monitor, token = Monitors(store_of(home)).create(bundle, name="=hiring", people_between=5000)
    running = start(home, monitor, token, EVENHAND_METRICS_TOKEN=SECRET, EVENHAND_WEBHOOK_HOSTS="hooks.ours")
    loud = [{"skill": 400.0, "height": 9e9, "town": "moon"}] * 200
    status, answer = running.post(
        {
            "rows": loud,
            "ids": [f"=a{place}" for place in range(200)],
            "protected": {"group": ["a", "b"] * 100},
            "decisions": [True, False] * 100,
        }
    )
    assert status == 200, answer
    assert any("values that cannot be" in each for each in answer["notes"])
    yield running
    running.kill()


def call(server: Server, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any]:
    head = {"Authorization": f"Bearer {token or server.token}", "Content-Type": "application/json"}
    data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    return server.ask(method, f"/api/v1/monitors/{server.monitor.id}{path}", data, head)


def test_everything_that_was_seen_can_be_read(server: Server):
    status, about = call(server, "GET", "")
    assert (status, about["name"]) == (200, "=hiring")
    assert sum(about["shares"].values()) == pytest.approx(1.0)
    [stretch] = call(server, "GET", "/history")[1]["history"]
    assert stretch["people"] == 200
    found = call(server, "GET", "/alarms?state=waiting")[1]
    assert found["waiting"] == len(found["alarms"])
    assert {"impossible", "repeats", "inputs"} <= {each["kind"] for each in found["alarms"]}
    assert call(server, "GET", "/inputs")[1]["columns"]["height"]["impossible"] == 200
    rates = {each["group"]: each for each in call(server, "GET", "/groups")[1]["groups"]}
    assert rates["a"]["selection"]["value"] == 1.0
    assert rates["b"]["selection_gap"]["high"] < 0
    status, listed = server.ask("GET", "/api/v1/monitors", None, {"Authorization": f"Bearer {server.token}"})
    assert [each["id"] for each in listed["monitors"]] == [server.monitor.id]


def test_outcomes_are_noted_by_id(server: Server):
    outcomes = {"=a0": True, "=a1": False, "nobody": True}
    status, answer = call(server, "PATCH", "/predictions", {"outcomes": outcomes})
    assert (status, answer["noted"], answer["unknown"]) == (200, 2, ["nobody"])
    assert call(server, "PATCH", "/predictions", {"outcomes": outcomes})[1]["before"] == 2
    rates = {each["group"]: each for each in call(server, "GET", "/groups")[1]["groups"]}
    assert rates["a"]["outcomes"] == 1


def test_an_alarm_is_handled(server: Server):
    [first, second, *_] = reversed(call(server, "GET", "/alarms")[1]["alarms"])
    change = {
        "acknowledge": True,
        "note": "feed broken",
        "owner": "Ada",
        "severity": "low",
        "snooze_hours": 2,
    }
    status, told = call(server, "PATCH", f"/alarms/{first['place']}", change)
    assert status == 200, told
    assert (told["owner"], told["severity"], told["note"]) == ("Ada", "low", "feed broken")
    assert told["snoozed"] > told["raised"] + 7000
    assert call(server, "PATCH", f"/alarms/{second['place']}", {"resolve": True})[1]["resolved"] is not None
    people = call(server, "GET", f"/people?alarm={first['place']}&most=5")[1]["people"]
    assert all(first["person"] <= each["person"] <= first["last_person"] for each in people)
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/api/v1/monitors/{server.monitor.id}/alarms?format=csv",
        headers={"Authorization": f"Bearer {server.token}"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.headers["Content-Type"].startswith("text/csv")
        assert "feed broken" in answer.read().decode()


def test_tokens_have_scopes_and_end(server: Server):
    made = {}
    for scope in ("send", "read"):
        status, made[scope] = call(server, "POST", "/tokens", {"scope": scope, "name": scope, "days": 30})
        assert status == 200
    send, read = made["send"]["token"], made["read"]["token"]
    assert call(server, "POST", "/predictions", {"rows": [ROW]}, send)[0] == 200
    status, answer = call(server, "GET", "/alarms", None, send)
    assert (status, "may not read" in answer["error"]) == (403, True)
    assert call(server, "GET", "/alarms", None, read)[0] == 200
    assert call(server, "POST", "/predictions", {"rows": [ROW]}, read)[0] == 403
    assert call(server, "POST", "/tokens", {"scope": "send"}, read)[0] == 403
    assert "token" not in json.dumps([each["name"] for each in call(server, "GET", "/tokens")[1]["tokens"]])
    assert call(server, "DELETE", f"/tokens/{made['send']['id']}")[0] == 200
    assert call(server, "POST", "/predictions", {"rows": [ROW]}, send)[0] == 401
    old = server.token
    try:
        server.token = call(server, "POST", "/tokens/rotate", {"hours": 0})[1]["token"]
        assert call(server, "GET", "", None, old)[0] == 401
    finally:
        assert call(server, "GET", "")[0] == 200


def test_a_webhook_is_changed(server: Server):
    assert call(server, "PATCH", "", {"webhook": "http://hooks.ours/a", "hook": "teams"})[1]["webhook"]
    assert call(server, "PATCH", "", {"email": ["ada@example.org"]})[1]["email"] == 1
    for bad, words in (
        ({"webhook": "http://evil.example/"}, "allowed are hooks.ours"),
        ({"hook": "fax"}, "hook must be"),
        ({"email": ["a@b\r\nBcc: c@d"]}, "addresses such as"),
        ({"token": 1}, "unknown keys"),
        ({}, "must be of name"),
    ):
        status, answer = call(server, "PATCH", "", bad)
        assert (status, words in answer["error"]) == (422, True), answer


def test_prometheus_is_let_in_by_its_token(server: Server):
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/metrics", headers={"Authorization": f"Bearer {SECRET}"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        text = answer.read().decode()
    assert f'evenhand_monitor_people_total{{monitor="{server.monitor.id}",name="=hiring"}} 20' in text
    assert server.ask("GET", "/metrics", None, {"Authorization": "Bearer \xe9"})[0] == 401


PAIR = {"rows": [ROW, ROW]}


@pytest.mark.parametrize(
    ("method", "path", "body", "words"),
    [
        ("POST", "/predictions", {**PAIR, "scores": [0.5]}, "scores must be a list of 2"),
        ("POST", "/predictions", {**PAIR, "scores": [0.5, 1.5]}, "scores[1] must be the probability"),
        ("POST", "/predictions", {**PAIR, "scores": ["a", True]}, "scores[0] must be the probability"),
        ("POST", "/predictions", {**PAIR, "decisions": [True, "yes"]}, "decisions[1] must be true"),
        ("POST", "/predictions", {**PAIR, "decisions": [[], {}]}, "decisions[0] must be true"),
        ("POST", "/predictions", {**PAIR, "persons": [1, 2]}, "persons[0] must be printable"),
        ("POST", "/predictions", {**PAIR, "protected": ["a"]}, "protected must be an object"),
        ("POST", "/predictions", {**PAIR, "protected": {"g": ["a"]}}, "protected.g must be a list of 2"),
        ("POST", "/predictions", {**PAIR, "protected": {"\u0000": ["a", "b"]}}, "printable"),
        ("POST", "/predictions", {**PAIR, "protected": {str(k): [] for k in range(99)}}, "at most 20"),
        ("PATCH", "/predictions", {"outcomes": {}}, "must hold from 1"),
        ("PATCH", "/predictions", {"outcomes": {"a": "yes"}}, "must be true or false"),
        ("PATCH", "/predictions", {"outcomes": {"a": 0.0}}, "must be true or false"),
        ("PATCH", "/predictions", {"outcomes": [1]}, "must be an object of your ids"),
        ("PATCH", "/predictions", b"{" * 100_000, "must be JSON"),
        ("PATCH", "/predictions", b'{"outcomes": {"a": true, "a": false}}', "a key twice"),
        ("PATCH", "/alarms/0", {}, "must say what to change"),
        ("PATCH", "/alarms/0", {"snooze_hours": 1e300}, "snooze_hours must lie"),
        ("PATCH", "/alarms/0", {"acknowledge": "yes"}, "acknowledge must be true or false"),
        ("PATCH", "/alarms/0", {"note": "\ud800"}, "half of a character"),
        ("PATCH", "/alarms/0", {"owner": 3}, "owner must be text"),
        ("PATCH", "/alarms/0", {"severity": ["low"]}, "severity must be"),
        ("POST", "/tokens", {"scope": "all"}, "scope must be"),
        ("POST", "/tokens", {"scope": "send", "days": -1}, "days must lie"),
        ("POST", "/tokens/rotate", b"[]", "must be an object"),
        ("GET", "/alarms?most=-1", None, "most must be a whole number"),
        ("GET", "/alarms?most=99999999999999999999", None, "most must be a whole number"),
        ("GET", "/alarms?state=x", None, "state must be"),
        ("GET", "/alarms?every=1", None, "unknown name, every"),
        ("GET", "/alarms?format=xml", None, "format must be json or csv"),
        ("GET", "/messages?state=lost", None, "state must be"),
    ],
)
def test_what_is_wrong_is_told_and_changes_nothing(server: Server, method: str, path: str, body, words: str):
    status, answer = call(server, method, path, body)
    assert (status, words in answer["error"]) == (422, True), answer


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "/alarms/9999", {"resolve": True}),
        ("PATCH", "/alarms/x", {"resolve": True}),
        ("GET", "/people?alarm=9999", None),
        ("POST", "/messages/none", None),
        ("DELETE", "/tokens/none", None),
        ("GET", "/nothing", None),
    ],
)
def test_what_is_not_there_is_told(server: Server, method: str, path: str, body):
    assert call(server, method, path, body)[0] == 404


def test_the_description_lists_every_address(server: Server):
    from app.serving.monitor_reading import QUESTIONS

    _, document = server.ask("GET", "/api/v1/openapi.json")
    for each in QUESTIONS:
        own = document["paths"]["/api/v1/monitors/{monitor}" + each.path][each.method.lower()]
        assert own["summary"] == each.summary


def test_the_dashboard_asks_for_what_there_is(server: Server):
    import re
    from pathlib import Path

    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/metrics", headers={"Authorization": f"Bearer {SECRET}"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        text = answer.read().decode()
    dashboard = (Path(__file__).resolve().parents[2] / "docs" / "grafana.json").read_text()
    asked = set(re.findall(r"evenhand_monitor_\w+", dashboard))
    assert len(asked) >= 6
    assert all(f"\n{name}{{" in text for name in asked)
