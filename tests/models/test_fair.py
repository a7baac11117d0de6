"""Fair baselines: what they ignore, what they equalize, and bad input."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from scipy.special import expit

from audits.data import DataSpec, build_data
from audits.models import make_subject, model_spec
from audits.models.networks.gradients import logits_over
from audits.models.trained import fair
from audits.models.trained.fair import balance_outcomes, sensitive_basis, train_fair_network
from audits.models.trained.mlp import train_mlp
from audits.models.trained.reductions import train_reductions
from tests.loss_ratio.conftest import people
from tests.refused import refused

SPEC = DataSpec(label="hired", favorable="yes", protected=("sex",), features=("hair", "skill"))


@pytest.fixture(scope="module")
def data():
    return build_data(people(600), SPEC)


def moved_by(data, model, step: float) -> np.ndarray:
    """How far probabilities move with people who are moved along the trace of the group."""
    basis = sensitive_basis(data, model.space)
    z, layers = model.space.encode(data.frame), model.network()
    with torch.no_grad():
        ends = [torch.sigmoid(layers(torch.from_numpy(z + side * basis.T))).numpy() for side in (-step, step)]
    return np.abs(ends[1] - ends[0])


def test_project_does_not_see_the_subspace(data):
    subject = make_subject(data, model_spec({"train": "project"}))
    basis = sensitive_basis(subject.training, subject.model.space)
    # the trace has two standard deviations between the groups, skill none
    assert basis.shape == (2, 1)
    assert abs(basis[0, 0]) > 0.98
    # the projection is stored in float32
    np.testing.assert_allclose(moved_by(subject.training, subject.model, 3.0), 0.0, atol=1e-4)
    network = logits_over(subject.model, subject.space, subject.data.frame)
    odds = network(torch.from_numpy(subject.space.encode(subject.data.frame)))
    np.testing.assert_allclose(expit(odds.detach().numpy()[:, 0]), subject.scores, atol=2e-6)


def test_sensr_moves_less_than_the_plain_network(data, monkeypatch):
    monkeypatch.setattr(fair, "STEPS", 150)  # of 2,000: enough to move less by half
    plain, sensr = (
        moved_by(data, model, 1.0) for model in (train_mlp(data), train_fair_network(data, "sensr"))
    )
    assert sensr.mean() < plain.mean() / 2


def test_balanced_gives_both_outcomes_half(data):
    even = balance_outcomes(data)
    assert even.weights[even.y].sum() == pytest.approx(data.n / 2, rel=1e-12)
    assert even.weights.sum() == pytest.approx(data.n, rel=1e-12)


def test_same_seed_same_scores(data):
    few = data.take(np.arange(100))
    for train in (lambda: train_fair_network(few, "project", seed=3), lambda: train_reductions(few, seed=3)):
        first, second = train(), train()
        np.testing.assert_array_equal(first.score(few.frame), second.score(few.frame))
        assert first.sha256 == second.sha256


def test_bad_input(data):
    lonely = data.take((data.groups["sex"] == "f").to_numpy())
    with refused("data.protected", "'sex'"):
        train_fair_network(lonely, "project")
    with refused("data.protected", "10"):
        train_reductions(lonely)
    nobody = build_data(people(200), dataclasses.replace(SPEC, protected=()))
    with refused("data.protected"):
        train_fair_network(nobody, "sensr")


def test_reductions_allow_what_they_are_told(data):
    y, sex = np.asarray(data.y), (data.groups["sex"] == "f").to_numpy()
    gaps = []
    for allowed in (0.01, 0.2):
        chosen = train_reductions(data, allowed=allowed).score(data.frame) >= 0.5
        rates = [[chosen[(y == outcome) & side].mean() for side in (sex, ~sex)] for outcome in (True, False)]
        gaps.append(max(abs(one - other) for one, other in rates))
    # each group may lie that far from everyone; thresholding the mixture costs a little more
    assert gaps[0] < 0.1 < gaps[1]
