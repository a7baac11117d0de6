"""A skipped test fails where all are asked for, and only there."""

from __future__ import annotations

from types import SimpleNamespace

from tests.nothing_skipped import fail_if_skipped

NOT_THERE = "Skipped: the shared data is not beside the checkout"


def test_skips_fail_where_all_are_asked_for(monkeypatch):
    for asked, told, more, expected in (
        ("", NOT_THERE, {}, "skipped"),
        ("1", NOT_THERE, {}, "failed"),
        ("1", ("file.py", 3, NOT_THERE), {}, "failed"),
        ("1", "Skipped: an accelerator is there; the fallback cannot be seen", {}, "skipped"),
        ("1", NOT_THERE, {"wasxfail": "known"}, "skipped"),
    ):
        monkeypatch.setenv("EVENHAND_ALL_TESTS", asked)
        report = SimpleNamespace(outcome="skipped", skipped=True, longrepr=told, **more)
        fail_if_skipped(report)
        assert report.outcome == expected
