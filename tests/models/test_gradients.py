"""Logits over the feature space agree with the model's own scores, for every kind of column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import expit

from audits.data import DataSpec, build_data
from audits.models import make_subject, model_spec
from audits.models.networks.gradients import Differentiable, logits_over
from tests.refused import refused


def mixed_people(n: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(0)
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
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "grade"] = None
    frame.loc[rng.random(n) < 0.05, "married"] = None
    frame.loc[4, "job"] = "rare"
    frame["hired"] = np.where(
        frame["income"] + 5 * (frame["job"] == "judge") + rng.normal(0, 5, n) > 52, "yes", "no"
    )
    return frame


@pytest.fixture(scope="module")
def mixed():
    spec = DataSpec(
        label="hired",
        favorable="yes",
        protected=("sex",),
        kinds={"grade": "ordinal"},
        orders={"grade": ("low", "mid", "high", "top")},
    )
    return build_data(mixed_people(), spec)


@pytest.mark.parametrize("kind", ["logistic", "mlp", "project", "reductions"])
def test_logits_give_the_models_scores(mixed, kind):
    subject = make_subject(mixed, model_spec({"train": kind}))
    assert isinstance(subject.model, Differentiable)
    network = logits_over(subject.model, subject.space, subject.data.frame)
    points = torch.from_numpy(subject.space.encode(subject.data.frame))
    # a network scores in float32
    np.testing.assert_allclose(expit(network(points).numpy()[:, 0]), subject.scores, atol=2e-6)


def test_the_logistic_weights_in_the_feature_space_by_hand(numeric_data):
    subject = make_subject(numeric_data, model_spec({"train": "logistic"}))
    (layer,) = logits_over(subject.model, subject.space, subject.data.frame)
    scaler = subject.model.pipeline[0].transformers_[0][1][0]
    weights = subject.model.pipeline[-1].coef_[0]
    for k, name in enumerate(("age", "income")):
        at = subject.space.blocks[name].start
        place = list(subject.model.numbers).index(name)
        # one standard deviation of the audited people in those of the training people
        assert layer.weight[0, at].item() == pytest.approx(
            weights[place] * subject.space.scale[name][1] / scaler.scale_[place], rel=1e-12
        ), k


def test_gradients_are_those_of_finite_differences(mixed):
    subject = make_subject(mixed, model_spec({"train": "mlp"}))
    network = logits_over(subject.model, subject.space, subject.data.frame)
    point = torch.from_numpy(subject.space.encode(subject.data.frame)[:1] + 0.013).requires_grad_(True)
    (gradient,) = torch.autograd.grad(network(point).sum(), point)
    for k in range(point.shape[1]):
        step = torch.zeros_like(point)
        step[0, k] = 1e-6
        with torch.no_grad():
            slope = (network(point + step) - network(point - step)).item() / 2e-6
        assert gradient[0, k].item() == pytest.approx(slope, abs=1e-5)


def test_a_column_outside_the_space_is_refused(mixed):
    from audits.data import FeatureSpace

    subject = make_subject(mixed, model_spec({"train": "logistic"}))
    with refused("data.features"):
        logits_over(subject.model, FeatureSpace.fit(subject.data, ["age", "job"]), subject.data.frame)
