"""The WGAN: its gradients, its schedule against autograd torch, what it learns, how it fails."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_limits

from audits.errors import RunFailed
from audits.models.networks.dense import Dense
from audits.threads import one_torch_thread
from audits.transport.maps import GanMap, GanOptions
from audits.transport.maps.gan_training import drawer
from audits.transport.maps.wgan import Wgan
from tests.refused import refused


class TorchTwin:
    """The same WGAN in plain autograd torch: modules, ``backward()``, ``torch.optim.RMSprop``, l1_squared."""

    def __init__(self, gan: Wgan, *, rate: float, clip: float, transport_weight: float) -> None:
        self.clip, self.transport_weight = clip, transport_weight
        self.generator, self.critic = self._module(gan.generator), self._module(gan.critic)
        settings = {"lr": rate, "alpha": 0.9, "eps": 1e-7}
        self.descend_generator = torch.optim.RMSprop(self.generator.parameters(), **settings)
        self.descend_critic = torch.optim.RMSprop(self.critic.parameters(), **settings)

    def _module(self, net: Dense):
        nn = torch.nn
        linear = [nn.Linear(*weights.shape) for weights in net.weights]
        with torch.no_grad():
            for layer, weights, bias in zip(linear, net.weights, net.biases, strict=True):
                layer.weight.copy_(torch.from_numpy(weights.T.copy()))
                layer.bias.copy_(torch.from_numpy(bias.copy()))
        return nn.Sequential(linear[0], nn.ReLU(), linear[1], nn.ReLU(), linear[2])

    def critic_step(self, real: np.ndarray, source: np.ndarray) -> float:
        """One critic step: two updates, then clipping."""
        with torch.no_grad():
            generated = self.generator(torch.from_numpy(source))
        scores = []
        for people, sign in ((torch.from_numpy(real), 1), (generated, -1)):
            self.descend_critic.zero_grad()
            score = self.critic(people).mean()
            (sign * score).backward()
            self.descend_critic.step()
            scores.append(score.item())
        with torch.no_grad():
            for parameter in self.critic.parameters():
                parameter.clamp_(-self.clip, self.clip)
        return scores[0] - scores[1]

    def generator_step(self, x: np.ndarray) -> float:
        """One generator step."""
        people = torch.from_numpy(x)
        self.descend_generator.zero_grad()
        moved = self.generator(people)
        cost = ((people - moved).abs().sum(dim=1) ** 2).mean()
        loss = self.critic(moved).mean() + self.transport_weight * cost
        loss.backward()
        self.descend_generator.step()
        return loss.item()


def one_pass(
    player: Wgan | TorchTwin, source: np.ndarray, target: np.ndarray, last: np.ndarray
) -> list[float]:
    """Five critic steps on `source`, `target` (5, batch, d), one generator step on `last`; the six losses."""
    if isinstance(player, TorchTwin):
        losses = [player.critic_step(real, people) for real, people in zip(target, source, strict=True)]
        return [*losses, player.generator_step(last)]
    size = len(last)
    generated, _ = player.generate(source.reshape(-1, source.shape[2]))
    losses = [player.critic_step(real, generated[k * size : (k + 1) * size]) for k, real in enumerate(target)]
    return [*losses, player.generator_step(last)]


def players(d: int, seed: int = 0) -> tuple[Wgan, TorchTwin]:
    """A WGAN with the paper's settings, and its twin with the same parameters."""
    gan, settings = Wgan(np.ones(d), GanOptions(), np.random.default_rng(seed)), GanOptions()
    return gan, TorchTwin(
        gan, rate=settings.learning_rate, clip=settings.clip, transport_weight=settings.transport_weight
    )


