"""The difference of two shares that excludes 0 only if an exact test does: against scipy, and enumerated."""

from __future__ import annotations

import pytest
from scipy.stats import binom, fisher_exact, hypergeom

from audits.stats import newcombe
from audits.stats.intervals import cautious_difference, fisher_p


@pytest.mark.parametrize(("n", "m", "share"), [(5, 1000, 0.98), (3, 300, 0.03), (6, 5000, 0.4)])
def test_equal_shares_seldom_look_different(n, m, share):
    """Every sample weighed by its probability: exact error rates, no simulation."""
    errors = {newcombe: 0.0, cautious_difference: 0.0}
    for a in range(n + 1):
        for b in range(m + 1):
            chance = binom.pmf(a, n, share) * binom.pmf(b, m, share)
            if chance < 1e-7:
                continue
            for method in errors:
                gap = method(a, n, b, m)
                errors[method] += chance * (gap.low > 0 or gap.high < 0)
    assert errors[cautious_difference] <= 0.05
    assert errors[newcombe] > 0.08 or min(n, m) > 5  # why the test is needed


@pytest.mark.parametrize("table", [(3, 4, 1, 4), (190, 200, 3, 5), (990, 1000, 3, 5), (2, 2, 0, 9)])
def test_fishers_p_is_the_mid_p_of_the_doubled_smaller_tail_but_beside_a_crowd(table):
    a, n, b, m = table
    half = 0.5 * hypergeom.pmf(a, n + m, a + b, n)
    tails = hypergeom.cdf(a - 1, n + m, a + b, n), hypergeom.sf(a, n + m, a + b, n)
    expected = min(1.0, 2 * min(tail + half for tail in tails))
    if max(n, m) > 50 * min(n, m):
        expected = fisher_exact([[a, n - a], [b, m - b]]).pvalue
    for turned in (table, (b, m, a, n), (n - a, n, m - b, m)):
        assert fisher_p(*turned) == pytest.approx(expected)


def test_many_people_are_told_apart_as_before_and_at_once():
    for counts in ((56, 70, 48, 80), (10**11 + 10**8, 2 * 10**11, 10**11, 2 * 10**11), (40, 10**9, 2, 10**9)):
        assert cautious_difference(*counts) == newcombe(*counts)
    lone = cautious_difference(1, 5, 20, 1000)
    assert (lone.low, lone.value) == (0.0, pytest.approx(0.18))
    assert lone.method != cautious_difference(56, 70, 48, 80).method
