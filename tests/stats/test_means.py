"""Means of skewed values and ratios of paired error rates: intervals, bounds, p-values, calibration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize

from audits.stats.means import MeanTest, mean_test
from audits.stats.paired_ratio import PairedRatio, paired_ratio

REPLICATIONS = 500
VALUES = st.lists(st.floats(0.01, 100.0), min_size=10, max_size=40).map(np.array)


def test_bounds_of_means_by_hand():
    ratios = np.array([1.0, 1.5, 2.0, 1.2, 1.3])  # the paper's normal bound
    normal, error = mean_test(ratios, method="normal"), stats.sem(ratios)
    assert normal.lower_bound(0.05) == pytest.approx(ratios.mean() - stats.norm.ppf(0.95) * error, rel=1e-12)
    high = normal.interval(0.05).high
    assert high - ratios.mean() == pytest.approx(stats.norm.ppf(0.975) * error, rel=1e-12)
    straight = mean_test(values := np.arange(1.0, 12.0)).interval(0.05)  # no skewness: Student's
    expected = stats.t.interval(0.95, 10, loc=6.0, scale=stats.sem(values))
    assert (straight.low, straight.high) == pytest.approx(expected, rel=1e-12)
    # Hall: g(T) = T + a T² + a² T³ / 3 + a / 2 with a = skewness / (3 √n) is the quantile at the bound
    t, a = (2.0 - MeanTest(n=25.0, mean=2.0, deviation=1.0, skewness=1.5).lower_bound(0.05)) / 0.2, 1.5 / 15
    assert t + a * t**2 + a**2 * t**3 / 3 + a / 2 == pytest.approx(stats.t.isf(0.05, 24), rel=1e-12)


@given(VALUES, st.floats(0.01, 50.0), st.sampled_from(["skewness", "normal"]))
@settings(max_examples=25)
def test_bound_and_p_value_are_two_sides_of_one_test(values, tolerance, method):
    test = mean_test(values, method=method)
    bound, p = test.lower_bound(0.05), test.p_value(tolerance)
    if bound is None or p is None:
        assert bound is p is None
    elif abs(p - 0.05) > 1e-9:  # at the level itself rounding decides
        assert (bound > tolerance) == (p < 0.05)


def test_small_and_constant_samples_have_a_documented_outcome():
    for values in ([2.0], [1.0, 1.1, *[1.0] * 7], [1.0] * 10):
        found = mean_test(np.array(values))
        assert (found.lower_bound(0.05), found.p_value(0.5), found.interval(0.05).high) == (None, None, None)
    assert mean_test(np.ones(9)).interval(0.05).method == "no interval below 10 people"
    assert mean_test(np.ones(10), method="normal").lower_bound(0.05) == 1.0
    huge = mean_test(np.array([1.0, 1e200, *[1e15] * 8]))
    assert np.isfinite([huge.mean, huge.deviation, huge.skewness, huge.lower_bound(0.05)]).all()
    values, weights = np.array([1.0, 2.0, 5.0]), np.array([6, 2, 4])  # a weight counts rows
    once, repeated = mean_test(values, weights), mean_test(np.repeat(values, weights))
    assert once.interval(0.05).low == pytest.approx(repeated.interval(0.05).low, rel=1e-12)


def test_coverage_and_type_one_error_of_means():
    """Of log-normal values; the plain interval covers less."""
    rng, covered, rejected = np.random.default_rng(1), np.zeros(2), 0
    for _ in range(REPLICATIONS):
        values = np.exp(rng.normal(size=200))
        tests = [mean_test(values, method=method) for method in ("skewness", "normal")]
        covered += [one.low <= math.exp(0.5) <= one.high for one in (each.interval(0.05) for each in tests)]
        rejected += tests[0].lower_bound(0.05) > math.exp(0.5)
    # Monte-Carlo errors of 500 replications: 0.01
    assert covered[0] / REPLICATIONS >= 0.91
    assert covered[0] > covered[1]
    assert rejected / REPLICATIONS <= 0.08


def test_the_delta_bound_is_the_papers_formula():
    rng = np.random.default_rng(0)
    before = rng.uniform(size=200) < 0.2
    after = before | (rng.uniform(size=200) < 0.1)
    pair = paired_ratio(after, before, method="delta")
    a, b = after.mean(), before.mean()
    v = np.cov(after, before, ddof=1)
    spread = a**2 * v[1, 1] + b**2 * v[0, 0] - 2 * a * b * v[0, 1]
    expected = a / b - stats.norm.ppf(0.95) * math.sqrt(spread) / (math.sqrt(200) * b**2)
    assert pair.lower_bound(0.05) == pytest.approx(expected, rel=1e-12)


def test_the_score_statistic_uses_the_likeliest_probabilities():
    pair, theta = PairedRatio(both=20, after=15, before=5, neither=60), 1.25

    def cost(p):  # p11 and p01; p10 follows from the ratio of (p11 + p10) to (p11 + p01)
        shares = np.array([p[0], theta * (p[0] + p[1]) - p[0], p[1], 0.0])
        shares[3] = 1 - shares.sum()
        return np.inf if shares.min() <= 0 else -(np.array([20, 15, 5, 60]) * np.log(shares)).sum()

    p11, down = minimize(cost, [0.2, 0.08], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9}).x
    up = theta * (p11 + down) - p11
    # half a person of the 100 is taken off the difference
    by_search = (0.35 - theta * 0.25 - 0.005) / math.sqrt(theta * (up + down) / 100)
    assert pair._score(theta) == pytest.approx(by_search, abs=1e-5)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 200), st.floats(1.01, 4.0))
@settings(max_examples=40)
def test_score_bound_and_p_value_agree(both, after, before, neither, tolerance):
    pair = PairedRatio(float(both), float(after), float(before), float(neither))
    bound, p = pair.lower_bound(0.05), pair.p_value(tolerance)
    if bound is not None and p is not None and abs(p - 0.05) > 1e-6:
        assert (bound > tolerance) == (p < 0.05)
    interval = pair.interval(0.05)
    if interval.value is not None and interval.low is not None:
        assert interval.low <= interval.value + 1e-9
        assert interval.high is None or interval.value <= interval.high + 1e-9


def test_nobody_wrong_before_leaves_no_ratio_but_a_test():
    pair = PairedRatio(both=0, after=40, before=0, neither=60)
    assert pair.value is None
    assert pair.interval(0.05).high is None
    assert pair.p_value(1.25) < 1e-6
    nobody = PairedRatio(both=0, after=0, before=0, neither=50)
    assert (nobody.value, nobody.lower_bound(0.05)) == (None, None)


@pytest.mark.parametrize(("n", "wrong", "new"), [(50, 0.2, 0.08), (400, 0.15, 0.03)])
def test_coverage_and_type_one_error_of_ratios(n, wrong, new):
    rng, gone = np.random.default_rng(5), 0.005
    truth = (wrong - gone + new) / wrong
    counts = rng.multinomial(n, [wrong - gone, new, gone, 1 - wrong - new], REPLICATIONS)
    covered = rejected = 0
    for row in counts.astype(float):
        pair = PairedRatio(*row)
        interval, bound = pair.interval(0.05), pair.lower_bound(0.05)
        low = -math.inf if interval.low is None else interval.low
        covered += low <= truth <= (math.inf if interval.high is None else interval.high)
        rejected += bound is not None and bound > truth
    # two Monte-Carlo errors of 0.01; the continuity correction keeps both on the safe side
    assert covered / REPLICATIONS >= 0.93
    assert rejected / REPLICATIONS <= 0.07


def test_a_tail_too_long_for_its_people_is_known():
    rng = np.random.default_rng(0)
    for sigma, n, low, high in ((1.5, 100, 0.5, 1), (0.5, 100, 0, 0.05), (1.0, 400, 0, 0.2)):
        # intervals cover .90 where it is told, and .95 in the second
        told = [mean_test(np.exp(sigma * rng.normal(size=n))).long_tailed for _ in range(60)]
        assert low <= np.mean(told) <= high
    for short in (np.array([3.0]), np.full(9, 2.0), -np.exp(2 * rng.normal(size=100))):
        assert not mean_test(short).long_tailed
