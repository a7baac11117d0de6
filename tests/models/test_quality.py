"""Quality of a model: worked by hand, against scikit-learn, against the slow obvious version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import log_loss as reference_loss
from sklearn.metrics import roc_auc_score

from audits.models.quality import accuracy, area_under_curve, log_loss

NO, YES = False, True


def test_accuracy_by_hand():
    found = accuracy(
        np.array([YES, YES, NO, NO]), np.array([YES, NO, NO, NO]), np.array([1.0, 2.0, 3.0, 4.0])
    )
    assert found.value == 0.8
    assert found.n == 10
    assert found.method == "Wilson 95 %"


people = st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(1, 3)), min_size=2, max_size=40)


@given(people)
@settings(max_examples=100, deadline=None)
def test_the_area_counts_pairs(rows):
    scores, y, weights = (np.array(column) for column in zip(*rows, strict=True))
    found = area_under_curve(scores.astype(float), y, weights.astype(float))
    if y.all() or not y.any():
        assert found.value is found.low is found.high is None
        return
    pairs = [
        ((a > b) + 0.5 * (a == b), v * w)
        for a, is_good, v in rows
        if is_good
        for b, is_bad, w in rows
        if not is_bad
    ]
    slow = sum(win * weight for win, weight in pairs) / sum(weight for _, weight in pairs)
    assert found.value == pytest.approx(slow, abs=1e-12)
    assert found.value == pytest.approx(roc_auc_score(y, scores, sample_weight=weights), abs=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0, "an interval that has no width claims too much"
    turned = area_under_curve(-scores.astype(float), y, weights.astype(float))
    assert turned.value == pytest.approx(1 - found.value, abs=1e-12)
    assert turned.low == pytest.approx(1 - found.high, abs=1e-9)


@pytest.mark.parametrize(("area_scores", "m"), [("perfect", 8), ("mixed", 20)])
def test_the_ends_of_the_interval_solve_the_score_equation(area_scores, m):
    """At an end, the area lies 1.96 standard errors of that end away (Hanley-McNeil at equal halves)."""
    rng = np.random.default_rng(0)
    y = np.repeat([True, False], m)
    scores = y.astype(float) if area_scores == "perfect" else y + rng.normal(0, 1.5, 2 * m)
    found = area_under_curve(scores, y, np.ones(2 * m))
    for end in {found.low, found.high} - {0.0, 1.0}:
        q1, q2 = end / (2 - end), 2 * end**2 / (1 + end)
        variance = (end * (1 - end) + (m - 1) * (q1 - end**2) + (m - 1) * (q2 - end**2)) / m**2
        assert abs(found.value - end) == pytest.approx(norm.isf(0.025) * np.sqrt(variance), rel=1e-6)


def test_the_interval_covers_about_as_often_as_it_says():
    """Binormal scores with a known area of 0.76, 40 against 40: 95 % within Monte Carlo error."""
    rng = np.random.default_rng(0)
    y = np.repeat([True, False], 40)
    inside = 0
    for _ in range(1000):
        found = area_under_curve(rng.normal(y * 1.0, 1.0), y, np.ones(80))
        inside += found.low <= norm.cdf(1 / np.sqrt(2)) <= found.high
    assert 0.93 < inside / 1000 < 0.975


def test_log_loss_by_hand_and_against_scikit_learn():
    scores, y = np.array([0.9, 0.2, 0.6]), np.array([YES, NO, NO])
    found = log_loss(scores, y, np.array([1.0, 1.0, 2.0]))
    assert found.value == pytest.approx(-(np.log(0.9) + np.log(0.8) + 2 * np.log(0.4)) / 4)
    assert found.value == pytest.approx(reference_loss(y, scores, sample_weight=[1, 1, 2]))
    assert found.n == 4
    repeated = log_loss(scores[[0, 1, 2, 2]], y[[0, 1, 2, 2]], np.ones(4))
    assert (found.low, found.high) == pytest.approx((repeated.low, repeated.high))


def test_certainty_that_is_wrong_costs_much_but_not_infinity():
    assert log_loss(np.array([0.0, 1.0]), np.array([YES, YES]), np.ones(2)).value == pytest.approx(
        36.04 / 2, abs=0.01
    )
