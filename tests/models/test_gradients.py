"""Logits over the feature space agree with the model's own scores, and slopes with differences."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import expit

from audits.data import AuditData, DataSpec, FeatureSpace, build_data
from audits.models import make_subject, model_spec
from audits.models.networks.dense import Dense, dense_of
from audits.models.networks.gradients import Differentiable, logits_over
from audits.models.networks.training import _loss_slope, cross_entropy
from tests.refused import refused


@pytest.fixture(scope="module")
def mixed() -> AuditData:
    """People with numbers, words, ranks, a date, one job that one person has, a constant, and blanks."""
    rng, n = np.random.default_rng(0), 250
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": rng.normal(50, 10, n),
            "job": rng.choice(["cook", "judge", "nurse"], n),
            "grade": rng.choice(["low", "mid", "high", "top"], n, p=[0.4, 0.3, 0.295, 0.005]),
            "married": rng.choice(["yes", "no"], n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "same": 3,
            "sex": rng.choice(["f", "m"], n),
        }
    )
    worth = frame["income"] + 5 * (frame["job"] == "judge") + 8 * (frame["grade"] == "mid")
    frame["hired"] = np.where(worth + rng.normal(0, 5, n) > 55, "yes", "no")
    for name in ("age", "grade", "married"):
        frame.loc[rng.random(n) < 0.1, name] = None
    frame.loc[4, "job"] = "rare"
    ranks = {"kinds": {"grade": "ordinal"}, "orders": {"grade": ("low", "mid", "high", "top")}}
    return build_data(frame, DataSpec(label="hired", favorable="yes", protected=("sex",), **ranks))


@pytest.mark.parametrize("kind", ["logistic", "mlp", "reductions"])
def test_logits_give_the_models_scores_and_their_slopes(mixed, kind):
    subject = make_subject(mixed, model_spec({"train": kind}))
    assert isinstance(subject.model, Differentiable)
    network = logits_over(subject.model, subject.space, subject.data.frame)
    z = subject.space.encode(subject.data.frame)
    # a network scores in float32
    np.testing.assert_allclose(expit(network(torch.from_numpy(z)).numpy()[:, 0]), subject.scores, atol=2e-6)
    if kind == "reductions":
        return
    dense = dense_of(network)  # as plain arrays, as monitors read it; ranks of a logistic regression bend
    assert (dense.ramps is None) == (kind == "mlp")
    points = torch.from_numpy(z[:20]).requires_grad_(True)
    (gradient,) = torch.autograd.grad(network(points).sum(), points)
    outputs, hidden = dense.forward(z[:20])
    np.testing.assert_allclose(outputs[:, 0], network(points).detach().numpy()[:, 0], atol=1e-9)
    slopes = dense.backward(np.ones((20, 1)), hidden)
    step = 1e-2 if kind == "logistic" else 1e-6  # at a rank the slope is that of the two lines that meet
    for k in range(z.shape[1]):
        move = step * np.eye(z.shape[1])[k]
        expected = (dense.outputs(z[:20] + move) - dense.outputs(z[:20] - move))[:, 0] / (2 * step)
        np.testing.assert_allclose(slopes[:, k], expected, atol=1e-6)
        if not subject.space.names[k].startswith("grade"):
            np.testing.assert_allclose(gradient[:, k], expected, atol=1e-6)


def test_a_column_outside_the_space_is_refused(mixed):
    subject = make_subject(mixed, model_spec({"train": "logistic"}))
    with refused("data.features"):
        logits_over(subject.model, FeatureSpace.fit(subject.data, ["age", "job"]), subject.data.frame)


def draw(rng: np.random.Generator, *widths: int) -> Dense:
    weights = tuple(rng.normal(size=(a, b)) for a, b in pairwise(widths))
    return Dense(weights, tuple(rng.normal(size=b) for b in widths[1:]))


def test_other_layers_are_refused_by_name():
    with refused("model", "ELU"):
        dense_of(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ELU()))


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
