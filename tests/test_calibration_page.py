"""docs/calibration.md is made from the simulations kept beside it, and small ones still run and hold."""

from __future__ import annotations

import pytest
from scipy.stats import binom

from audits.runs.registry import AUDITS
from benchmarks.calibration import PAGE, Kept, Row, Simulation, page, simulations

EVERY = simulations()
SMALL = [each for each in EVERY if each.audit in {"all", "groups"}][::8]


def test_the_page_states_what_is_kept():
    kept = Kept.read()
    assert PAGE.read_text(encoding="utf-8") == page(kept.rows, kept.lacking(EVERY))


def test_what_does_not_hold_is_said():
    broken = [row.words for row in Kept.read().rows if not row.holds and not row.said]
    assert not broken, "\n".join(broken)


def test_every_audit_with_a_verdict_of_its_own_is_simulated():
    simulated = {each.audit for each in EVERY}
    assert simulated >= set(AUDITS) - {"mitigation"}  # its intervals are those of two shares, under all
    assert len({each.name for each in EVERY}) == len(EVERY)


def test_every_audit_is_on_the_page():
    assert {row.audit for row in Kept.read().rows} == {each.audit for each in EVERY}


@pytest.mark.parametrize("simulation", SMALL, ids=lambda each: each.name)
def test_small_simulations_run(simulation):
    for row in simulation.run(range(40)):
        # what holds is as far off in one row of a thousand at most
        if row.kind == "coverage":
            chance = binom.cdf(row.hits, row.worlds, row.nominal - 0.015)
        else:
            chance = binom.sf(row.hits - 1, row.worlds, row.nominal)
        assert chance > 0.001, row.words


def test_worlds_drawn_later_count_along():
    simulation = Simulation("all", "by hand", lambda numbers: [])
    kept = Kept({}, [])
    for upto, hits in ((100, 95), (300, 180)):
        row = Row("all", "interval", "by hand", "coverage", 0.95, hits, upto - len(kept.worlds) * 100)
        kept.add(simulation, [row], upto)
    assert kept.worlds == {"all: by hand": 300}
    assert kept.lacking([simulation, EVERY[0]]) == [EVERY[0].name]
    assert [(row.hits, row.worlds) for row in kept.rows] == [(275, 300)]
    assert kept.outdated([simulation]) == []
    kept.code[simulation.name] = "of another day"
    assert kept.outdated([simulation]) == [simulation]
    kept.drop(simulation)
    assert kept.rows == [] == list(kept.worlds)


def test_a_row_that_does_not_hold_is_told():
    row = Row("all", "interval", "by hand", "coverage", 0.95, 80, 100)
    assert not row.holds
    assert Row("all", "test", "by hand", "false alarms", 0.05, 9, 100).holds
    assert not Row("all", "test", "by hand", "false alarms", 0.05, 10, 100).holds
