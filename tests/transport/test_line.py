"""The closed form on a line: by hand, against SciPy and sorting, and its duals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from audits.transport import exact_coupling, pairwise_cost
from audits.transport.costs import COSTS
from tests.transport.proof import prove


def column(values) -> np.ndarray:
    return np.asarray(values, dtype=float)[:, None]


def test_arrests_differ_by_the_difference_of_their_means():
    """FlipTest §5.5: Geometric(1/4) lies above Geometric(1/2) everywhere, so the mean move is 4 - 2."""
    arrests = np.arange(400)
    a, b = stats.geom.pmf(arrests + 1, 1 / 4), stats.geom.pmf(arrests + 1, 1 / 2)
    coupling = exact_coupling(column(arrests), column(arrests), cost="l1", a=a, b=b)
    # weights are rounded to 2**-52: some 300 of them, for people up to 400 arrests apart
    assert coupling.cost == pytest.approx(2.0, abs=300 * 400 * 2.0**-52)
    high_risk = np.where(arrests >= 2, 1.0, np.where(arrests == 1, 0.5, 0.0))
    net = a @ high_risk - a @ coupling.average(high_risk)
    assert net == pytest.approx(0.28125, abs=300 * 2.0**-52)


VALUES = arrays(
    float, st.integers(1, 30), elements=st.one_of(st.integers(-4, 4).map(float), st.floats(-9, 9))
)


@settings(max_examples=25)
@given(VALUES, VALUES, st.sampled_from(COSTS), st.integers(0, 99))
def test_duals_prove_the_staircase_and_plain_l1_is_scipys_distance(x, y, cost, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random(len(x)) + 0.01, rng.integers(1, 4, len(y))
    coupling = exact_coupling(column(x), column(y), cost=cost, a=a, b=b)
    proof = prove(coupling, column(x), column(y), cost, a, b)
    costs = pairwise_cost(column(x), column(y), cost)
    scale = costs.mean() + 1e-300
    assert coupling.method == "closed form in one dimension"
    assert coupling.slack <= 1e-12 * scale
    assert abs(proof.slack) <= 1e-12 * scale
    assert proof.marginal_error <= 1e-12
    assert (coupling.dual_source[:, None] + coupling.dual_target - costs).max() <= 1e-14 * scale
    if cost == "l1":  # SciPy's cumulative weights are rounded
        assert coupling.cost == pytest.approx(stats.wasserstein_distance(x, y, a, b), rel=1e-9, abs=1e-12)


def test_large_sets_need_no_matrix():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=60_000), rng.normal(size=80_000) + 1
    coupling = exact_coupling(column(x), column(y), cost="l1")
    assert coupling.cost == pytest.approx(stats.wasserstein_distance(x, y), rel=1e-10)
    assert coupling.slack <= 1e-9
    assert np.abs(coupling.plan.sum(axis=0) - 1 / 80_000).max() <= 1e-12
