"""The neural map: what it learns, that it repeats, how it fails, where it runs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from audits.errors import RunCancelled, RunFailed
from audits.transport.maps import NeuralMap, NeuralOptions, ks_distances, mean_cost
from tests.refused import refused

SHORT = {"dual_steps": 60, "map_steps": 40, "batch": 64, "learning_rate": 5e-3}
LONGER = {**SHORT, "dual_steps": 400, "map_steps": 150, "batch": 128}


def gaussians(seed: int = 0, n: int = 800) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) * [2.0, 0.5] + [3.0, -1.0]


def test_gaussians_follow_the_closed_form():
    # features are independent: x ↦ (3 + 2 x₁, −1 + x₂ / 2), at a cost of 9 + 1 + 1 + ¼
    seen: list = []
    told: list = []
    source, target = gaussians()
    options = NeuralOptions(cost="l2_squared", restore_marginals=False, **LONGER)
    watched = {"watch": seen.append, "progress": lambda *said: told.append(said)}
    fitted = NeuralMap.fit(source, target, options=options, rng=0, **watched)
    people = np.random.default_rng(1).normal(size=(500, 2))
    moved = fitted.transform(people)
    wanted = people * [2.0, 0.5] + [3.0, -1.0]
    # 800 people a side and a short training: within about a tenth of the target's spread, on average
    assert np.abs(moved - wanted).mean(0) == pytest.approx([0, 0], abs=0.3)
    assert mean_cost(people, moved, cost="l2_squared") == pytest.approx(11.25, rel=0.1)
    assert ks_distances(moved, wanted).max() < 0.12
    assert tuple(seen) == fitted.history
    assert [point.iteration for point in seen] == list(range(50, 551, 50))
    assert all(point.ks is None and point.critic_loss is not None for point in seen[:8])
    assert seen[-1].ks < 0.15
    assert told[0][1] == "pricing the groups: step 50 of 550"
    assert told[-1][0] == 1.0
    assert fitted.converged


def test_restored_marginals_keep_values_people_have():
    rng = np.random.default_rng(2)
    source, target = gaussians(n=300)
    target[:, 0] = np.where(rng.random(300) < 0.8, 0.0, rng.exponential(size=300) + 1)  # four in five have 0
    target[:, 1] = rng.integers(0, 2, 300)
    plain, restored = (
        NeuralMap.fit(source, target, options=NeuralOptions(restore_marginals=on, **SHORT), rng=0)
        for on in (False, True)
    )
    learned, moved = plain.transform(source), restored.transform(source)
    assert ks_distances(learned, target)[0] > 0.25
    assert ks_distances(moved, target)[0] <= 1 / 300 + 1e-9
    assert set(moved[:, 0]) <= set(target[:, 0])
    np.testing.assert_array_equal(moved[:, 1], learned[:, 1])  # two values are left to be rounded


def test_same_seed_same_map():
    source, target = gaussians(n=100)
    options = NeuralOptions(regularisation="entropic", dual_steps=20, map_steps=10, batch=64)
    told = {"a": np.arange(1, 101), "options": options}
    first, again, other = (NeuralMap.fit(source, target, rng=s, **told).transform(source) for s in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_divergence_is_explained():
    source, target = gaussians(n=100)
    options = NeuralOptions(learning_rate=1e30, dual_steps=20, map_steps=10, batch=64)
    fitted = NeuralMap.fit(source, target, options=options, rng=0)
    assert 1 < fitted.diverged_at <= 20
    with pytest.raises(RunFailed, match=rf" {fitted.diverged_at}\b"):
        fitted.transform(source)


def test_devices():
    source, target = gaussians(n=50)
    few = {"dual_steps": 2, "map_steps": 2, "batch": 8}
    fitted = NeuralMap.fit(source, target, options=NeuralOptions(device="cuda", **few), rng=0)
    assert fitted.device == ("cuda" if torch.cuda.is_available() else "cpu")
    with refused("device", "'cpu'", "'cuda'", "'abacus'"):
        NeuralMap.fit(source, target, options=NeuralOptions(device="abacus", **few), rng=0)


def test_cancelling_unwinds_and_gives_the_threads_back():
    def cancel(fraction: float, doing: str) -> None:
        raise RunCancelled(doing)

    before = torch.get_num_threads()
    source, target = gaussians(n=50)
    with pytest.raises(RunCancelled):
        NeuralMap.fit(source, target, options=NeuralOptions(batch=8), rng=0, progress=cancel)
    assert torch.get_num_threads() == before
