"""What a coupling answers, and that its certificate tells a good plan from a bad one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from audits.errors import InputError
from audits.transport import certify, exact_coupling


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
    np.testing.assert_allclose(split.barycenter(values), split.shares() @ values, rtol=1e-15)


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
    with pytest.raises(InputError, match=r"plan would hold 400,000,000 pairs of equal points.*average\(\)"):
        _ = coupling.plan
    np.testing.assert_allclose(coupling.average(np.arange(20_000)), np.full(20_000, 9999.5), rtol=1e-12)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    return rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + 0.5


@pytest.mark.parametrize("cost", ["l1_squared", "l2_squared", "l1", "l2"])
def test_certificate_of_an_exact_coupling_is_all_zero(people, cost):
    coupling = exact_coupling(*people, cost=cost)
    proof = certify(*people, coupling.plan, coupling.dual_source, cost=cost)
    assert abs(proof.slack) <= 1e-12
    assert proof.marginal_error <= 1e-15
    assert proof.most_negative == 0


def test_certificate_grows_with_what_is_wrong_with_the_plan(people):
    coupling = exact_coupling(*people)
    i, j = coupling.plan.nonzero()
    slacks = []
    for swapped in range(0, 60, 10):
        wrong = j.copy()
        wrong[:swapped] = np.roll(j[:swapped], 1)
        plan = sparse.csr_array((np.full(60, 1 / 60), (i, wrong)), shape=(60, 60))
        proof = certify(*people, plan, coupling.dual_source)
        assert proof.marginal_error <= 1e-15
        slacks.append(proof.slack)
    assert slacks[0] < 1e-12
    assert np.all(np.diff(slacks) > 0.01)


def test_certificate_notices_masses_that_do_not_add_up(people):
    coupling = exact_coupling(*people)
    plan = sparse.lil_array(coupling.plan)
    i, j = (int(index[0]) for index in coupling.plan.nonzero())
    plan[i, j] += 0.25
    assert certify(*people, plan, coupling.dual_source).marginal_error == pytest.approx(0.25)
    plan[i, j] -= 0.5
    assert certify(*people, plan, coupling.dual_source).most_negative == pytest.approx(0.25 - 1 / 60)


def test_certify_names_wrong_shapes(people):
    plan = exact_coupling(*people).plan
    with pytest.raises(InputError, match=r"plan must have shape \(60, 60\), got \(60, 59\)"):
        certify(*people, plan[:, :59], np.zeros(60))
    with pytest.raises(InputError, match=r"dual_source must have shape \(60,\), got \(3,\)"):
        certify(*people, plan, np.zeros(3))
