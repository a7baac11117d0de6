"""`Dense` networks: outputs, gradients, training."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.data import DataSpec, FeatureSpace, build_data
from audits.models.networks.dense import Dense, dense_of
from audits.models.networks.gradients import logits_over
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


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([(), ("tanh", "sigmoid")]))
def test_gradients_equal_central_differences(seed: int, outputs: int, bends: tuple):
    rng = np.random.default_rng(seed)
    net = replace(draw(rng, 4, 6, 5, outputs), bends=bends)
    z, seeds = rng.normal(size=(3, 4)), rng.normal(size=(3, outputs))
    _, hidden = net.forward(z)
    step = 1e-6
    slopes = np.empty_like(z)
    for j in range(4):
        up, down = z.copy(), z.copy()
        up[:, j] += step
        down[:, j] -= step
        slopes[:, j] = ((net.outputs(up) - net.outputs(down)) * seeds).sum(1) / (2 * step)
    # a kink of a ReLU within the step would be met by few draws in a million
    np.testing.assert_allclose(net.backward(seeds, hidden), slopes, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("other", ["ELU", "Softplus"])
def test_other_layers_are_refused_by_name(other: str):
    from torch import nn

    with refused("model", other):
        dense_of(nn.Sequential(nn.Linear(2, 2), getattr(nn, other)(), nn.Linear(2, 1)))


def test_ranks_that_bend_have_the_slope_of_the_central_difference():
    import pandas as pd

    from audits.models import make_subject, model_spec

    rng = np.random.default_rng(0)
    grade = rng.integers(0, 4, 600)
    frame = pd.DataFrame(
        {"grade": np.array(["low", "medium", "high", "very high"])[grade], "x": rng.normal(size=600)}
    )
    frame["y"] = (rng.random(600) < np.array([0.1, 0.6, 0.5, 0.9])[grade]).astype(int)
    frame["group"] = np.where(rng.random(600) < 0.5, "u", "v")
    spec = DataSpec(
        label="y", favorable=1, protected=("group",), features=("grade", "x"), kinds={"grade": "ordinal"}
    )
    subject = make_subject(build_data(frame, spec), model_spec({"train": "logistic"}))
    space: FeatureSpace = subject.space
    net = dense_of(logits_over(subject.model, space, subject.data.frame))
    z = space.encode(subject.data.frame)
    odds = np.log(subject.scores / (1 - subject.scores))
    np.testing.assert_allclose(net.outputs(z)[:, 0], odds, atol=1e-9)
    assert net.ramps is not None
    step, at = 0.01, space.blocks["grade"].start
    up, down = z.copy(), z.copy()
    up[:, at] += step
    down[:, at] -= step
    slopes = (net.outputs(up) - net.outputs(down))[:, 0] / (2 * step)
    _, hidden = net.forward(z)
    np.testing.assert_allclose(net.backward(np.ones((len(z), 1)), hidden)[:, at], slopes, atol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_training_gradients_equal_central_differences(classes: int):
    rng = np.random.default_rng(1)
    net = draw(rng, 3, 4, 1 if classes == 2 else classes)
    x, target, weights = rng.normal(size=(9, 3)), rng.integers(0, classes, 9), rng.random(9) + 0.5
    found = draw(rng, 3, 4, 1 if classes == 2 else classes)
    out, hidden = net.forward(x)
    net.parameter_slopes(_loss_slope(out, target, weights), hidden, found)
    for array, gradient in zip([*net.weights, *net.biases], [*found.weights, *found.biases], strict=True):
        for place in np.ndindex(array.shape):
            kept, step = array[place], 1e-6
            array[place] = kept + step
            up = cross_entropy(net, x, target, weights)
            array[place] = kept - step
            down = cross_entropy(net, x, target, weights)
            array[place] = kept
            assert gradient[place] == pytest.approx((up - down) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_training_learns_and_the_same_seed_gives_the_same_network(classes: int):
    rng = np.random.default_rng(2)
    target = rng.integers(0, classes, 400)
    x = rng.normal(size=(400, 2)) + 3 * np.column_stack([target == 1, target == 2])
    nets = [
        fit_dense(x, target, classes, np.random.default_rng(5), training=Training((8,), 30)) for _ in "ab"
    ]
    assert all(np.array_equal(a, b) for a, b in zip(nets[0].weights, nets[1].weights, strict=True))
    # two bivariate normals 3 apart overlap by Phi(-1.5) = 7%, whose loss is about 0.16
    assert cross_entropy(nets[0], x, target, np.ones(400)) < 0.35
