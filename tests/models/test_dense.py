"""`Dense` networks: gradients of their training, and layers that they lack."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from audits.models.networks.dense import Dense, dense_of
from audits.models.networks.training import _loss_slope, cross_entropy
from tests.refused import refused


def draw(rng: np.random.Generator, *widths: int) -> Dense:
    weights = tuple(rng.normal(size=(a, b)) for a, b in pairwise(widths))
    return Dense(weights, tuple(rng.normal(size=b) for b in widths[1:]))


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
