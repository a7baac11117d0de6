"""Quantiles with ranks, ratios of means, ROC curves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.stats.curves import area_equally_far, area_within, roc_curves
from audits.stats.means import mean_test
from audits.stats.quantiles import quantile
from audits.stats.ratios import mean_ratio


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=1, max_size=30), st.floats(0.05, 0.95)
)
def test_a_quantile_is_the_least_value_that_enough_people_do_not_exceed(rows, share):
    values, counts = (np.array(each, dtype=float) for each in zip(*rows, strict=True))
    each = np.repeat(values, counts.astype(int))
    assert quantile(values, share, counts) == quantile(each, share), "a count of people is as many rows"
    found = quantile(each, share).value
    assert np.mean(each <= found) >= share - 1e-9
    lower = each[each < found]
    assert not lower.size or np.mean(each <= lower.max()) < share


def test_quantiles_and_ratios_of_few_and_of_constant_values_have_no_interval():
    assert quantile(np.arange(20.0), 0.95).high is None
    assert quantile(np.empty(0), 0.5).value is None
    exact = mean_ratio(mean_test(np.full(11, 3.0)), mean_test(np.full(10, 2.0)))
    assert (exact.value, exact.low, exact.high) == (1.5, None, None)
    assert mean_ratio(mean_test(np.ones(3)), mean_test(np.zeros(3))).value is None
    few = mean_ratio(mean_test(np.full(9, 3.0)), mean_test(np.ones(30)))
    assert (few.value, few.low, few.high, few.method) == (3.0, None, None, "no interval below 10 people")


def pairs_area(score: np.ndarray, member: np.ndarray) -> float:
    gaps = score[member][:, None] - score[~member][None]
    return float(np.mean((gaps > 0) + 0.5 * (gaps == 0)))


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=4, max_size=40))
def test_areas_equal_the_share_of_pairs(rows):
    score, member = (np.array(each) for each in zip(*rows, strict=True))
    if member.all() or not member.any():
        return
    rng = np.random.default_rng(0)
    found = roc_curves(np.array([score, -score]), member, rng, draws=5)
    assert found.area[0] == pytest.approx(pairs_area(score, member))
    assert found.area.sum() == pytest.approx(1)
    one = area_within(score, member, np.zeros(len(score), dtype=int), rng, draws=5)
    assert one.value == pytest.approx(found.area[0])


def test_within_bands_only_pairs_of_a_band_count():
    score = np.array([9.0, 8.0, 1.0, 2.0])
    member = np.array([True, False, True, False])
    band = np.array([0, 0, 1, 1])
    found = area_within(score, member, band, np.random.default_rng(0), draws=20)
    assert found.value == 0.5  # one pair right, one wrong
    alone = area_within(score, member, np.array([0, 1, 2, 3]), np.random.default_rng(0), draws=20)
    assert alone.value is None


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.sampled_from([-3.0, -1.0, 2.0]))
def test_a_score_that_is_the_distance_alone_has_a_half_among_people_equally_far(seed: int, power: float):
    rng = np.random.default_rng(seed)
    distance = rng.uniform(0.1, 1.0, 300)
    member = rng.random(300) < np.exp(-3 * distance)
    for score in (distance**power, np.ones(300)):  # a tie is half a win
        found = area_equally_far(score, member, distance, rng, draws=20)
        assert found.value is None or found.value == 0.5


def test_areas_of_people_told_apart_without_error_have_a_width():
    """Of ten against ten who are nearly always told apart, the bootstrap held in 48 of 100 samples."""
    member, distance = np.repeat([True, False], 10), np.random.default_rng(0).random(20)
    score = np.where(member, 2.0, 1.0) + 0.1 * distance
    for found in (
        area_equally_far(score, member, distance, np.random.default_rng(0), draws=40),
        area_within(score, member, np.zeros(20, dtype=int), np.random.default_rng(0), draws=40),
    ):
        assert found.value == found.high == 1
        assert 0.5 < found.low < 0.8
    both = roc_curves(np.array([score, score]), member, np.random.default_rng(0), draws=40)
    assert both.difference(0, 1, 20).low is None
