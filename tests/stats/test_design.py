"""Shares of rows that are not one independent person each: by hand and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binomtest

from audits.stats.design import design_share, make_design
from tests.refused import refused


def test_without_a_design_it_is_clopper_and_pearson_and_five_rows_of_each_change_nothing():
    event = np.arange(120) < 37
    exact = binomtest(37, 120).proportion_ci(method="exact")
    for times in (1, 5):
        rows = make_design(120 * times, cluster=np.repeat(np.arange(120), times))
        found = design_share(rows, np.ones(120 * times, dtype=bool), np.repeat(event, times))
        # n/(n - 1) in the linearised variance takes one person off the effective number
        assert found.estimate.n == pytest.approx(119)
        assert (found.estimate.low, found.estimate.high) == pytest.approx((exact.low, exact.high), abs=0.002)


def test_variance_by_hand():
    # two strata of two clusters; weights 1 and 2: the textbook sum, written out
    weights = np.array([1.0, 1, 1, 1, 2, 2, 2, 2])
    cluster = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    strata = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    event = np.array([1, 1, 0, 1, 1, 0, 0, 0], dtype=bool)
    share = (1 + 1 + 1 + 2) / 12
    z = weights * (event - share) / 12
    t = [z[cluster == c].sum() for c in range(4)]
    variance = 2 * sum((t[i] - (t[a] + t[b]) / 2) ** 2 for a, b in ((0, 1), (2, 3)) for i in (a, b))
    found = design_share(make_design(8, weights=weights, cluster=cluster, strata=strata), event | True, event)
    assert found.estimate.value == pytest.approx(share)
    assert found.estimate.n == pytest.approx(min(share * (1 - share) / variance, 8))


def test_nobody_and_everybody():
    rows = make_design(50, cluster=np.repeat(np.arange(10), 5))
    members = np.arange(50) < 25
    nobody = design_share(rows, members, np.zeros(50, dtype=bool))
    # without spread five clusters count as five people, fewer for the four degrees of freedom behind them
    assert nobody.estimate.n == 5
    assert nobody.estimate.low == 0
    assert nobody.estimate.high > beta.ppf(0.975, 1, 5)
    empty = design_share(rows, np.zeros(50, dtype=bool), members)
    assert (empty.estimate.value, empty.estimate.low, empty.estimate.n) == (None, None, 0)
    with refused("data.weights"):
        make_design(2, weights=np.array([1.0, 0.0]))


def test_shares_hold_where_a_few_rows_have_most_of_the_weight():
    """By the linearized variance alone 79 to 81% held: events of light rows seem to be known exactly."""
    rng, held = np.random.default_rng(3), 0
    for _ in range(100):
        weights, event = np.exp(1.8 * rng.normal(size=100)), rng.random(100) < 0.05
        found = design_share(make_design(100, weights=weights), np.ones(100, dtype=bool), event).estimate
        held += found.low <= 0.05 <= found.high
    assert held >= 92
