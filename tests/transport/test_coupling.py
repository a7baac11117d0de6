"""What a coupling answers."""

from __future__ import annotations

import numpy as np
import pytest

from audits.transport import exact_coupling
from tests.refused import refused


@pytest.fixture(scope="module")
def split():
    """One source point split between two targets, a second and its twin sharing a third target."""
    x = [[0.0, 0.0], [9.0, 9.0], [9.0, 9.0]]
    y = [[0.0, 1.0], [1.0, 0.0], [9.0, 8.0]]
    return exact_coupling(x, y, cost="l1", a=[2, 1, 3], b=[1, 1, 4])


def test_averages_are_those_of_the_shares(split):
    values = np.array([[1.0, 10.0], [3.0, 30.0], [5.0, 50.0]])
    np.testing.assert_allclose(split.average(values), [[2, 20], [5, 50], [5, 50]], rtol=1e-15)
    np.testing.assert_allclose(split.average(values[:, 0]), [2, 5, 5], rtol=1e-15)
    np.testing.assert_allclose(split.average(values), split.shares() @ values, rtol=1e-15)


def test_a_person_of_weight_zero_has_no_counterpart_but_feasible_duals():
    x, y = [[0.0, 0.0], [5.0, 1.0]], [[0.0, 1.0], [4.0, 1.0], [7.0, 7.0]]
    coupling = exact_coupling(x, y, a=[1, 0], b=[1, 0, 0])
    assert coupling.plan.toarray().tolist() == [[1, 0, 0], [0, 0, 0]]
    assert coupling.shares().toarray().tolist() == [[1, 0, 0], [0, 0, 0]]
    assert np.isnan(coupling.average([1.0, 2.0, 3.0])).tolist() == [False, True]
    costs = np.abs(np.subtract.outer(np.array(x), np.array(y)).diagonal(axis1=1, axis2=3)).sum(-1) ** 2
    assert (coupling.dual_source[:, None] + coupling.dual_target <= costs + 1e-12).all()


def test_a_plan_too_large_to_write_out_says_so_and_still_answers():
    x = np.zeros((20_000, 1))
    coupling = exact_coupling(x, x)
    assert coupling.entries == 400_000_000
    with refused("plan", "400,000,000"):
        _ = coupling.plan
    np.testing.assert_allclose(coupling.average(np.arange(20_000)), np.full(20_000, 9999.5), rtol=1e-12)
