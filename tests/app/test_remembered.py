"""What the server remembers of tables and data: bounded in bytes, and of errors their sentence alone."""

from __future__ import annotations

import time
import traceback
import weakref
from concurrent.futures import wait

from app.answer_cache import Futures
from app.widgets.waiting import wait_for
from audits.errors import InputError
from tests.refused import refused


class Table:
    """Something that a weak reference can follow."""


def test_answers_of_workspaces_that_asked_longest_ago_go_first():
    kept = Futures(len, 1000)
    for owner in "abc":
        wait([kept.get(owner, "key", lambda: "x" * 400)])
    again = kept.get("c", "key", lambda: "made anew")
    assert again.result() == "x" * 400
    wait([kept.get("d", "key", lambda: "y")])
    assert kept.size <= 1000
    assert kept.get("a", "key", lambda: "made anew").result() == "made anew"


def test_a_remembered_error_keeps_nothing_alive_and_grows_with_no_view():
    seen = []

    def read():
        table = Table()
        seen.append(weakref.ref(table))
        try:
            raise OSError("no file")
        except OSError:
            raise InputError("people.csv", "is not a table") from None

    future = Futures(len).get("a", "key", read)
    wait([future])
    lengths = []
    for _ in range(5):
        with refused("people.csv") as caught:
            wait_for(future, "Reading")
        lengths.append(len(traceback.extract_tb(caught.value.__traceback__)))
    assert len(set(lengths)) == 1
    until = time.monotonic() + 60
    while seen[0]() is not None and time.monotonic() < until:  # the thread that read lets go a moment later
        time.sleep(0.01)
    assert seen[0]() is None
