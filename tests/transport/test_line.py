"""The closed form on a line: against SciPy and sorting, and its duals."""

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
