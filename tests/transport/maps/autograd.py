"""The GAN again in plain autograd torch, for its losses to be held against ours."""

from __future__ import annotations

import numpy as np

from audits.models.networks.dense import Dense
from audits.transport.maps import GanOptions
from audits.transport.maps.wgan import Wgan


class TorchTwin:
    """The same WGAN in plain autograd torch: modules, ``backward()``, ``torch.optim.RMSprop``, l1_squared."""

    def __init__(self, gan: Wgan, *, rate: float, clip: float, transport_weight: float) -> None:
        import torch

        self.torch, self.clip, self.transport_weight = torch, clip, transport_weight
        self.generator, self.critic = self._module(gan.generator), self._module(gan.critic)
        settings = {"lr": rate, "alpha": 0.9, "eps": 1e-7}
        self.descend_generator = torch.optim.RMSprop(self.generator.parameters(), **settings)
        self.descend_critic = torch.optim.RMSprop(self.critic.parameters(), **settings)

    def _module(self, net: Dense):
        nn = self.torch.nn
        linear = [nn.Linear(*weights.shape) for weights in net.weights]
        with self.torch.no_grad():
            for layer, weights, bias in zip(linear, net.weights, net.biases, strict=True):
                layer.weight.copy_(self.torch.from_numpy(weights.T.copy()))
                layer.bias.copy_(self.torch.from_numpy(bias.copy()))
        return nn.Sequential(linear[0], nn.ReLU(), linear[1], nn.ReLU(), linear[2])

    def critic_step(self, real: np.ndarray, source: np.ndarray) -> float:
        """One critic step: two updates, then clipping."""
        with self.torch.no_grad():
            generated = self.generator(self.torch.from_numpy(source))
        scores = []
        for people, sign in ((self.torch.from_numpy(real), 1), (generated, -1)):
            self.descend_critic.zero_grad()
            score = self.critic(people).mean()
            (sign * score).backward()
            self.descend_critic.step()
            scores.append(score.item())
        with self.torch.no_grad():
            for parameter in self.critic.parameters():
                parameter.clamp_(-self.clip, self.clip)
        return scores[0] - scores[1]

    def generator_step(self, x: np.ndarray) -> float:
        """One generator step."""
        people = self.torch.from_numpy(x)
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
