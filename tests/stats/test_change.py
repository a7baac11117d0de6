"""Streams that change, and streams that do not: the budget of false alarms, whatever hangs together."""

from __future__ import annotations

import numpy as np
import pytest

from audits.stats.change import CELLS, ChangeWatch
from audits.stats.control import design_chart, flag_rate_bound, reference_for, run_length
from audits.stats.sequential import calibration_sequence, gap_sequence, rate_sequence
from tests.refused import refused


def test_false_alarms_of_streams_that_hang_together_keep_the_budget():
    """Ten copies of one column, a reference of 60 people, and events at their bound: one budget for all."""
    rng, budget, people, found = np.random.default_rng(0), 400.0, 4000, 0
    for _ in range(6):
        reference = np.bincount(rng.integers(0, CELLS, 60), minlength=CELLS)
        watch = ChangeWatch(np.tile(reference, (10, 1)), [0.05, 0.05], [budget * 12] * 12)
        cells = np.repeat(rng.integers(0, CELLS, (people, 1)), 10, axis=1)
        events = np.repeat((rng.random((people, 1)) < 0.05).astype(int), 2, axis=1)
        found += len(watch.update(cells, events))
    assert found <= 6 * people / budget


_HALF = np.r_[500.0, 500.0, np.zeros(CELLS - 2)]


def _decisions(rate: float, people: int, rng: np.random.Generator) -> np.ndarray:
    return (rng.random((people, 1)) < rate).astype(int)


def test_a_fall_by_ten_points_that_was_there_from_the_first_person_on_is_found():
    """95 of 100 such worlds find it by 4,000 people; bets that do not fade find it in none."""
    rng, found = np.random.default_rng(11), 0
    for _ in range(10):
        share = rng.binomial(1000, 0.5)
        watch = ChangeWatch(np.r_[1000.0 - share, share, np.zeros(CELLS - 2)], [], [500_000.0])
        found += bool(watch.update(_decisions(0.4, 4000, rng), np.empty((4000, 0), dtype=int)))
    assert found >= 6


def test_a_difference_is_found_again_while_it_lasts_and_no_more_once_it_has_gone():
    rng = np.random.default_rng(14)
    watch = ChangeWatch(_HALF, [], [10_000.0])
    cells = np.concatenate([_decisions(0.3, 20_000, rng), _decisions(0.5, 20_000, rng)])
    found = [each.person for each in watch.update(cells, np.empty((40_000, 0), dtype=int))]
    waits = np.diff([0, *(person for person in found if person < 20_000), 20_000])
    assert waits.max() < 1000
    assert found[-1] < 21_000


def test_a_state_of_before_there_were_bets_that_fade_goes_on():
    watch = ChangeWatch(_HALF, [0.1], [1000.0, 1000.0])
    watch.update(np.zeros((9, 1), dtype=int), np.zeros((9, 1), dtype=int))
    fewer = watch.dump()[: -8 * (30 + 1)]
    other = ChangeWatch(_HALF, [0.1], [1000.0, 1000.0])
    other.restore(fewer)
    assert other.people.tolist() == [9, 9]
    for damaged in (fewer[:-8], fewer[:-3]):
        with refused("the state"):
            other.restore(damaged)


@pytest.mark.parametrize(
    ("reference", "bounds", "between", "where"),
    [(-1.0, [], [100.0], "reference"), (1.0, [1.0], [100.0] * 2, "bounds"), (1.0, [], [0.5], "between")],
)
def test_bad_streams_are_refused(reference, bounds, between, where: str):
    with refused(where):
        ChangeWatch(np.full((1, CELLS), reference), bounds, between)


def test_sequences_hold_at_all_times_together():
    """At twenty times up to 2,000 people: at most a twentieth of 40 worlds may ever leave the interval."""
    rng, outside = np.random.default_rng(3), np.zeros(3)
    for _ in range(40):
        first, second, chance = rng.random(2000) < 0.3, rng.random(2000) < 0.3, rng.random(2000)
        apart, gone = (rng.random(2000) < chance) - chance, np.zeros(3, dtype=bool)
        for n in np.unique(np.geomspace(5, 2000, 20).astype(int)).tolist():
            both = [rate_sequence(each[:n].sum(), n, level=0.975) for each in (first, second)]
            mean = calibration_sequence(float(apart[:n].sum()), n)
            found = rate_sequence(first[:n].sum(), n), gap_sequence(*both), mean
            gone |= [not each.low <= at <= each.high for each, at in zip(found, (0.3, 0, 0), strict=True)]
        outside += gone
    assert (outside <= 2).all()


def test_nobody_has_no_rate_and_all_or_none_have_one():
    assert rate_sequence(0, 0).value is None
    assert (rate_sequence(0, 9).low, rate_sequence(9, 9).high) == (0.0, 1.0)
    assert calibration_sequence(0.0, 0).low is None
    assert gap_sequence(rate_sequence(0, 0), rate_sequence(1, 2)).value is None
    late, people = reference_for(0.05, chart := design_chart(flag_rate_bound(18, 360), people_between=10_000))
    assert late == run_length(0.1, chart.jump, chart.limit) > chart.people_to_detect
    assert people > 360
