"""The linear map: closed forms, moments, constant features, few people."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import sqrtm

from audits.transport.maps import LinearMap, LinearOptions

PLAIN = LinearOptions(shrinkage=0.0)


def test_gaussians_follow_the_closed_form():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 4)) @ rng.normal(size=(4, 4))
    y = rng.normal(size=(400, 4)) @ rng.normal(size=(4, 4)) + 3
    source, target = np.cov(x.T, ddof=0), np.cov(y.T, ddof=0)
    root = sqrtm(source).real
    matrix = np.linalg.inv(root) @ sqrtm(root @ target @ root).real @ np.linalg.inv(root)
    fitted = LinearMap.fit(x, y, options=PLAIN)
    np.testing.assert_allclose(fitted.matrix, matrix, atol=1e-9)
    moved = fitted.transform(x)
    np.testing.assert_allclose(moved.mean(0), y.mean(0))
    np.testing.assert_allclose(np.cov(moved.T, ddof=0), target, atol=1e-9)


def test_feature_weights_are_other_units():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(500, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    y = rng.normal(size=(500, 2)) @ np.array([[1.0, -0.8], [0.0, 0.6]])
    units = np.array([10.0, 1.0])
    weighted = LinearMap.fit(x, y, feature_weights=units**2, options=PLAIN)
    np.testing.assert_allclose(np.cov(weighted.transform(x).T), np.cov(y.T), rtol=0.01)
    scaled = LinearMap.fit(x * units, y * units, options=PLAIN)
    np.testing.assert_allclose(weighted.transform(x), scaled.transform(x * units) / units, atol=1e-9)


def test_constant_features_and_one_hot_columns():
    rng = np.random.default_rng(2)
    hot = np.eye(3)[rng.integers(0, 3, 200)] / 2
    x = np.column_stack([rng.normal(size=200), np.full(200, 0.1), hot, rng.normal(size=200)])
    y = x[:150] * [2, 1, 1, 1, 1, 0] + [1, 0, 0, 0, 0, 4]  # the last feature is constant in the target group
    fitted = LinearMap.fit(x, y)
    moved = fitted.transform(x)
    assert np.abs(fitted.matrix).max() < 10  # nothing blows up along directions without variation
    np.testing.assert_allclose(moved[:, 1], 0.1, atol=1e-9)
    np.testing.assert_allclose(moved[:, 5], 4.0, atol=1e-6)
    # shrunk correlations let the three one-hot columns miss their sum by a hair; unshrunk ones do not
    np.testing.assert_allclose(moved[:, 2:5].sum(1), 0.5, atol=0.01)
    np.testing.assert_allclose(LinearMap.fit(x, y, options=PLAIN).transform(x)[:, 2:5].sum(1), 0.5, atol=1e-9)


def test_suggested_shrinkage_is_schaefer_and_strimmers():
    # as printed: w_kij = z_ki z_kj, Var(r_ij) = n / (n − 1)³ Σ_k (w_kij − w̄_ij)², on unbiased scales
    rng = np.random.default_rng(4)
    n, d = 40, 3
    x = rng.normal(size=(n, d)) @ np.array([[1, 0.4, 0], [0, 1, 0.2], [0, 0, 1]])
    z = (x - x.mean(0)) / x.std(0, ddof=1)
    over, under = 0.0, 0.0
    for i, j in ((0, 1), (0, 2), (1, 2)):
        w = z[:, i] * z[:, j]
        over += n / (n - 1) ** 3 * ((w - w.mean()) ** 2).sum()
        under += (n / (n - 1) * w.mean()) ** 2
    fitted = LinearMap.fit(x, x[::-1] + 1)
    assert fitted.shrinkage == pytest.approx((over / under,) * 2, rel=1e-9)
    # few people with many features stay tame: with variance 1 on both sides the map is near a shift
    people, few, other = (rng.normal(size=(size, 40)) for size in (1000, 10, 12))
    shrunk = LinearMap.fit(few, other + 1)
    assert min(shrunk.shrinkage) > 0.5
    assert (shrunk.transform(people) - people - 1).std() < 1.0
    assert f"{100 * min(shrunk.shrinkage):.1f}%" in shrunk.finding
