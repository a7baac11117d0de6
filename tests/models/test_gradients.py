"""Logits over the feature space agree with the model's own scores, and slopes with differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import expit

from audits.data import AuditData, DataSpec, FeatureSpace, build_data
from audits.models import make_subject, model_spec
from audits.models.networks.dense import dense_of
from audits.models.networks.gradients import Differentiable, logits_over
from audits.models.networks.training import Training, fit_dense
from tests.models.test_plain_trees import people
from tests.refused import refused


@pytest.fixture(scope="module")
def mixed() -> AuditData:
    """People with numbers, words, ranks, a date, jobs that one person has, a constant, and blanks."""
    frame = people(400).assign(same=3)
    frame["grade"] = frame["grade"].mask(frame.index % 10 == 0)
    ranks = {"kinds": {"grade": "ordinal"}, "orders": {"grade": ("c", "b", "a")}}
    return build_data(frame, DataSpec(label="hired", favorable=1, protected=("group",), **ranks))


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


def test_columns_outside_the_space_and_other_layers_are_refused_by_name(mixed):
    subject = make_subject(mixed, model_spec({"train": "logistic"}))
    with refused("data.features"):
        logits_over(subject.model, FeatureSpace.fit(subject.data, ["age", "job"]), subject.data.frame)
    with refused("model", "ELU"):
        dense_of(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ELU()))


def test_a_row_of_weight_three_trains_a_network_as_three_rows_do():
    rng, training = np.random.default_rng(1), Training(hidden=(4,), epochs=30, patience=None, batch=400)
    x, target, counts = rng.normal(size=(90, 3)), rng.integers(0, 2, 90), rng.integers(1, 4, 90)
    weighted = fit_dense(x, target, 2, np.random.default_rng(0), training=training, weights=counts)
    rows = np.repeat(np.arange(90), counts)
    repeated = fit_dense(x[rows], target[rows], 2, np.random.default_rng(0), training=training)
    np.testing.assert_allclose(weighted.outputs(x), repeated.outputs(x), atol=1e-6)
