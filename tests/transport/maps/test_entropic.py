"""Entropic, relaxed and partial transport and the solver under them: against POT, by hand and itself."""

from __future__ import annotations

import numpy as np
import ot
import pytest

from audits.transport.costs import COSTS, pairwise_cost
from audits.transport.maps import EntropicMap, EntropicOptions, UnbalancedMap, UnbalancedOptions
from audits.transport.maps import sinkhorn as solver
from audits.transport.maps.protocol import groups
from audits.transport.maps.sinkhorn import Balance, solve
from audits.transport.maps.validation import ks_distances

FINE = {"tolerance": 1e-9, "iterations": 100_000}


def two_groups(seed: int, n: int = 40, m: int = 30, d: int = 3) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, d)), rng.normal(size=(m, d)) + 1
    return x, y, rng.uniform(0.1, 1, n), rng.uniform(0.1, 1, m)


@pytest.mark.parametrize("cost", COSTS)
def test_plan_agrees_with_pot(cost: str):
    """With a two-valued and a constant feature, whose costs are one product of matrices."""
    x, y, a, b = two_groups(0, d=5)
    for group in (x, y):
        group[:, 3], group[:, 4] = 7.3 * (group[:, 3] > 0.5) - 5, 4.0
    weights = np.array([1.0, 0.5, 2.0, 0.1, 1.0])
    options = EntropicOptions(cost=cost, epsilon=0.1, **FINE)
    fitted = EntropicMap.fit(x, y, a=a, b=b, feature_weights=weights, options=options, rng=0)
    a, b, costs = a / a.sum(), b / b.sum(), pairwise_cost(x, y, cost, weights)
    centered = costs - (costs @ b)[:, None] - a @ costs + a @ costs @ b
    assert fitted.duals.epsilon == pytest.approx(0.1 * a @ np.abs(centered) @ b)
    expected = ot.sinkhorn(a, b, costs, fitted.duals.epsilon, stopThr=1e-12, numItermax=100_000)
    np.testing.assert_allclose(fitted.plan(0).toarray(), expected, atol=1e-9)
    assert fitted.converged
    # the plan as it is kept may leave out 1% of each row's small entries
    kept = fitted.plan()
    np.testing.assert_allclose(kept.sum(1), a, atol=1e-9)
    assert np.abs(kept.sum(0) - b).sum() <= 0.02


def test_relaxed_and_partial_plans_agree_with_pot():
    x, y, a, b = two_groups(0)
    a, b, costs = a / a.sum(), b / b.sum(), pairwise_cost(x, y)
    options = UnbalancedOptions(price=0.3, epsilon=0.05, **FINE)
    fitted = UnbalancedMap.fit(x, y, a=a, b=b, options=options, rng=0)
    price, epsilon = 0.3 * a @ costs @ b, fitted.duals.epsilon
    assert fitted.balance.amount == pytest.approx(price)
    tight = {"reg_type": "kl", "numItermax": 100_000, "stopThr": 1e-12}
    expected = ot.unbalanced.sinkhorn_unbalanced(a, b, costs, epsilon, price, **tight)
    np.testing.assert_allclose(fitted.plan(0).toarray(), expected, atol=1e-8)
    assert fitted.unmatched[0] == pytest.approx(np.maximum(a - expected.sum(1), 0).sum(), abs=1e-6)
    options = UnbalancedOptions(relaxation="partial", share=0.6, epsilon=0.1, **FINE)
    # POT's entropic form has no weights in its reference measure, so the two agree for equal weights
    equal, same = np.full(40, 1 / 40), np.full(30, 1 / 30)
    fitted = UnbalancedMap.fit(x, y, options=options, rng=0)
    tight = {"m": 0.6, "numItermax": 20_000, "stopThr": 1e-14}
    expected = ot.partial.entropic_partial_wasserstein(equal, same, costs, fitted.duals.epsilon, **tight)
    np.testing.assert_allclose(fitted.plan(0).toarray(), expected, atol=1e-6)
    weighted = UnbalancedMap.fit(x, y, a=a, b=b, options=options, rng=0)
    plan = weighted.plan(0)
    assert plan.sum() == pytest.approx(0.6, abs=2e-4)
    assert (plan.sum(1) <= a + 1e-9).all()  # nobody is moved twice
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


