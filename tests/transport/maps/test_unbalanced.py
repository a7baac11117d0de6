"""Relaxed and partial transport: against POT, by hand, and what it does with people no one resembles."""

from __future__ import annotations

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.transport.costs import pairwise_cost
from audits.transport.maps import UnbalancedMap, UnbalancedOptions

FINE = {"tolerance": 1e-9, "iterations": 100_000}


def two_groups(seed: int, n: int = 30, m: int = 25) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(n, 2)),
        rng.normal(size=(m, 2)) + 1,
        rng.uniform(0.1, 1, n),
        rng.uniform(0.1, 1, m),
    )


def test_relaxed_plan_agrees_with_pot():
    x, y, a, b = two_groups(0)
    options = UnbalancedOptions(price=0.3, epsilon=0.05, **FINE)
    fitted = UnbalancedMap.fit(x, y, a=a, b=b, options=options, rng=0)
    costs = pairwise_cost(x, y)
    price = 0.3 * a @ costs @ b / (a.sum() * b.sum())
    assert fitted.balance.amount == pytest.approx(price)
    expected = ot.unbalanced.sinkhorn_unbalanced(
        a / a.sum(),
        b / b.sum(),
        costs,
        fitted.duals.epsilon,
        price,
        reg_type="kl",
        numItermax=100_000,
        stopThr=1e-12,
    )
    np.testing.assert_allclose(fitted.plan(0).toarray(), expected, atol=1e-8)
    missed = np.maximum(a / a.sum() - expected.sum(1), 0).sum()
    assert fitted.unmatched[0] == pytest.approx(missed, abs=1e-6)


def test_partial_plan_agrees_with_pot():
    # POT's entropic form has no weights in its reference measure, so the two agree for equal weights
    x, y, *_ = two_groups(1)
    fitted = UnbalancedMap.fit(
        x, y, options=UnbalancedOptions(relaxation="partial", share=0.6, epsilon=0.1, **FINE), rng=0
    )
    a, b = np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))
    expected = ot.partial.entropic_partial_wasserstein(
        a, b, pairwise_cost(x, y), fitted.duals.epsilon, m=0.6, numItermax=20_000, stopThr=1e-14
    )
    np.testing.assert_allclose(fitted.plan(0).toarray(), expected, atol=1e-6)


def test_one_far_person_of_four_by_hand():
    # three people have their like at no distance, the fourth's are 48 away and more: 3 of 4 are matched
    x, y = np.array([[0.0], [1.0], [2.0], [-50.0]]), np.array([[0.0], [1.0], [2.0], [50.0]])
    partial = UnbalancedMap.fit(
        x, y, options=UnbalancedOptions(relaxation="partial", share=0.75, epsilon=1e-4), rng=0
    )
    np.testing.assert_allclose(partial.matched_share(x), [1, 1, 1, 0], atol=1e-2)
    np.testing.assert_allclose(partial.plan(0).toarray(), np.diag([0.25, 0.25, 0.25, 0]), atol=2e-3)
    assert partial.unmatched[0] == pytest.approx(0.25, abs=1e-3)
    assert partial.unmatched[1] == pytest.approx(0.25, abs=1e-3)
    relaxed = UnbalancedMap.fit(x, y, options=UnbalancedOptions(price=0.1, epsilon=1e-4), rng=0)
    np.testing.assert_allclose(relaxed.matched_share(x), [1, 1, 1, 0], atol=0.02)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 1.0), n=st.integers(2, 12), m=st.integers(2, 12))
def test_partial_moves_the_share_asked_and_nobody_twice(seed: int, share: float, n: int, m: int):
    x, y, a, b = two_groups(seed, n, m)
    options = UnbalancedOptions(
        relaxation="partial", share=share, tolerance=1e-4, iterations=50_000, epsilon=0.1
    )
    fitted = UnbalancedMap.fit(x, y, a=a, b=b, options=options, rng=0)
    plan = fitted.plan(0)
    assert fitted.converged
    assert plan.sum() == pytest.approx(share, abs=2e-4)
    assert (plan.sum(1) <= a / a.sum() + 1e-9).all()
    assert (plan.sum(0) <= b / b.sum() + 2e-4).all()
    np.testing.assert_allclose(fitted.matched_share(x) * a / a.sum(), plan.sum(1), atol=1e-9)
