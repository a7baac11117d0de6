"""docs/calibration.md is made from the simulations kept beside it, and small ones still run and hold."""

from __future__ import annotations

import importlib
import itertools

import pytest

from benchmarks.calibration import PAGE, Row, kept, page, scripts

SHARED = [name for name in scripts() if name in {"shared_calibration", "groups_calibration"}]


def test_the_page_states_what_is_kept():
    assert PAGE.read_text(encoding="utf-8") == page(kept())


def test_what_does_not_hold_is_said():
    broken = [row.words for row in kept() if not row.holds and not row.said]
    assert not broken, "\n".join(broken)


def test_every_script_offers_rows():
    assert all(hasattr(importlib.import_module(f"benchmarks.{name}"), "rows") for name in scripts())


@pytest.mark.parametrize("name", SHARED)
def test_small_simulations_run(name):
    module = importlib.import_module(f"benchmarks.{name}")
    for row in itertools.islice(module.rows(40), 6):
        assert row.holds, row.words


def test_a_row_that_does_not_hold_is_told():
    row = Row("all", "interval", "by hand", "coverage", 0.95, 80, 100)
    assert not row.holds
    assert Row("all", "test", "by hand", "false alarms", 0.05, 9, 100).holds
    assert not Row("all", "test", "by hand", "false alarms", 0.05, 10, 100).holds
