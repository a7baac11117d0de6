"""The closed form on a line: by hand, against SciPy and sorting, and its duals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from audits.transport import exact_coupling
from audits.transport.costs import COSTS
from tests.refused import refused
from tests.transport.test_exact import assert_proved


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
    assert coupling.method == "closed form in one dimension"
    assert_proved(coupling, column(x), column(y), cost, a, b, within=1e-12)
    if cost == "l1":  # SciPy's cumulative weights are rounded
        assert coupling.cost == pytest.approx(stats.wasserstein_distance(x, y, a, b), rel=1e-9, abs=1e-12)


def test_large_sets_need_no_matrix_and_a_plan_too_large_to_write_out_says_so():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=60_000), rng.normal(size=80_000) + 1
    coupling = exact_coupling(column(x), column(y), cost="l1")
    assert coupling.cost == pytest.approx(stats.wasserstein_distance(x, y), rel=1e-10)
    assert coupling.slack <= 1e-9
    assert np.abs(coupling.plan.sum(axis=0) - 1 / 80_000).max() <= 1e-12
    same = exact_coupling(np.zeros((20_000, 1)), np.zeros((20_000, 1)))
    assert same.entries == 400_000_000
    with refused("plan", "400,000,000"):
        _ = same.plan
    np.testing.assert_allclose(same.average(np.arange(20_000)), np.full(20_000, 9999.5), rtol=1e-12)
