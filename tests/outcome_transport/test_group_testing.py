"""False alarms and power of the test of groups' bias, and of the verdict that holds in every coupling."""

from __future__ import annotations

import numpy as np
import pytest

from audits.outcome_transport.testing import group_test
from benchmarks.outcome_transport_calibration import Said, said, world


def _rejected(sizes: tuple[int, int], spreads: tuple[float, float], apart: float, runs: int) -> float:
    group = np.repeat([0, 1], sizes)
    hits = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        bias = 20 + rng.normal(size=len(group)) * np.array(spreads)[group] + apart * group
        tested = group_test(
            bias, np.ones(len(group)), group, material=1.0, level=0.05, permutations=99, rng=rng
        )
        assert tested is not None
        hits += tested.p_value <= 0.05
    return hits / runs


@pytest.mark.parametrize(
    ("sizes", "spreads"),
    [((160, 40), (1.0, 1.0)), ((160, 40), (0.5, 2.0)), ((160, 40), (2.0, 0.5)), ((60, 60), (0.5, 2.0))],
)
def test_groups_of_the_same_mean_are_told_apart_no_more_often_than_the_level(sizes, spreads):
    """A pooled standard error lets the second case reject in 29 of 100 samples."""
    # 5 % of 200 with a binomial error of 1.5 %; four of those, so once in ten thousand
    assert _rejected(sizes, spreads, 0.0, 200) <= 0.05 + 4 * 0.0155


def test_groups_of_different_means_are_told_apart():
    assert _rejected((160, 40), (1.0, 1.0), 0.7, 60) > 0.85


def test_a_group_of_one_has_everybodys_spread():
    bias = np.append(np.random.default_rng(0).normal(10, 1, 60), 10.5)
    group = np.append(np.tile([0, 1], 30), 2)
    tested = group_test(
        bias, np.ones(61), group, material=1.0, level=0.05, permutations=99, rng=np.random.default_rng(0)
    )
    assert tested is not None
    assert tested.adjusted[2] > 0.5
    far = group_test(
        np.append(bias[:-1], 30.0),
        np.ones(61),
        group,
        material=1.0,
        level=0.05,
        permutations=199,
        rng=np.random.default_rng(0),
    )
    assert far is not None
    assert far.adjusted[2] <= 0.05


def _worlds(crowd: str, outcomes: str, number: int) -> list[Said]:
    return [said(world(crowd, outcomes, 50_000 + seed)) for seed in range(number)]


@pytest.mark.parametrize("crowd", ["alike", "same_mean"])
@pytest.mark.parametrize("outcomes", ["unique", "fives"])
def test_evidence_in_every_coupling_is_no_false_alarm(crowd, outcomes):
    """At 5 % more than 5 of 24 happen once in a thousand."""
    assert sum(one.evidence for one in _worlds(crowd, outcomes, 24)) <= 5


def test_bias_that_differs_in_every_coupling_is_found():
    """One coupling: a difference by half. Ties leave room, so that it takes a larger one to hold in all."""
    assert sum(one.evidence for one in _worlds("spread_2", "unique", 8)) >= 6
    assert sum(one.evidence for one in _worlds("spread_10", "pairs", 8)) >= 6


def test_what_ties_leave_open_is_no_evidence():
    """Half as much bias again in the even coupling, and in another optimal one none at all."""
    found = _worlds("spread_2", "fives", 6)
    assert sum(one.even for one in found) >= 5
    assert not any(one.evidence for one in found)
