"""The API besides predictions on a real server: reading, outcomes, alarms, tokens, hostile bodies."""

from __future__ import annotations

import json
import urllib.request

import pytest

from tests.monitor.conftest import ROW, Server, another


@pytest.fixture(scope="module")
def server(server: Server, bundle) -> Server:
    running = another(server, bundle, name="=hiring", people_between=5000)
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
    assert any("200 of 200" in each for each in answer["notes"])
    return running


def plain(server: Server, path: str, token: str) -> tuple[str, str]:
    """Return the content type and text of an answer."""
    head = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}{path}", headers=head)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def test_everything_that_was_seen_can_be_read(server: Server):
    status, about = server.call("GET", "")
    assert (status, about["name"]) == (200, "=hiring")
    assert sum(about["shares"].values()) == pytest.approx(1.0)
    [stretch] = server.call("GET", "/history")[1]["history"]
    assert stretch["people"] == 200
    found = server.call("GET", "/alarms?state=waiting")[1]
    assert found["waiting"] == len(found["alarms"])
    assert {"impossible", "repeats", "inputs"} <= {each["kind"] for each in found["alarms"]}
    assert server.call("GET", "/inputs")[1]["columns"]["height"]["impossible"] == 200
    rates = {each["group"]: each for each in server.call("GET", "/groups")[1]["groups"]}
    assert rates["a"]["selection"]["value"] == 1.0
    assert rates["b"]["selection_gap"]["high"] < 0
    status, listed = server.ask("GET", "/api/v1/monitors", None, {"Authorization": f"Bearer {server.token}"})
    assert [each["id"] for each in listed["monitors"]] == [server.monitor.id]


def test_outcomes_are_noted_by_id(server: Server):
    outcomes = {"=a0": True, "=a1": False, "nobody": True}
    status, answer = server.call("PATCH", "/predictions", {"outcomes": outcomes})
    assert (status, answer["noted"], answer["unknown"]) == (200, 2, ["nobody"])
    assert server.call("PATCH", "/predictions", {"outcomes": outcomes})[1]["before"] == 2
    rates = {each["group"]: each for each in server.call("GET", "/groups")[1]["groups"]}
    assert rates["a"]["outcomes"] == 1


def test_an_alarm_is_acknowledged_with_a_note(server: Server):
    [first, *_] = reversed(server.call("GET", "/alarms")[1]["alarms"])
    waiting = server.call("GET", "/alarms")[1]["waiting"]
    status, alarm = server.call("PATCH", f"/alarms/{first['place']}", {"note": "feed broken"})
    assert (status, alarm["note"], alarm["acknowledged"] is None) == (200, "feed broken", False), alarm
    assert server.call("GET", "/alarms")[1]["waiting"] == waiting - 1
    assert not {"owner", "snoozed", "resolved"} & alarm.keys()
    people = server.call("GET", f"/people?alarm={first['place']}&most=5")[1]["people"]
    assert all(first["person"] <= each["person"] <= first["last_person"] for each in people)
    kind, text = plain(server, f"/api/v1/monitors/{server.monitor.id}/alarms?format=csv", server.token)
    assert kind.startswith("text/csv")
    assert "feed broken" in text


def test_tokens_have_scopes_and_end(server: Server):
    made = {}
    for scope in ("send", "read"):
        status, made[scope] = server.call("POST", "/tokens", {"scope": scope, "name": scope, "days": 30})
        assert status == 200
    send, read = made["send"]["token"], made["read"]["token"]
    assert server.call("POST", "/predictions", {"rows": [ROW]}, send)[0] == 200
    assert server.call("GET", "/alarms", None, send)[0] == 403
    assert server.call("GET", "/alarms", None, read)[0] == 200
    assert server.call("POST", "/predictions", {"rows": [ROW]}, read)[0] == 403
    assert server.call("POST", "/tokens", {"scope": "send"}, read)[0] == 403
    assert "token" not in json.dumps([each["name"] for each in server.call("GET", "/tokens")[1]["tokens"]])
    assert server.call("DELETE", f"/tokens/{made['send']['id']}")[0] == 200
    assert server.call("POST", "/predictions", {"rows": [ROW]}, send)[0] == 401
    old = server.token
    try:
        server.token = server.call("POST", "/tokens/rotate", {"hours": 0})[1]["token"]
        assert server.call("GET", "", None, old)[0] == 401
    finally:
        assert server.call("GET", "")[0] == 200


PAIR = {"rows": [ROW, ROW]}


@pytest.mark.parametrize(
    ("method", "path", "body", "where"),
    [
        ("POST", "/predictions", {**PAIR, "scores": [0.5, 1.5]}, "scores[1]"),
        ("POST", "/predictions", {**PAIR, "decisions": [True, "yes"]}, "decisions[1]"),
        ("POST", "/predictions", {**PAIR, "persons": [1, 2]}, "persons[0]"),
        ("POST", "/predictions", {**PAIR, "protected": {"g": ["a"]}}, "protected.g"),
        ("POST", "/predictions", {**PAIR, "protected": {"\u0000": ["a", "b"]}}, "protected"),
        ("PATCH", "/predictions", {"outcomes": {"a": 0.0}}, "outcomes.a"),
        ("PATCH", "/predictions", b'{"outcomes": {"a": true, "a": false}}', "the body"),
        ("PATCH", "/alarms/0", {"owner": "Ada"}, "owner"),
        ("POST", "/tokens", {"scope": "all"}, "scope"),
        ("POST", "/tokens/rotate", b"[]", ""),
        ("GET", "/alarms?most=99999999999999999999", None, "most"),
        ("GET", "/alarms?format=xml", None, "format"),
    ],
)
def test_what_is_wrong_is_told_and_changes_nothing(server: Server, method: str, path: str, body, where: str):
    status, answer = server.call(method, path, body)
    assert (status, answer["error"].startswith(where)) == (422, True), answer


def test_a_change_larger_than_16_kb_is_refused_unread(server: Server):
    assert server.call("PATCH", "/alarms/0", {"note": "x" * 20_000})[0] == 413
