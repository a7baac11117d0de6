"""Fair baselines: what they ignore, what they equalize, and bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.models import make_subject, model_spec
from audits.models.subspaces import attribute_directions, orthonormal, protected_directions
from audits.models.trained import fair
from audits.models.trained.fair import balance_outcomes, sensitive_basis, train_fair_network
from audits.models.trained.reductions import train_reductions
from tests.refused import refused


def two_groups(n: int = 1500, seed: int = 0) -> pd.DataFrame:
    """A trace of the group in `hair`, merit in `skill`, and a label that follows both."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    frame = pd.DataFrame({"hair": 2.0 * sex + rng.normal(size=n), "skill": rng.normal(size=n)})
    frame["noise"] = rng.normal(size=n)
    frame["sex"] = np.where(sex == 1, "f", "m")
    frame["hired"] = (frame["skill"] - frame["hair"] + 1 + rng.normal(size=n) > 0).map(
        {True: "yes", False: "no"}
    )
    return frame


@pytest.fixture(scope="module")
def data():
    return build_data(two_groups(), DataSpec(label="hired", favorable="yes", protected=("sex",)))


def test_the_subspace_is_the_trace(data):
    subject = make_subject(data, model_spec({"train": "logistic"}))
    basis = sensitive_basis(data, subject.space)
    assert basis.shape == (3, 1)
    # the trace has two standard deviations between the groups, the others none
    assert abs(basis[0, 0]) > 0.99


def test_project_does_not_see_the_subspace(data):
    model = train_fair_network(data, "project")
    basis = sensitive_basis(data, model.space)
    z = model.space.encode(data.frame)
    layers = model.network()
    import torch

    with torch.no_grad():
        here, moved = (layers(torch.from_numpy(at)).numpy() for at in (z, z + 3 * basis.T))
    # the projection is stored in float32
    np.testing.assert_allclose(here, moved, atol=1e-4)


def test_sensr_moves_less_than_the_plain_network(data, monkeypatch):
    from audits.models.trained.mlp import train_mlp

    monkeypatch.setattr(fair, "STEPS", 250)  # of 2,000: enough to move less by half
    basis = None
    changes = {}
    for name, model in (("mlp", train_mlp(data)), ("sensr", train_fair_network(data, "sensr"))):
        import torch

        basis = sensitive_basis(data, model.space)
        z, layers = model.space.encode(data.frame), model.network()
        with torch.no_grad():
            ends = [torch.sigmoid(layers(torch.from_numpy(z + side * basis.T))).numpy() for side in (-1, 1)]
        changes[name] = np.abs(ends[1] - ends[0]).mean()
    assert changes["sensr"] < changes["mlp"] / 2


def test_same_seed_same_scores(data):
    data = data.take(np.arange(300))
    for train in (
        lambda: train_fair_network(data, "project", seed=3),
        lambda: train_reductions(data, seed=3),
    ):
        first, second = train(), train()
        np.testing.assert_array_equal(first.score(data.frame), second.score(data.frame))
        assert first.sha256 == second.sha256


def test_balanced_gives_both_outcomes_half(data):
    even = balance_outcomes(data)
    assert even.weights[even.y].sum() == pytest.approx(even.weights[~even.y].sum(), rel=1e-12)
    assert even.weights.sum() == pytest.approx(data.n, rel=1e-12)
    assert even.digest != data.digest


def test_k_groups_give_k_minus_one_directions_and_a_number_one():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 4))
    groups = np.array(["a", "b", "c"])[(x[:, 0] > 0.3).astype(int) + (x[:, 0] + x[:, 1] > 1)]
    found, p = attribute_directions(x, groups)
    assert found.shape == (2, 4)
    assert p < 1e-6
    assert orthonormal(found).shape == (4, 2)
    line, p = attribute_directions(x, 3.0 * x[:, 2] + rng.normal(size=600))
    assert abs(line[0, 2]) > 10 * np.abs(np.delete(line[0], 2)).max()
    assert p < 1e-6
    assert attribute_directions(x, rng.choice(["f", "m"], 600))[1] > 0.01


def test_directions_that_span_everything_fall_back_to_the_leading_one():
    rng = np.random.default_rng(1)
    n = 900
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    frame["race"] = np.where(frame["a"] > 0.5, "x", np.where(frame["b"] > 0.5, "y", "z"))
    frame["label"] = (frame["a"] + rng.normal(size=n) > 0).astype(int)
    data = build_data(frame, DataSpec(label="label", favorable=1, protected=("race",)))
    subject = make_subject(data, model_spec({"train": "logistic"}))
    vectors, doubts = protected_directions(subject.data, subject.space, ("race",))
    assert vectors.shape == (1, 2)
    assert len(doubts) == 1


def test_bad_input(data):
    lonely = data.take((data.groups["sex"] == "f").to_numpy())
    with refused("data.protected", "'sex'"):
        train_fair_network(lonely, "project")
    with refused("data.protected", "10"):
        train_reductions(lonely)
    nobody = build_data(two_groups(200), DataSpec(label="hired", favorable="yes", features=("hair", "skill")))
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
