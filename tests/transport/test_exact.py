"""The exact coupling: by hand, against other solvers, published numbers, its invariants, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from audits.errors import RunCancelled, RunFailed
from audits.transport import estimated_bytes, estimated_seconds, exact_coupling, pairwise_cost, restricted
from audits.transport.costs import COSTS
from tests.refused import refused


def assert_proved(coupling, x, y, cost="l1_squared", a=None, b=None, within=1e-10):
    """Check everything that a coupling claims, from scratch: all pairs are looked at.

    The source duals are completed to feasible ones by the c-transform: their value is below any plan's cost.
    """
    a, b = (np.ones(len(p)) if w is None else np.asarray(w, float) for p, w in ((x, a), (y, b)))
    a, b = a / a.sum(), b / b.sum()
    costs, plan, u = pairwise_cost(x, y, cost), coupling.plan, coupling.dual_source
    scale = costs.mean() + 1e-300
    dual = a @ u + b @ (costs - u[:, None]).min(axis=0)
    assert abs(plan.multiply(costs).sum() - dual) <= within * scale
    assert abs(coupling.cost - dual) <= within * scale
    assert 0 <= coupling.slack <= within * scale
    assert max(np.abs(plan.sum(axis=1) - a).max(), np.abs(plan.sum(axis=0) - b).max()) <= 1e-12
    assert plan.data.min(initial=0.0) == 0
    assert (u[:, None] + coupling.dual_target - costs).max() <= 1e-12 * scale


def test_averages_are_those_of_the_shares():
    """One source point is split between two targets, a second and its twin share a third."""
    x, y = [[0.0, 0.0], [9.0, 9.0], [9.0, 9.0]], [[0.0, 1.0], [1.0, 0.0], [9.0, 8.0]]
    split = exact_coupling(x, y, cost="l1", a=[2, 1, 3], b=[1, 1, 4])
    values = np.array([[1.0, 10.0], [3.0, 30.0], [5.0, 50.0]])
    np.testing.assert_allclose(split.average(values), [[2, 20], [5, 50], [5, 50]], rtol=1e-15)
    np.testing.assert_allclose(split.average(values[:, 0]), [2, 5, 5], rtol=1e-15)
    np.testing.assert_allclose(split.average(values), split.shares() @ values, rtol=1e-15)
    # a person of weight zero has no counterpart, though a twin has one, but feasible duals
    nobody = exact_coupling(x, y, a=[1, 1, 0], b=[1, 0, 1])
    assert nobody.shares().toarray().tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert np.isnan(nobody.average([1.0, 2.0, 3.0])).tolist() == [False, False, True]
    assert_proved(nobody, x, y, a=[1, 1, 0], b=[1, 0, 1])


def test_estimates_grow_with_the_problem():
    assert estimated_seconds(6_172, 6_172, 1) < 0.1
    assert estimated_seconds(5_000, 5_000, 8) < estimated_seconds(10_000, 10_000, 8) < 20
    assert estimated_seconds(20_000, 20_000, 8) < 60 < 120 < estimated_seconds(100_000, 100_000, 8)
    assert estimated_bytes(20_000, 20_000, 8) < 2.5e9 < 4e9 < estimated_bytes(200_000, 200_000, 8)


WEIGHT = st.one_of(st.integers(0, 4).map(float), st.floats(0.01, 10))


@st.composite
def problems(draw):
    """Small problems full of ties: points on a grid, sizes 1 to 7, weights that may be 0, or none."""
    n, m, d = draw(st.integers(1, 7)), draw(st.integers(1, 7)), draw(st.integers(1, 4))
    x, y = (draw(arrays(float, (size, d), elements=st.integers(-3, 3).map(float))) for size in (n, m))
    weights = [draw(st.none() | arrays(float, size, elements=WEIGHT)) for size in (n, m)]
    weights = [None if w is None or not w.any() else w for w in weights]
    return x, y, draw(st.sampled_from(COSTS)), *weights


@settings(max_examples=15)
@given(problems())
def test_small_problems_full_of_ties_are_solved_with_proof(problem):
    coupling = exact_coupling(*problem[:2], cost=problem[2], a=problem[3], b=problem[4])
    assert_proved(coupling, *problem)


def test_repeating_every_row_is_weighting_it_and_equal_people_get_equal_shares():
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 4, size=(30, 3)).astype(float), rng.normal(size=(20, 3))
    counts = rng.integers(1, 5, size=30)
    weighted, repeated = exact_coupling(x, y, a=counts), exact_coupling(np.repeat(x, counts, axis=0), y)
    assert repeated.cost == pytest.approx(weighted.cost, rel=1e-13)
    firsts = np.cumsum(counts) - counts
    summed = np.add.reduceat(repeated.plan.toarray(), firsts, axis=0)
    np.testing.assert_allclose(summed, weighted.plan.toarray(), atol=1e-15)
    shares = repeated.shares().toarray()
    np.testing.assert_allclose(shares, np.repeat(shares[firsts], counts, axis=0), atol=1e-15)


@pytest.fixture
def pairs_alone(monkeypatch):
    """Have small problems solved as large ones are: by the simplex for some of the pairs alone."""
    monkeypatch.setattr(restricted, "DENSE_PAIRS", 1_000)


@pytest.mark.parametrize(
    ("cost", "spread"), list(zip(COSTS, ["heavy", "one-hot", "clusters", "normal"], strict=True))
)
def test_the_restricted_simplex_finds_the_assignment(pairs_alone, cost, spread):
    """Three samples deep it costs what the Hungarian algorithm finds."""
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(2, 220, 4))
    if spread == "heavy":
        x, y = rng.standard_t(1.5, size=(2, 220, 4))
    elif spread == "clusters":
        x, y = (20 * rng.integers(0, 4, size=(220, 1)) + 0.1 * points for points in (x, y))
    elif spread == "one-hot":
        x, y = (np.hstack([points[:, :1], 0.5 * np.eye(6)[rng.integers(0, 6, 220)]]) for points in (x, y))
    coupling = exact_coupling(x, y, cost=cost)
    costs = pairwise_cost(x, y, cost)
    assert coupling.method == "restricted network simplex"
    assert coupling.cost == pytest.approx(costs[linear_sum_assignment(costs)].mean(), rel=1e-11)
    assert_proved(coupling, x, y, cost)


@pytest.mark.parametrize(
    ("weights", "cost"),
    [
        (lambda rng, n: rng.integers(1, 50, n), "l1_squared"),
        (lambda rng, n: rng.pareto(1.1, n) + 1e-3, "l1_squared"),
        (lambda rng, n: np.where(np.arange(n) == 3, 1e6, 1.0), "l2"),
        (lambda rng, n: rng.random(n) * (rng.random(n) < 0.5), "l2"),
    ],
)
def test_the_restricted_simplex_takes_any_sizes_and_weights(pairs_alone, weights, cost):
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(90, 3)).round(1), rng.normal(size=(150, 3)).round(1) + 0.5
    a, b = weights(rng, 90), weights(rng, 150)
    coupling = exact_coupling(x, y, cost=cost, a=a, b=b)
    assert coupling.method == "restricted network simplex"
    assert_proved(coupling, x, y, cost, a, b)


def test_the_restricted_simplex_heeds_neither_the_order_of_rows_nor_the_number_of_cores(
    pairs_alone, monkeypatch
):
    """Points on a coarse grid, so that many plans tie: still one and the same is chosen."""
    rng = np.random.default_rng(15)
    x, y = rng.integers(0, 5, size=(200, 3)).astype(float), rng.integers(1, 6, size=(170, 3)).astype(float)
    first = exact_coupling(x, y)
    assert first.method == "restricted network simplex"
    assert_proved(first, x, y)
    one = first.plan.toarray()
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0}, raising=False)
    assert np.array_equal(exact_coupling(x, y).plan.toarray(), one)
    rows, columns = rng.permutation(200), rng.permutation(170)
    other = exact_coupling(x[rows], y[columns]).plan.toarray()
    np.testing.assert_allclose(other, one[np.ix_(rows, columns)], atol=1e-16)


def test_a_simplex_that_fails_gives_way_to_the_dense_one_where_there_is_room(pairs_alone, monkeypatch):
    """A solver that reports failure on pairs: the full matrix answers rightly, or no plan is returned."""
    monkeypatch.setattr(restricted, "solve_pairs", lambda *_: None)
    x, y = np.random.default_rng(10).normal(size=(2, 80, 3))
    coupling = exact_coupling(x, y)
    assert coupling.method == "dense network simplex"
    assert_proved(coupling, x, y)
    monkeypatch.setattr(restricted, "_DENSE_MEMORY", 0.0)
    with pytest.raises(RunFailed):
        exact_coupling(x, y)


def test_progress_is_told_in_order_and_can_cancel(pairs_alone):
    x, y = np.random.default_rng(14).normal(size=(2, 200, 2))
    told: list[tuple[float, str]] = []
    exact_coupling(x, y, progress=lambda *said: told.append(said))
    assert [fraction for fraction, _ in told] == sorted(fraction for fraction, _ in told)
    assert told[-1][0] == 1.0

    def cancel(fraction: float, doing: str) -> None:
        if "Round 1" in doing:
            raise RunCancelled(doing)

    with pytest.raises(RunCancelled):
        exact_coupling(x, y, progress=cancel)


@pytest.mark.parametrize(
    ("arguments", "options", "refusal"),
    [
        ((np.empty((0, 1)), [[1.0]]), {}, ("x",)),
        (([0.0], [[1.0]]), {}, ("x",)),
        (([[np.inf]], [[1.0]]), {}, ("x",)),
        (([[0.0]], [[1.0, 2.0]]), {}, ("y",)),
        (([[0.0]], [[1.0]]), {"a": [-1.0]}, ("a", "1.0")),
        (([[0.0]], [[1.0]]), {"b": [0.0]}, ("b",)),
        (([[0.0]], [[1.0]]), {"a": [np.nan]}, ("a",)),
        (([[0.0], [1.0]], [[1.0]]), {"a": [1e308, 1e308]}, ("a",)),
        (([[0.0]], [[1.0]]), {"cost": "l1_sqared"}, ("cost", "'l1_squared'")),
        (([[0.0]], [[1.0]]), {"tolerance": 0.0}, ("tolerance", "0.0")),
        (([[-1e300]], [[1e300]]), {}, ("x and y",)),
        (([[1e308]], [[1.0]]), {"feature_weights": [1e10]}, ("x and y",)),
    ],
)
def test_bad_input_is_named(arguments, options, refusal):
    with refused(*refusal):
        exact_coupling(*arguments, **options)
