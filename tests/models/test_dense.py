"""`Dense` networks: outputs, gradients, training."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from audits.models.networks.dense import Dense, dense_of
from audits.models.networks.training import Training, _loss_slope, cross_entropy, fit_dense
from tests.refused import refused


def draw(rng: np.random.Generator, *widths: int) -> Dense:
    weights = tuple(rng.normal(size=(a, b)) for a, b in pairwise(widths))
    return Dense(weights, tuple(rng.normal(size=b) for b in widths[1:]))


def test_a_network_worked_by_hand():
    # h = relu(x1 - x2, x2), y = 3 h1 - h2 + 1; at (2, 1) both units are on: dy = (3, -3 - 1)
    net = Dense((np.array([[1.0, 0.0], [-1.0, 1.0]]), np.array([[3.0], [-1.0]])), (np.zeros(2), np.ones(1)))
    outputs, hidden = net.forward(np.array([[2.0, 1.0], [1.0, 2.0]]))
    assert outputs[:, 0].tolist() == [3.0, -1.0]
    assert net.backward(np.ones((2, 1)), hidden).tolist() == [[3.0, -4.0], [0.0, -1.0]]


@pytest.mark.parametrize(("outputs", "bends"), [(1, ()), (3, ()), (2, ("tanh", "sigmoid"))])
def test_gradients_equal_central_differences(outputs: int, bends: tuple):
    rng, step = np.random.default_rng(0), 1e-6
    net = replace(draw(rng, 4, 6, 5, outputs), bends=bends)
    z, seeds = rng.normal(size=(3, 4)), rng.normal(size=(3, outputs))
    _, hidden = net.forward(z)
    moves = step * np.eye(4)
    slopes = [((net.outputs(z + move) - net.outputs(z - move)) * seeds).sum(1) / (2 * step) for move in moves]
    np.testing.assert_allclose(net.backward(seeds, hidden), np.transpose(slopes), rtol=1e-4, atol=1e-6)


def test_other_layers_are_refused_by_name():
    from torch import nn

    with refused("model", "ELU"):
        dense_of(nn.Sequential(nn.Linear(2, 2), nn.ELU(), nn.Linear(2, 1)))


@pytest.mark.parametrize("classes", [2, 3])
def test_training_gradients_equal_central_differences(classes: int):
    rng, step, last = np.random.default_rng(1), 1e-6, 1 if classes == 2 else classes
    net, found = draw(rng, 3, 4, last), draw(rng, 3, 4, last)
    x, target, weights = rng.normal(size=(9, 3)), rng.integers(0, classes, 9), rng.random(9) + 0.5
    out, hidden = net.forward(x)
    net.parameter_slopes(_loss_slope(out, target, weights), hidden, found)
    for array, gradient in zip([*net.weights, *net.biases], [*found.weights, *found.biases], strict=True):
        for place in np.ndindex(array.shape):
            kept, loss = array[place], []
            for moved in (kept + step, kept - step):
                array[place] = moved
                loss.append(cross_entropy(net, x, target, weights))
            array[place] = kept
            assert gradient[place] == pytest.approx((loss[0] - loss[1]) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_training_learns_and_the_same_seed_gives_the_same_network(classes: int):
    rng = np.random.default_rng(2)
    target = rng.integers(0, classes, 400)
    x = rng.normal(size=(400, 2)) + 3 * np.column_stack([target == 1, target == 2])
    how = {"training": Training((8,), 30)}
    one, other = (fit_dense(x, target, classes, np.random.default_rng(5), **how) for _ in "ab")
    assert all(np.array_equal(a, b) for a, b in zip(one.weights, other.weights, strict=True))
    # two bivariate normals 3 apart overlap by Phi(-1.5) = 7%, whose loss is about 0.16
    assert cross_entropy(one, x, target, np.ones(400)) < 0.35
