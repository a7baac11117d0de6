"""docs/calibration.md is made from the simulations kept beside it, and small ones still run and hold."""

from __future__ import annotations

import pytest

from audits.runs.registry import AUDITS
from benchmarks.calibration import PAGE, Kept, Row, Simulation, page, simulations

EVERY = simulations()
SMALL = [each for each in EVERY if each.audit in {"all", "groups"} and each.part >= 0.5][::6]


def test_the_page_states_what_is_kept():
    assert PAGE.read_text(encoding="utf-8") == page(Kept.read().rows)


def test_what_does_not_hold_is_said():
    broken = [row.words for row in Kept.read().rows if not row.holds and not row.said]
    assert not broken, "\n".join(broken)


def test_every_audit_with_a_verdict_of_its_own_is_simulated():
    simulated = {each.audit for each in EVERY}
    assert simulated >= set(AUDITS) - {"mitigation"}  # its intervals are those of two shares, under all
    assert len({each.name for each in EVERY}) == len(EVERY)


def test_every_simulation_is_on_the_page():
    kept = Kept.read()
    assert [each.name for each in EVERY if each.name not in kept.worlds] == []


@pytest.mark.parametrize("simulation", SMALL, ids=lambda each: each.name)
def test_small_simulations_run(simulation):
    for row in simulation.run(range(40)):
        assert row.holds or row.said, row.words


def test_worlds_drawn_later_count_along():
    simulation = Simulation("all", "by hand", lambda numbers: [])
    kept = Kept({}, [])
    for upto, hits in ((100, 95), (300, 180)):
        row = Row("all", "interval", "by hand", "coverage", 0.95, hits, upto - len(kept.worlds) * 100)
        kept.add(simulation, [row], upto)
    assert kept.worlds == {"all: by hand": 300}
    assert [(row.hits, row.worlds) for row in kept.rows] == [(275, 300)]
    kept.drop(simulation)
    assert kept.rows == [] == list(kept.worlds)


def test_a_row_that_does_not_hold_is_told():
    row = Row("all", "interval", "by hand", "coverage", 0.95, 80, 100)
    assert not row.holds
    assert Row("all", "test", "by hand", "false alarms", 0.05, 9, 100).holds
    assert not Row("all", "test", "by hand", "false alarms", 0.05, 10, 100).holds
