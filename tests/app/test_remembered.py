"""What the server remembers of tables and data, bounded in bytes."""

from __future__ import annotations

from concurrent.futures import wait

from app.answer_cache import Futures


def test_answers_of_workspaces_that_asked_longest_ago_go_first():
    kept = Futures(len, 1000)
    for owner in "abc":
        wait([kept.get(owner, "key", lambda: "x" * 400)])
    again = kept.get("c", "key", lambda: "made anew")
    assert again.result() == "x" * 400
    wait([kept.get("d", "key", lambda: "y")])
    assert kept.size <= 1000
    assert kept.get("a", "key", lambda: "made anew").result() == "made anew"
