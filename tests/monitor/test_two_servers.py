"""Two servers of one database agree: what either stores is stored once, and who is let in by one, by both."""

from __future__ import annotations

import threading

import pytest

from audits.monitor.batches import Batch
from audits.monitor.monitors import Monitors
from audits.runs.storage.database import Database
from tests.monitor.conftest import ROW
from tests.refused import refused

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


def test_rotating_again_and_again_fills_nothing(both):
    servers, identity, _ = both
    while len(servers[1].get(identity).tokens) < 50:
        servers[0].rotate(identity, hours=1)
    with refused("tokens", "50"):
        servers[0].rotate(identity, hours=1)
