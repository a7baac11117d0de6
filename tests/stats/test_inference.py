"""Intervals, tests and power against published values, SciPy, brute force and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from audits.stats import (
    holm,
    largest_gap,
    newcombe,
    p_value,
    ratio_means,
    share_ratio,
    sign_balance,
    weighted_sum,
    wilson,
)


@settings(max_examples=30)
@given(n=st.integers(1, 500), share=st.floats(0, 1))
def test_wilson_is_scipys(n, share):
    k = round(share * n)
    ours = wilson(k, n)
    theirs = scipy_stats.binomtest(k, n).proportion_ci(method="wilson")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert 0 <= ours.low <= ours.value <= ours.high <= 1


# Newcombe (1998), Table II, method 10: five of its examples with their printed limits
@pytest.mark.parametrize(
    ("a", "m", "b", "n", "low", "high"),
    [
        (56, 70, 48, 80, 0.0524, 0.3339),
        (9, 10, 3, 10, 0.1705, 0.8090),
        (5, 56, 0, 29, -0.0381, 0.1926),
        (0, 10, 0, 10, -0.2775, 0.2775),
        (10, 10, 0, 20, 0.6791, 1.0000),
    ],
)
def test_newcombe_published(a, m, b, n, low, high):
    gap = newcombe(a, m, b, n)
    assert (gap.low, gap.high) == pytest.approx((low, high), abs=5.1e-5)


def test_nobody_and_what_agrees():
    nothing = wilson(0, 0)
    assert (nothing.value, nothing.low, nothing.high, nothing.n) == (None, None, None, 0)
    share = wilson(30, 100)
    turned = weighted_sum([share], [-1.0])
    assert (turned.low, turned.high) == pytest.approx((-share.high, -share.low))
    agreed = sign_balance(3, 0, 3)  # three people who agree are no proof
    assert (agreed.value, agreed.high, agreed.low < 0.3) == (1, 1, True)
    assert share_ratio(5, 10, 0, 10).value is None
    assert share_ratio(0, 10, 5, 10).low == 0
    assert share_ratio(0, 10, 5, 10).value == 0
    assert share_ratio(3, 10, 0.001, 10).low > 0
    assert largest_gap(np.array([3.0]), np.array([10.0])).value is None
    assert largest_gap(np.array([3, 5, 0]), np.array([10, 10, 0])).value == pytest.approx(0.2)


def test_ratio_means_of_people_alike_is_that_of_rows():
    """A row that stands for four people gives the spread of four rows, and a normal width."""
    x = np.random.default_rng(2).normal(size=(50, 1))
    once = ratio_means(4 * x, np.full(50, 4.0), np.random.default_rng(0), people=np.full(50, 4.0), draws=4000)
    rows = ratio_means(np.repeat(x, 4, axis=0), np.ones(200), np.random.default_rng(0), draws=4000)
    for found in (once, rows):
        assert found.value == pytest.approx(x.mean())
        # 4,000 draws each
        assert (found.high - found.low) / 2 == pytest.approx(1.96 * x.std() / np.sqrt(200), rel=0.08)


@settings(max_examples=20)
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_against_the_obvious_way(p):
    running, expected = 0.0, np.empty(len(p))
    for rank, k in enumerate(np.argsort(p, kind="stable")):
        expected[k] = running = max(running, min(1.0, p[k] * (len(p) - rank)))
    assert holm(np.array(p)) == pytest.approx(expected)
    assert (p_value(10.0, np.zeros(99)), p_value(0.0, np.zeros(99))) == (0.01, 1.0)


def test_ratio_means_of_people_all_alike_are_certain():
    """Rounding that all draws share is no spread: 0.39 for everyone is 0.39, not any number at all."""
    rng = np.random.default_rng(0)
    grades = rng.normal(3.2, 0.4, 358).round(4)
    # standardized, subtracted, and scaled back: 0.39 for everyone, give or take the last digit
    alike = ((grades - 3.1) / 0.43 - (grades + 0.39 - 3.1) / 0.43) * 0.43
    other = rng.normal(size=358)
    means = ratio_means(np.column_stack([alike, other]), np.ones((358, 2)), np.random.default_rng(1))
    alone = ratio_means(other[:, None], np.ones((358, 1)), np.random.default_rng(1))
    assert (means.low[0], means.high[0]) == pytest.approx((-0.39, -0.39))
    assert (means.low[1], means.high[1]) == pytest.approx((alone.low[0], alone.high[0]))
