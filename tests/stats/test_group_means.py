"""Groups' means against everyone else's: false alarms, power, intervals, groups of few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL
from audits.stats.group_means import GroupMeans, group_means, judge_groups


def _means(values: np.ndarray, group: np.ndarray, seed: int = 0, permutations: int = 99) -> GroupMeans:
    found = group_means(
        values,
        np.ones(len(values)),
        group,
        level=0.05,
        permutations=permutations,
        rng=np.random.default_rng(seed),
    )
    assert found is not None
    return found


def _rejected(sizes: tuple[int, ...], spreads: tuple[float, ...], apart: float, runs: int) -> int:
    group = np.repeat(np.arange(len(sizes)), sizes)
    hits = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        values = 20 + rng.normal(size=len(group)) * np.array(spreads)[group] + apart * (group == 1)
        hits += _means(values, group, seed).p_value <= 0.05
    return hits


def test_groups_of_the_same_mean_are_told_apart_no_more_often_than_the_level():
    """A pooled error rejects in 29 of 100 samples; 5% of 100 with three binomial errors are 11."""
    assert _rejected((150, 60, 5), (1.0, 1.0, 5.0), 0.0, 100) <= 11
    assert _rejected((160, 40), (1.0, 1.0), 0.7, 20) > 15


def test_a_group_of_one_has_everybodys_spread():
    values = np.append(np.random.default_rng(0).normal(10, 1, 60), 10.5)
    group = np.append(np.tile([0, 1], 30), 2)
    assert _means(values, group).adjusted[2] > 0.5
    far = _means(np.append(values[:-1], 30.0), group, permutations=199)
    assert far.adjusted[2] <= 0.05
    judged = judge_groups(far, material=1.0)[2]
    assert judged.verdict == INSUFFICIENT
    assert judged.interval.low is None


@settings(max_examples=15)
@given(
    st.integers(0, 10**6),
    st.integers(2, 40),
    st.integers(2, 40),
    st.floats(-3, 3),
    st.sampled_from([9, 19, 99]),
)
def test_verdict_interval_and_p_value_say_the_same(seed, n, m, apart, permutations):
    rng = np.random.default_rng(seed)
    group = np.repeat([0, 1], (n, m))
    found = _means(rng.normal(size=n + m) + apart * group, group, seed, permutations)
    for one, p in zip(judge_groups(found, material=0.5), found.adjusted, strict=True):
        assert one.p_value == p
        if one.interval.low is None:
            assert one.verdict == INSUFFICIENT
            assert permutations < 19
            continue
        excludes = one.interval.low > 0 or one.interval.high < 0
        assert excludes == (one.verdict == EVIDENCE) == (p <= 0.05)
        within = one.interval.low >= -0.5 and one.interval.high <= 0.5
        if one.verdict == NO_MATERIAL:
            assert within
            assert min(n, m) >= 10 or one.interval.n >= 10


@pytest.mark.parametrize(("people", "verdict"), [(20, INSUFFICIENT), (118, INSUFFICIENT), (120, NO_MATERIAL)])
def test_everybody_alike_is_no_difference_once_they_are_many(people, verdict):
    found = _means(np.full(people, 3.0), np.tile([0, 1], people // 2))
    assert found.p_value == 1
    judged = judge_groups(found, material=0.5)
    assert [one.verdict for one in judged] == [verdict] * 2
    assert [one.interval.low for one in judged] == [None if verdict == INSUFFICIENT else 0.0] * 2


def test_few_who_are_alike_clear_nobody():
    """One in ten of a group of 12 costs five times as much, of 200 others one in a hundred."""
    verdicts = set()
    for seed in range(20):
        chance = np.random.default_rng(seed).random(212)
        values = np.where(chance < np.repeat([0.1, 0.01], [12, 200]), 5.0, 1.0)
        judged = judge_groups(_means(values, np.repeat([0, 1], [12, 200]), seed), material=0.1)
        verdicts |= {one.verdict for one in judged}
    assert NO_MATERIAL not in verdicts
