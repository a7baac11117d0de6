"""False alarms and power of the test of groups' bias, and of the verdict that holds in every coupling."""

from __future__ import annotations

from benchmarks.calibration.outcome_transport import Said, said, world


def _worlds(crowd: str, outcomes: str, number: int) -> list[Said]:
    return [said(world(crowd, outcomes, 50_000 + seed)) for seed in range(number)]


def test_bias_that_differs_in_every_coupling_is_found():
    """One coupling: a difference by half. Ties leave room, so that it takes a larger one to hold in all."""
    assert sum(one.evidence for one in _worlds("spread_2", "unique", 4)) >= 3
    assert sum(one.evidence for one in _worlds("spread_10", "pairs", 4)) >= 3


def test_what_ties_leave_open_is_no_evidence():
    """Half as much bias again in the even coupling, and in another optimal one none at all."""
    found = _worlds("spread_2", "fives", 3)
    assert sum(one.even for one in found) >= 2
    assert not any(one.evidence for one in found)
