"""Two servers of one database agree: what either stores is stored once, and who is let in by one, by both."""

from __future__ import annotations

import json
import threading

import pytest

from audits.monitor.monitors import Monitors
from audits.runs.storage.database import Database
from tests.monitor.conftest import ROW, start

TIMES = 12


@pytest.fixture(scope="module")
def both(bundle, postgres, tmp_path_factory):
    monitors = Monitors(Database(postgres))
    monitor, token = monitors.create(bundle, name="two", people_between=5000)
    told = {"EVENHAND_DATABASE_URL": postgres}
    servers = [start(tmp_path_factory.mktemp("home"), monitor, token, **told) for _ in range(2)]
    yield monitors, servers
    for each in servers:
        each.kill()


def test_batches_that_come_to_both_count_once_and_in_one_order(both):
    monitors, servers = both
    identity = servers[0].monitor.id
    found = {0: [], 1: []}

    def send(place: int) -> None:
        for k in range(TIMES):
            own = {"rows": [ROW] * 3, "ids": [f"{place}-{k}-{each}" for each in range(3)]}
            found[place].append(servers[place].post(own))
            found[place].append(servers[place].post({"rows": [ROW] * 2}, **{"Idempotency-Key": f"k{k}"}))

    threads = [threading.Thread(target=send, args=(place,)) for place in found]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    answers = [answer for place in found for status, answer in found[place] if status == 200]
    assert len(answers) == 4 * TIMES
    assert monitors.get(identity).people == 2 * 3 * TIMES + 2 * TIMES
    assert sum(answer["replayed"] for answer in answers) == TIMES
    places = sorted(answer["batch"] for answer in answers if not answer["replayed"])
    assert places == list(range(3 * TIMES))
    for each in servers:
        path, head = f"/api/v1/monitors/{identity}", {"Authorization": f"Bearer {each.token}"}
        assert each.ask("GET", path, None, head)[1]["people"] == monitors.get(identity).people


def test_a_token_made_by_one_is_believed_by_the_other_at_once(both):
    _, servers = both
    path = f"/api/v1/monitors/{servers[0].monitor.id}"
    head = {"Authorization": f"Bearer {servers[0].token}", "Content-Type": "application/json"}
    assert servers[1].post({"rows": [ROW]})[0] == 200  # the other has just looked which tokens there are
    made = servers[0].ask("POST", f"{path}/tokens", json.dumps({"scope": "send"}).encode(), head)[1]
    assert servers[1].post({"rows": [ROW]}, Authorization=f"Bearer {made['token']}")[0] == 200
    assert servers[1].post({"rows": [ROW]}, Authorization="Bearer another")[0] == 401


def test_rotating_again_and_again_fills_nothing(both):
    monitors, servers = both
    identity = servers[0].monitor.id
    path = f"/api/v1/monitors/{identity}/tokens/rotate"
    statuses, token = [], servers[0].token
    for _ in range(55):
        head = {"Authorization": f"Bearer {token}"}
        status, answer = servers[0].ask("POST", path, b'{"hours": 1}', head)
        statuses.append(status)
        token = answer.get("token", token)
    assert statuses[0] == 200
    assert statuses[-1] == 422
    assert len(monitors.get(identity).tokens) <= 50
