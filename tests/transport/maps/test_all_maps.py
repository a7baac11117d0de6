"""What every map owes: errors in words, a trip through a file, small and odd groups."""

from __future__ import annotations

import numpy as np
import pytest

from audits.transport.costs import COSTS, pairwise_cost
from audits.transport.maps import MAPS, GanOptions, NeuralOptions
from audits.transport.maps.pairs import pair_costs
from audits.transport.maps.protocol import ignore_curve
from tests.refused import refused

QUICK = {
    "gan": {"options": GanOptions(iterations=20, batch=8)},
    "neural": {"options": NeuralOptions(dual_steps=10, map_steps=10, batch=16)},
}
every_map = pytest.mark.parametrize("kind", sorted(MAPS))


def fit(kind: str, source, target, **more):
    return MAPS[kind].fit(source, target, rng=0, watch=ignore_curve, **QUICK.get(kind, {}), **more)


@pytest.mark.parametrize("kind", ["linear", "neural"])
@pytest.mark.parametrize(
    ("source", "target", "weights", "refusal"),
    [
        ([[np.nan]], [[1.0]], None, ("source",)),
        ([[0.0]], [[np.inf], [1.0]], None, ("target",)),
        (np.empty((0, 2)), [[1.0, 2.0]], None, ("source",)),
        ([[0.0]], np.empty((0, 1)), None, ("target",)),
        ([[0.0]], [[1.0, 2.0]], None, ("target",)),
        ([0.0, 1.0], [[1.0]], None, ("source",)),
        ([["a"]], [[1.0]], None, ("source",)),
        ([[0.0], [1.0]], [[1.0]], [1.0], ("a",)),
        ([[0.0], [1.0]], [[1.0]], [1.0, -1.0], ("a",)),
        ([[0.0], [1.0]], [[1.0]], [0.0, 0.0], ("a",)),
        ([[0.0], [1.0]], [[1.0]], [np.nan, 1.0], ("a",)),
    ],
)  # fmt: skip
def test_bad_groups_are_refused_in_words(kind: str, source, target, weights, refusal: str):
    with refused(*refusal):
        fit(kind, source, target, a=weights)


@pytest.mark.parametrize("kind", ["linear", "neural"])
@pytest.mark.parametrize(
    ("weights", "refusal"),
    [
        ([1.0], ("feature_weights",)),
        ([1.0, -1.0], ("feature_weights",)),
        ([0.0, 0.0], ("feature_weights",)),
        ([np.inf, 1.0], ("feature_weights",)),
    ],
)
def test_bad_feature_weights_are_refused(kind: str, weights: list, refusal: str):
    with refused(*refusal):
        fit(kind, np.zeros((3, 2)), np.ones((3, 2)), feature_weights=weights)


@every_map
def test_people_to_carry_are_checked(kind: str):
    rng = np.random.default_rng(0)
    fitted = fit(kind, rng.normal(size=(20, 2)), rng.normal(size=(20, 2)))
    with refused("x"):
        fitted.transform(np.zeros((4, 3)))
    with refused("x"):
        fitted.transform(np.array([[0.0, np.nan]]))
    assert fitted.transform(np.empty((0, 2))).shape == (0, 2)


@every_map
def test_one_person_against_many_and_back(kind: str):
    rng = np.random.default_rng(2)
    many = rng.normal(size=(30, 2))
    assert np.isfinite(fit(kind, many[:1], many).transform(many)).all()
    there = fit(kind, many, many[:1])
    assert np.isfinite(there.transform(many)).all()
    if kind in {"entropic", "linear", "unbalanced"}:
        np.testing.assert_allclose(there.transform(many), np.repeat(many[:1], 30, axis=0), atol=1e-9)


@every_map
def test_constant_and_all_categorical_features(kind: str):
    rng = np.random.default_rng(3)
    source = np.column_stack([np.full(40, 0.3), np.eye(3)[rng.integers(0, 3, 40)] / 2])
    target = np.column_stack([np.full(30, 0.3), np.eye(3)[rng.integers(0, 3, 30)] / 2])
    fitted = fit(kind, source, target)
    moved = fitted.transform(source)
    assert np.isfinite(moved).all()
    if kind in {"entropic", "linear", "unbalanced"}:
        np.testing.assert_allclose(moved[:, 0], 0.3, atol=1e-9)
    if kind in {"entropic", "unbalanced"}:
        assert {tuple(row) for row in moved} <= {tuple(row) for row in target}


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blockwise_costs_are_the_costs(cost: str, dtype: type):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(30, 6)) + 100, rng.normal(size=(20, 6)) + 100
    for group in (x, y):
        group[:, 1] = rng.integers(0, 2, len(group)) / 2
        group[:, 2] = rng.integers(0, 2, len(group)) * 7.3 - 50
        group[:, 3] = 4.0
    weights = rng.uniform(size=6)
    pairs = pair_costs(x, y, cost=cost, weights=weights, dtype=dtype)
    if "l1" in cost:
        assert pairs.x_squares.shape[1] == 3  # two-valued and constant features go through the matrix product
    got = np.vstack([pairs.rows(slice(start, start + 7)) for start in range(0, 30, 7)])
    assert got.dtype == dtype
    tolerance = {"rtol": 1e-9, "atol": 1e-9} if dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-3}
    np.testing.assert_allclose(got, pairwise_cost(x, y, cost, weights), **tolerance)
