"""Under ``make test`` a test that is skipped has failed: what it would have shown is not known.

Skipping is for a developer's own machine, which may lack the shared data, Chromium or PostgreSQL.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

MAY_BE_SKIPPED = ("an accelerator is there", "needs a folder in which nobody can make one")
"""Reasons that no machine can have all at once: one that has the one lacks the other."""


def asked_for_all() -> bool:
    return os.environ.get("EVENHAND_ALL_TESTS", "") not in {"", "0"}


def fail_if_skipped(report: Any) -> None:
    """Turn a skipped report into a failed one that says why it was skipped."""
    if not asked_for_all() or not report.skipped or hasattr(report, "wasxfail"):
        return
    told = report.longrepr[-1] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if any(reason in told for reason in MAY_BE_SKIPPED):
        return
    report.outcome = "failed"
    report.longrepr = f"{told}\n(make test runs every test: see CONTRIBUTING.md)"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[Any]:
    report = yield
    fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[Any]:
    report = yield
    fail_if_skipped(report)
    return report
