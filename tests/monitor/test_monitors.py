"""Monitors in both databases: batches whole or not at all, replays, alarms, retention, webhooks."""

from __future__ import annotations

import http.server
import json
import threading
import time
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import sqlalchemy as sa

from app.serving import webhook
from audits.errors import InputError
from audits.monitor import storage
from audits.monitor.admin import check_webhook
from audits.monitor.batches import Batch
from audits.monitor.bundle import MonitorBundle, Scored
from audits.monitor.ingestion import read_arrow, read_json
from audits.monitor.monitors import Monitors
from audits.monitor.tables import CASES, MESSAGES, STATES
from audits.runs.storage.database import Database
from tests.monitor.conftest import ROW, arrow, store_of
from tests.refused import refused
from tests.sensitivity.conftest import people

BOTH = pytest.mark.parametrize("monitors", ["sqlite", "postgresql"], indirect=True)


def scored(bundle: MonitorBundle, flags: list[bool]) -> Scored:
    n = len(flags)
    values = np.where(flags, 2 * bundle.threshold, 0.5 * bundle.threshold)
    return Scored(np.full(n, 0.5), values, np.array(flags), np.ones((n, 3)), bundle.encoder.columns, {})


def batch(monitor, flags: list[bool], key: str | None = None, sha256: str = "x") -> Batch:
    ids = tuple(f"p{k}" for k in range(len(flags)))
    return Batch(monitor.id, scored(monitor.bundle, flags), sha256, key, ids)


@BOTH
def test_what_is_stored_comes_back(monitors: Monitors, bundle):
    monitor, token = monitors.create(bundle, name=" hiring ", owner="me", note="ours")
    assert monitor.name == "hiring"
    assert monitor.opens(token)
    assert not monitor.opens(token + "x")
    assert monitors.of_owner("me")[0].id == monitor.id
    assert monitors.store([batch(monitor, [False, True, False]), batch(monitor, [True])])[1].place == 1
    again = monitors.get(monitor.id)
    assert (again.people, again.flagged) == (4, 2)
    assert again.chart_value == 2 * monitor.chart.jump - 1
    flags = monitors.flags(monitor.id)
    assert [(flag.person, flag.client_id) for flag in flags] == [(3, "p0"), (1, "p1")]
    assert monitors.acknowledge_all(monitor.id, "") == len(monitors.alarms(monitor.id))
    assert set(flags[0].contributions) == {"skill", "height", "town"}
    assert [(point.people, point.flagged) for point in monitors.points(monitor.id)] == [(3, 1), (1, 1)]
    assert monitors.points(monitor.id, most=1)[0].people == 4
    expected = np.array([2, 0.5, 2, 0.5]) * bundle.threshold
    np.testing.assert_allclose(monitors.drift(monitor.id).values, expected)
    assert again.bundle.score([ROW]).sensitivity[0] == bundle.score([ROW]).sensitivity[0]


@BOTH
def test_replays_are_stored_once_and_conflicts_told(monitors: Monitors, bundle):
    monitor, _ = monitors.create(bundle, name="m")
    sent, otherwise = batch(monitor, [True], "k", "a"), batch(monitor, [False], "k", "b")
    first, second, third = monitors.store([sent, batch(monitor, [True], "k", "a"), otherwise])
    assert (first.replayed, second.replayed, first.place) == (False, True, second.place)
    assert isinstance(third, InputError)
    assert monitors.get(monitor.id).people == 1
    [later] = monitors.store([batch(monitor, [True], "k", "a")])
    assert later.replayed
    other, _ = monitors.create(bundle, name="other")
    assert not monitors.store([batch(other, [True], "k", "a")])[0].replayed


def test_a_transaction_that_fails_leaves_nothing_behind(monitors: Monitors, bundle, monkeypatch):
    """Not in the counters that this process remembers either: what comes next ends as if it had not been."""
    frame, kept = people(120, 5), []
    for fails in (False, True):
        monitor, _ = monitors.create(bundle, name="m")
        for start in range(0, 120, 40):
            scored = bundle.score(frame[start : start + 40])
            own = Batch(monitor.id, scored, "x", look=bundle.look(scored))
            if fails:
                with monkeypatch.context() as patch:
                    patch.setattr(storage, "extend_history", lambda *_: 1 / 0)  # written late
                    with pytest.raises(ZeroDivisionError):
                        monitors.store([own])
            monitors.store([own])
        with monitors._database.reading() as connection:
            asked = sa.select(STATES.c.streams).where(STATES.c.monitor == monitor.id)
            kept.append(bytes(connection.execute(asked).scalar_one()))
    assert kept[0] == kept[1]