def test_fifty_passes_agree_with_autograd_torch():
    rng = np.random.default_rng(0)
    gan, twin = players(2)
    source = rng.normal(size=(50, 6, 64, 2)).astype(np.float32)
    target = (rng.normal(size=(50, 5, 64, 2)) * [0.5, 1.5] + [1, 0]).astype(np.float32)
    with one_torch_thread():
        ours, theirs = (
            np.array([one_pass(player, s[:5], t, s[5]) for s, t in zip(source, target, strict=True)])
            for player in (gan, twin)
        )
    assert np.abs(np.diff(ours[:, 5])).max() > 1e-5  # the losses do move
    np.testing.assert_allclose(ours, theirs, atol=1e-6)  # 1e-4 is asked for; rounding leaves far less
    with torch.no_grad():
        expected = twin.generator(torch.from_numpy(source[0, 0])).numpy()
    np.testing.assert_allclose(gan.counterparts(source[0, 0]), expected, atol=1e-4)
    assert max(np.abs(each).max() for each in gan.critic.weights) <= np.float32(0.01)


def shifted(rng: np.random.Generator, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(n, 2)), rng.normal([1.5, -1.0], size=(n, 2))


def test_same_seed_same_map_on_any_number_of_threads():
    source, target = shifted(np.random.default_rng(0))
    options = GanOptions(iterations=30, batch=16)
    first = GanMap.fit(source, target, options=options, rng=5)
    with threadpool_limits(2):
        again = GanMap.fit(source, target, options=options, rng=np.random.default_rng(5))
    other = GanMap.fit(source, target, options=options, rng=6)
    assert np.array_equal(first.transform(source), again.transform(source))
    assert first.history == again.history
    assert not np.array_equal(first.transform(source), other.transform(source))


def test_learns_a_shift_keeps_a_curve_and_stops_early_at_its_best_state():
    source, target = shifted(np.random.default_rng(0))
    # quicker than the paper's 5e-5, for a second of training
    how = {"iterations": 3000, "learning_rate": 2e-3, "clip": 0.05, "patience": 200, "cost_share": 0.0}
    seen: list[tuple] = []
    told: list[float] = []
    watched = {"watch": seen.append, "progress": lambda share, _: told.append(share)}
    fitted = GanMap.fit(source, target, options=GanOptions(early_stopping=True, **how), rng=0, **watched)
    best = min(fitted.history, key=lambda point: point.ks)
    assert fitted.converged
    assert fitted.chosen_at == best.iteration
    assert fitted.history[-1].iteration == best.iteration + 200
    # the sample means of 400 differ by 0.05; a GAN circles its target within a few tenths
    np.testing.assert_allclose(fitted.transform(source).mean(0), target.mean(0), atol=0.4)
    assert best.ks < 0.2 < fitted.history[0].ks
    assert [point.iteration for point in fitted.history] == list(range(100, best.iteration + 201, 100))
    assert tuple(seen) == fitted.history
    assert told == sorted(told)
    with refused("source", "20"):  # people to hold out
        GanMap.fit(np.zeros((2, 1)), np.ones((50, 1)), options=GanOptions(early_stopping=True), rng=0)


def test_divergence_is_found_explained_and_never_half_shown():
    source, target = shifted(np.random.default_rng(0))
    fitted = GanMap.fit(source, target, options=GanOptions(learning_rate=1e3, iterations=500), rng=0)
    assert 1 <= fitted.diverged_at <= 100
    assert all(point.iteration < fitted.diverged_at for point in fitted.history)
    with pytest.raises(RunFailed, match=rf" {fitted.diverged_at:,}\b"):
        fitted.transform(source)
    # groups far from the origin and alike are none
    alike = np.random.default_rng(0).normal(300, 1, size=(200, 2))
    assert GanMap.fit(alike[:100], alike[100:], options=GanOptions(iterations=100), rng=0).diverged_at is None


def test_weighted_people_are_drawn_in_proportion():
    # all the weight on one of two target people: the others are never seen
    source, target = np.array([[1.0], [2.0]]), np.array([[3.0], [-50.0]])
    options = GanOptions(iterations=20, batch=8)
    fitted = GanMap.fit(source, target, b=np.array([1.0, 0.0]), options=options, rng=0)
    alone = GanMap.fit(source, target[:1], options=options, rng=0)
    assert np.array_equal(fitted.transform(source), alone.transform(source))
    draw = drawer(np.array([0.1, 0.0, 0.6, 0.3]), np.random.default_rng(0))
    # the standard error of a share of 20,000 draws is at most 0.0035
    np.testing.assert_allclose(np.bincount(draw((100, 200)).ravel()) / 20_000, [0.1, 0, 0.6, 0.3], atol=0.015)
