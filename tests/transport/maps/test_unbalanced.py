"""Relaxed and partial transport: against POT, and by hand with people whom no one resembles."""

from __future__ import annotations

import numpy as np
import ot
import pytest

from audits.transport.costs import pairwise_cost
from audits.transport.maps import UnbalancedMap, UnbalancedOptions

FINE = {"tolerance": 1e-9, "iterations": 100_000}


def two_groups(seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=(25, 2)) + 1
    return x, y, rng.uniform(0.1, 1, 30), rng.uniform(0.1, 1, 25)


def test_relaxed_plan_agrees_with_pot():
    x, y, a, b = two_groups(0)
    options = UnbalancedOptions(price=0.3, epsilon=0.05, **FINE)
    fitted = UnbalancedMap.fit(x, y, a=a, b=b, options=options, rng=0)
    a, b, costs = a / a.sum(), b / b.sum(), pairwise_cost(x, y)
    price = 0.3 * a @ costs @ b
    assert fitted.balance.amount == pytest.approx(price)
    tight = {"reg_type": "kl", "numItermax": 100_000, "stopThr": 1e-12}
    expected = ot.unbalanced.sinkhorn_unbalanced(a, b, costs, fitted.duals.epsilon, price, **tight)
    np.testing.assert_allclose(fitted.plan(0).toarray(), expected, atol=1e-8)
    assert fitted.unmatched[0] == pytest.approx(np.maximum(a - expected.sum(1), 0).sum(), abs=1e-6)


def test_partial_plan_agrees_with_pot_and_moves_nobody_twice():
    x, y, a, b = two_groups(1)
    options = UnbalancedOptions(relaxation="partial", share=0.6, epsilon=0.1, **FINE)
    # POT's entropic form has no weights in its reference measure, so the two agree for equal weights
    fitted = UnbalancedMap.fit(x, y, options=options, rng=0)
    tight = {"m": 0.6, "numItermax": 20_000, "stopThr": 1e-14}
    expected = ot.partial.entropic_partial_wasserstein(
        np.full(30, 1 / 30), np.full(25, 1 / 25), pairwise_cost(x, y), fitted.duals.epsilon, **tight
    )
    np.testing.assert_allclose(fitted.plan(0).toarray(), expected, atol=1e-6)
    weighted = UnbalancedMap.fit(x, y, a=a, b=b, options=options, rng=0)
    plan, a, b = weighted.plan(0), a / a.sum(), b / b.sum()
    assert weighted.converged
    assert plan.sum() == pytest.approx(0.6, abs=2e-4)
    assert (plan.sum(1) <= a + 1e-9).all()
    assert (plan.sum(0) <= b + 2e-4).all()
    np.testing.assert_allclose(weighted.matched_share(x) * a, plan.sum(1), atol=1e-9)


def test_one_far_person_of_four_by_hand():
    # three people have their like at no distance, the fourth's are 48 away and more: 3 of 4 are matched
    x, y = np.array([[0.0], [1.0], [2.0], [-50.0]]), np.array([[0.0], [1.0], [2.0], [50.0]])
    options = UnbalancedOptions(relaxation="partial", share=0.75, epsilon=1e-4)
    partial = UnbalancedMap.fit(x, y, options=options, rng=0)
    np.testing.assert_allclose(partial.matched_share(x), [1, 1, 1, 0], atol=1e-2)
    np.testing.assert_allclose(partial.plan(0).toarray(), np.diag([0.25, 0.25, 0.25, 0]), atol=2e-3)
    assert partial.unmatched == pytest.approx((0.25, 0.25), abs=1e-3)
    relaxed = UnbalancedMap.fit(x, y, options=UnbalancedOptions(price=0.1, epsilon=1e-4), rng=0)
    np.testing.assert_allclose(relaxed.matched_share(x), [1, 1, 1, 0], atol=0.02)