def test_retention_removes_what_is_old_or_too_much(bundle, tmp_path: Path):
    now = [1e9]
    monitors = Monitors(store_of(tmp_path), clock=lambda: now[0])
    monitor, _ = monitors.create(bundle, name="m", keep_days=2, keep_people=5)
    monitors.store([batch(monitor, [True] * 3, "old")])
    now[0] += 3 * 86_400
    monitors.store([batch(monitor, [True] * 3) for _ in range(3)])
    now[0] -= 10_000  # a clock that goes back removes nothing more
    assert monitors.prune(monitor.id) == 2
    assert [flag.person for flag in monitors.flags(monitor.id)] == [11, 10, 9, 8, 7]
    assert monitors.get(monitor.id).people == 12
    monitors.delete(monitor.id)
    with refused("monitor"):
        monitors.get(monitor.id)


def test_addresses_that_only_look_allowed_are_not(monitors: Monitors, bundle):
    monitor, _ = monitors.create(bundle, name="m")
    hosts = ("hooks.ours",)
    monitors.change(monitor.id, webhook="http://hooks.ours/a", hosts=hosts, keep_rows=False, note="n")
    with refused("webhook", "hooks.ours"):
        monitors.change(monitor.id, webhook="http://evil.example/", hosts=hosts)
    with refused("the change"):
        monitors.change(monitor.id)
    for address in (
        *("http://hooks.ours@evil.example/", "http://evil.example#hooks.ours", "ftp://hooks.ours/"),
        *("http://hooks.ours:99/", "//hooks.ours/", "http://[", "http://hooks.ours/\nHost: evil.example"),
    ):
        with refused("webhook"):
            check_webhook(address, ("hooks.ours",))


class Hook(http.server.BaseHTTPRequestHandler):
    heard: ClassVar[list[dict]] = []

    def do_POST(self) -> None:
        self.heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(302 if self.path == "/away" else 204)
        self.send_header("Location", "/followed")
        self.end_headers()

    def do_GET(self) -> None:
        self.heard.append({"monitor": "followed"})
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize("path", ["/alarm", "/away"])
def test_a_webhook_is_told_once_and_a_failure_stands_on_the_alarm(bundle, tmp_path, monkeypatch, path):
    """A redirect is not followed: it fails like any other answer that is no success."""
    hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{hook.server_port}"
    monkeypatch.setenv("EVENHAND_WEBHOOK_HOSTS", host)
    now, told = [1e9], path == "/alarm"
    monitors, delivery = Monitors(store_of(tmp_path), clock=lambda: now[0]), webhook.Delivery()

    def deliver() -> None:
        while delivery.begin(monitors):
            for _ in range(500):
                if not delivery.busy:
                    break
                time.sleep(0.01)

    try:
        address = {"webhook": f"http://{host}{path}", "webhook_hosts": (host,)}
        monitor, _ = monitors.create(bundle, name="m", people_between=2000, **address)
        monitors.store([batch(monitor, [True] * 120)])
        Hook.heard.clear()
        deliver()
        deliver()
        assert [each["monitor"] for each in Hook.heard] == [monitor.id]  # one condition, told once
        for _ in range(8):  # a failure is tried again ever later, then given up
            now[0] += 30_000
            deliver()
        assert len(Hook.heard) == (1 if told else 6)
        assert not delivery.busy
        alarm = monitors.alarms(monitor.id)[0]
        assert ("6" in alarm.told) != told, "tries"
        assert monitors.overview()[0]["dead"] == (not told)
    finally:
        hook.shutdown()
        delivery.close()


