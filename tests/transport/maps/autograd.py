"""The GAN's passes against the same loop in plain autograd torch: ``python -m benchmarks.maps [PASSES]``."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from audits.models.networks.dense import Dense
from audits.threads import one_torch_thread
from audits.transport.maps import GanOptions
from audits.transport.maps.wgan import Wgan
from benchmarks.measuring import Taken, line, taken
from tests.transport.published import lipton_hiring


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


def main(passes: int = 1000) -> None:
    """Measure in ten turns, so that both see the same load of the machine; print the fastest of each."""
    women, men = (people.astype(np.float32) for people in lipton_hiring(10_000))
    rng, turns = np.random.default_rng(0), 10
    gan, twin = players(2)
    found: dict[Wgan | TorchTwin, list[Taken]] = {gan: [], twin: []}

    def drawn(people: np.ndarray, *shape: int) -> np.ndarray:
        return people[rng.integers(0, len(people), shape)]

    def losses(player: Wgan | TorchTwin, batches: list[tuple[np.ndarray, ...]]) -> list[list[float]]:
        return [one_pass(player, *each) for each in batches]

    with threadpool_limits(1), one_torch_thread():
        for _ in range(turns):
            batches = [
                (drawn(women, 5, 64), drawn(men, 5, 64), drawn(women, 64)) for _ in range(passes // turns)
            ]
            for player, each in found.items():
                each.append(taken(partial(losses, player, batches)))
    apart = np.abs(np.array(found[gan][0].result) - found[twin][0].result)[:50].max()
    ours, theirs = (min(each, key=lambda one: one.seconds) for each in found.values())
    note = f"wanted .4; in the first 50 passes losses differ by {apart:.1e} at most"
    print(line(f"{passes // turns:,} passes of the GAN, 2-D, batch 64, one thread", ours, theirs, note))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