@pytest.mark.parametrize("balance", [Balance(), Balance("relaxed", 5.0), Balance("partial", 0.7)])
def test_large_problems_take_the_sampled_single_precision_road_to_the_same_plan(
    monkeypatch, balance: Balance
):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(300, 3)), rng.normal(size=(250, 3)) + 1
    x[:, 2], y[:, 2] = x[:, 2] > 0, y[:, 2] > 0.5
    x[0], y[0] = 60.0, -70.0  # nobody is near either
    people = groups(x, y, rng.uniform(0.1, 1, 300), None)
    settled = {"cost": "l1_squared", "feature_weights": np.ones(3), "epsilon": 1.0, "balance": balance}
    settled |= {"most": 5000}
    slow = solve(people, **settled, tolerance=1e-6, rng=np.random.default_rng(0))
    monkeypatch.setattr(solver, "_SINGLE", 1000)
    monkeypatch.setattr(solver, "_SAMPLE", 100)
    fast = solve(people, **settled, tolerance=1e-5, rng=np.random.default_rng(0))
    assert [slow.converged, fast.converged] == [True, True]
    # single precision holds six digits, and the tolerance moves 1e-5 of the mass
    np.testing.assert_allclose(fast.source_mass, slow.source_mass, atol=1e-5)
    np.testing.assert_allclose(fast.target_mass, slow.target_mass, atol=1e-5)
    costs, mass = pairwise_cost(people.x, people.y), people.a[:, None] * people.b
    plans = [mass * np.exp(made.source[:, None] + made.target + made.level - costs) for made in (slow, fast)]
    assert np.abs(plans[0] - plans[1]).sum() < 1e-3


def test_new_people_are_carried_like_those_it_was_fitted_on():
    x, y, a, b = two_groups(5)
    fitted = EntropicMap.fit(x, y, a=a, b=b, options=EntropicOptions(projection="barycentre"), rng=0)
    plan = fitted.plan(0)
    one_by_one = np.vstack([fitted.transform(row[None]) for row in x])
    np.testing.assert_allclose(one_by_one, (plan @ y) / plan.sum(1)[:, None], rtol=1e-9)


def test_drawn_counterparts_follow_the_plan_and_depend_on_the_person_alone():
    """Many copies of each person, told apart by a feature without weight, are spread as the plan says."""
    x, y, *_ = two_groups(7, 6, 5, 2)
    fine = EntropicOptions(epsilon=1.0, **FINE)
    fitted = EntropicMap.fit(x, y, options=fine, rng=0)
    copies = np.repeat(x, 2000, axis=0)
    tags = np.linspace(0, 1, len(copies))[:, None]
    apart = {"feature_weights": np.array([1.0, 1.0, 0.0]), "options": fine}
    tagged = EntropicMap.fit(np.pad(x, ((0, 0), (0, 1))), np.pad(y, ((0, 0), (0, 1))), rng=0, **apart)
    there = tagged.transform(np.hstack([copies, tags]))[:, :2]
    hits = (there[:, None, :] == y[None]).all(axis=2)
    assert (hits.sum(axis=1) == 1).all()  # everyone is a real person of the target group
    shares = hits.reshape(6, 2000, 5).mean(axis=1)
    # 2,000 draws: shares lie within 0.04 (3.6 standard errors) of the plan's
    np.testing.assert_allclose(shares, fitted.plan(0).toarray() * 6, atol=0.04)
    assert np.array_equal(fitted.transform(x[::-1]), fitted.transform(x)[::-1])


def test_weights_count_people():
    x, y, *_ = two_groups(8, 10, 8, 2)
    counts, options = np.array([1, 2, 3, 1, 1, 2, 1, 1, 1, 1]), EntropicOptions(epsilon=0.2, **FINE)
    weighted = EntropicMap.fit(x, y, a=counts, options=options, rng=0)
    repeated = EntropicMap.fit(np.repeat(x, counts, axis=0), y, options=options, rng=0)
    np.testing.assert_allclose(weighted.transform(x), repeated.transform(x), atol=1e-6)
    # nobody is lost, and people of weight 0 are nobody
    without = EntropicMap.fit(np.vstack([x, x[:1] + 9]), y, a=np.append(counts, 0), options=options, rng=0)
    assert without.x_rows.tolist() == list(range(10))
    np.testing.assert_allclose(without.transform(x), weighted.transform(x))


def test_disjoint_supports_and_outliers_stay_finite_and_what_did_not_converge_says_so():
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 1e3
    fitted = EntropicMap.fit(x, y, rng=0)
    assert fitted.converged
    # how far the groups lie apart does not blur who is paired with whom
    assert ks_distances(fitted.transform(x), y).max() < 0.2
    y[0] = -1e4
    blurred = EntropicMap.fit(x, y, options=EntropicOptions(iterations=20_000), rng=0)
    assert blurred.converged
    assert np.isfinite(blurred.transform(x)).all()
    x, y, *_ = two_groups(10)
    hasty = EntropicMap.fit(x, y, options=EntropicOptions(epsilon=1e-3, iterations=2), rng=0)
    assert not hasty.converged
    np.testing.assert_allclose(hasty.plan(0).sum(1), 1 / 40)  # the source's shares hold even so
