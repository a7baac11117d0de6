"""Permutation of group membership, against every permutation there is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from audits.stats.permutation import means_p_values


def exact(values: np.ndarray, members: list[int]) -> float:
    """Two-sided p-value over every group of as many people."""
    sums = np.array([values[list(each)].sum() for each in combinations(range(len(values)), len(members))])
    own = values[members].sum()
    return min(1.0, 2 * min((sums >= own - 1e-9).mean(), (sums <= own + 1e-9).mean()))


@pytest.mark.parametrize("values", [np.arange(12.0) ** 2, np.array([0.0] * 7 + [1.0] * 5)])
def test_p_values_are_those_of_all_permutations(values):
    groups = np.zeros((3, 12), dtype=bool)
    members = [[10, 11], [0, 1, 2], [3, 8, 9, 11]]
    for row, each in zip(groups, members, strict=True):
        row[each] = True
    found = means_p_values(values, np.ones(12), groups, np.random.default_rng(0), draws=20_000)
    # 20,000 draws: a standard error of at most 0.0036, doubled for two sides
    assert found == pytest.approx([exact(values, each) for each in members], abs=0.02)


def test_a_weight_counts_people():
    values, weights = np.array([1.0, 2.0, 5.0, 9.0]), np.array([3.0, 2.0, 4.0, 1.0])
    groups = np.array([[False, False, True, True]])
    repeated = np.repeat(values, weights.astype(int))
    found = means_p_values(values, weights, groups, np.random.default_rng(0), draws=20_000)
    assert found[0] == pytest.approx(exact(repeated, [5, 6, 7, 8, 9]), abs=0.02)


def test_weights_below_a_person_leave_everybody_in():
    values = np.arange(12.0) ** 2
    groups = np.zeros((1, 12), dtype=bool)
    groups[0, [3, 8, 9, 11]] = True
    found = means_p_values(values, np.full(12, 0.3), groups, np.random.default_rng(0), draws=20_000)
    assert found[0] == pytest.approx(exact(values, [3, 8, 9, 11]), abs=0.02)


def test_of_many_people_a_small_group_is_drawn_with_replacement():
    rng = np.random.default_rng(3)
    values = rng.lognormal(size=9000)
    order = np.argsort(values)
    groups = np.zeros((2, 9000), dtype=bool)
    groups[0, order[-20:]] = True
    groups[1, order[::450]] = True  # like everyone
    high, alike = means_p_values(values, np.ones(9000), groups, rng, draws=999)
    assert high == pytest.approx(2 / 1000)  # none of the draws came near
    assert alike > 0.2
