"""A skipped test fails where all are asked for, and only there."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.nothing_skipped import fail_if_skipped

NOT_THERE = "Skipped: the shared data is not beside the checkout"
MAY_BE = "Skipped: an accelerator is there; the fallback cannot be seen"


@pytest.mark.parametrize(
    ("asked", "told", "expected"),
    [
        ("", NOT_THERE, "skipped"),
        ("1", NOT_THERE, "failed"),
        ("1", ("file.py", 3, NOT_THERE), "failed"),
        ("1", MAY_BE, "skipped"),
    ],
)
def test_skips_fail_where_all_are_asked_for(monkeypatch, asked, told, expected):
    monkeypatch.setenv("EVENHAND_ALL_TESTS", asked)
    report = SimpleNamespace(outcome="skipped", skipped=True, longrepr=told)
    fail_if_skipped(report)
    assert report.outcome == expected
    expected_to_fail = SimpleNamespace(outcome="skipped", skipped=True, longrepr=told, wasxfail="known")
    fail_if_skipped(expected_to_fail)
    assert expected_to_fail.outcome == "skipped"
