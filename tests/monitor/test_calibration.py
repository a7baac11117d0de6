"""A small version of `benchmarks.calibration.monitor`: the budget is kept, and changes are found."""

from __future__ import annotations

import pytest

from benchmarks.calibration.monitor import BUDGET, delays, false_alarms


@pytest.mark.parametrize("again", [False, True])
def test_alarms_of_all_kinds_together_keep_their_budget(again: bool):
    """Two in 10,000 people would be twice the promise; people who come again are sent with their ids."""
    counted, alarms = false_alarms(5, 4000, again=again)
    assert alarms <= 2 * counted / BUDGET


@pytest.mark.parametrize(
    ("change", "within"),
    [("inputs", 500), ("repeats", 600), ("scores", 600), ("model", 400), ("flags", 1500)],
)
def test_a_change_is_found_by_its_kind(change: str, within: int):
    found = delays(change, 3, 2000)
    assert all(time is not None and time <= within for time in found), found
