"""The checks that a map can be trusted: by hand, against SciPy and scikit-learn, and their invariants."""

from __future__ import annotations

import numpy as np
import ot
import pytest
from scipy.stats import ks_2samp, wasserstein_distance
from sklearn.linear_model import LinearRegression

from audits.transport.costs import pairwise_cost
from audits.transport.maps import LinearMap, LinearOptions, ks_distances
from audits.transport.maps.validation import composition_error, exact_cost, mean_cost, regression_gaps


def test_ks_by_hand_and_as_scipys_ties_and_all():
    # half of the first group lies at 0, none of the second; in feature 2 both are alike
    x, y = np.array([[0.0, 5.0], [1.0, 5.0]]), np.array([[1.0, 5.0], [2.0, 5.0]])
    assert ks_distances(x, y).tolist() == [0.5, 0.0]
    assert ks_distances(x, y, a=np.array([3.0, 1.0])).tolist() == [0.75, 0.0]
    rng = np.random.default_rng(0)
    for n, m in ((1, 1), (1, 9), (20, 13)):
        x, y = (rng.integers(-3, 4, size=(size, 2)).astype(float) for size in (n, m))
        ours = ks_distances(x, y)
        assert ours == pytest.approx([ks_2samp(x[:, k], y[:, k], method="exact").statistic for k in range(2)])
        assert ks_distances(y, x) == pytest.approx(ours)


def test_regression_gaps_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3)) + 2
    z, counts = rng.normal(size=(200, 3)), rng.integers(1, 4, 200)
    expected = []
    for k in range(3):
        others = np.delete(np.arange(3), k)
        model = LinearRegression().fit(y[:, others], y[:, k])
        both = (np.repeat(z, counts, axis=0), y)
        error = [((rows[:, k] - model.predict(rows[:, others])) ** 2).mean() for rows in both]
        expected.append(error[0] - error[1])
    np.testing.assert_allclose(regression_gaps(y, z, a=counts), expected, rtol=1e-9)
    np.testing.assert_allclose(regression_gaps(y, y), 0, atol=1e-12)
    # a one-hot column follows from its siblings
    level = np.eye(3)[rng.integers(0, 3, 100)] / 2
    y = np.column_stack([level, np.ones(100), rng.normal(size=100)])
    gaps = regression_gaps(y, y[:50])
    assert np.isfinite(gaps).all()
    np.testing.assert_allclose(gaps[:4], 0, atol=1e-9)


def test_mean_cost_and_composition():
    x, z = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[1.0, 1.0], [1.0, 2.0]])
    assert mean_cost(x, z) == pytest.approx((4 + 1) / 2)
    assert mean_cost(x, z, cost="l1", a=np.array([3.0, 1.0])) == pytest.approx((3 * 2 + 1) / 4)
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) * 3 + 1
    plain = LinearOptions(shrinkage=0.0)
    there, back = LinearMap.fit(x, y, options=plain), LinearMap.fit(y, x, options=plain)
    assert composition_error(x, there.transform, back.transform) == pytest.approx(0, abs=1e-12)
    assert composition_error(x, there.transform, there.transform) > 1


def test_exact_cost_is_the_couplings_and_of_a_sample_where_groups_are_large():
    rng = np.random.default_rng(3)
    x, y, a = rng.normal(size=(40, 2)), rng.normal(size=(30, 2)) + 1, rng.uniform(size=40)
    expected = ot.emd2(a / a.sum(), np.full(30, 1 / 30), pairwise_cost(x, y))
    assert exact_cost(x, y, a=a, rng=rng) == pytest.approx(expected)
    drawn = [exact_cost(x, y, a=a, most=10, rng=np.random.default_rng(seed)) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    first = exact_cost(x, y, cost="l1", feature_weights=np.array([1.0, 0.0]), rng=rng)
    assert first == pytest.approx(wasserstein_distance(x[:, 0], y[:, 0]))