def test_alarms_and_messages_of_earlier_versions_are_plain_alarms(monitors: Monitors, bundle):
    monitor, _ = monitors.create(bundle, name="m", people_between=500)
    monitors.store([batch(monitor, [True] * 60)])
    old = {"owner": "Ada", "snoozed": 9e9, "resolved": 1e9, "note": "feed", "told": "email: mailed"}
    names = ("id", "monitor", "place", "way", "address", "body", "state", "tries", "made", "due", "outcome")
    values = ("x" * 32, monitor.id, 0, "email", "a@b.c", "{}", "waiting", 0, 1e9, 1e9, "")
    with monitors.database.writing() as connection:
        connection.execute(sa.update(CASES).where(CASES.c.monitor == monitor.id).values(**old))
        connection.execute(sa.insert(MESSAGES), [dict(zip(names, values, strict=True))])
    alarm = monitors.alarms(monitor.id)[0]
    assert (alarm.note, alarm.waits, alarm.lasts) == ("Owner: Ada. feed", False, False)
    delivery = webhook.Delivery()
    delivery.begin(monitors)
    delivery.close()
    assert monitors.alarms(monitor.id)[0].told not in {"", old["told"]}


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (b"\xff\xfe", ("the body", "JSON")),
        (b"[" * 100_000, ("the body", "JSON")),
        (b'{"rows": [], "rows": [{"skill": 1, "height": 1, "town": "a"}]}', ("the body", "twice")),
        (b'{"rows": [{"skill": %s}]}' % (b"9" * 5000), ("the body", "digits")),
        (b"[]", ("the body",)),
        (b'{"rows": []}', ("rows",)),
        (b'{"rows": [{"skill": NaN, "height": 1, "town": "a"}]}', ("the body",)),
        (b'{"rows": [{}], "more": 1}', ("more",)),
        (json.dumps({"rows": [ROW], "ids": ["a", "b"]}).encode(), ("ids",)),
        (json.dumps({"rows": [ROW], "ids": ["\x00"]}).encode(), ("ids[0]",)),
        (json.dumps({"rows": [ROW], "at": "noon"}).encode(), ("at",)),
        (json.dumps({"rows": [ROW] * 10_001}).encode(), ("rows", "10000")),
    ],
)
def test_bad_json_is_named(body: bytes, refusal: tuple[str, ...]):
    with refused(*refusal):
        read_json(body, ("skill", "height", "town"))


def test_arrow_brings_the_same_as_json():
    rows = [ROW, {**ROW, "town": None, "skill": None}]
    columns = {name: [row[name] for row in rows] for name in ROW}
    body = arrow({**columns, "id": ["0", "1"]})
    found = read_arrow(body, tuple(ROW))
    assert found.ids == ("0", "1")
    assert found.columns == read_json(json.dumps({"rows": rows}).encode(), tuple(ROW)).columns
    with refused("the body"):
        read_arrow(b"nothing of the sort", ("skill",))
    with refused("the batch", "'height'", "'town'"):
        read_arrow(body, ("skill",))


def test_an_arrow_body_that_unpacks_to_very_much_is_refused():
    body = arrow({"skill": [0.0] * 9000, "blob": ["x" * 20_000] * 9000}, compression="zstd")
    assert len(body) < 2_000_000
    with refused("the body", "64"):
        read_arrow(body, ("skill",))


TIMES = 12


@pytest.fixture(scope="module")
def both(bundle, postgres):
    """Return what two servers hold of one monitor each, its id, and its token."""
    servers = [Monitors(Database(postgres)) for _ in range(2)]
    monitor, token = servers[0].create(bundle, name="two", people_between=5000)
    return servers, monitor.id, token


def test_batches_that_come_to_both_count_once_and_in_one_order(both, bundle):
    servers, identity, _ = both
    scored, found = bundle.score([ROW] * 3), []

    def send(place: int) -> None:
        for k in range(TIMES):
            ids = tuple(f"{place}-{k}-{each}" for each in range(3))
            found.extend(servers[place].store([Batch(identity, scored, ids=ids)]))
            found.extend(servers[place].store([Batch(identity, scored, key=f"k{k}")]))

    threads = [threading.Thread(target=send, args=(place,)) for place in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 4 * TIMES
    assert sum(each.replayed for each in found) == TIMES
    assert sorted(each.place for each in found if not each.replayed) == list(range(3 * TIMES))
    assert [each.get(identity).people for each in servers] == [3 * 3 * TIMES] * 2


def test_a_token_made_by_one_is_believed_by_the_other_at_once(both):
    servers, identity, token = both
    assert servers[1].get(identity).opens(token)  # the other has just looked which tokens there are
    _, made = servers[0].make_token(identity, name="", scope="send")
    assert servers[1].get(identity).opens(made)
    assert not servers[1].get(identity).opens("another")
