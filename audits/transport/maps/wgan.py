"""The two players of FlipTest's Wasserstein GAN and their steps, with gradients written out by hand.

Equation 1 of the paper: the generator G lowers ``mean D(G(x)) + λ mean c(x, G(x))`` and the critic D lowers
``mean D(x') − mean D(G(x))``, so the critic scores real people of the target group low and generated ones
high. (The public code has the opposite sign on both, which is the same game.)

By hand, since a pass takes 2 ms of processor time so and 9.5 ms by torch (batches of 64, two hidden
layers of 128), and there are 20,001 of them.
"""

from __future__ import annotations

import numpy as np

from audits.models.networks.dense import Dense
from audits.transport.maps.networks import Trained, glorot, predict
from audits.transport.maps.options import GanOptions


def moving_cost(
    x: np.ndarray, z: np.ndarray, cost: str, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cost (n,) of moving `x` to `z` (n, d), and its slope (n, d) at `z`; the slope at a kink is 0."""
    gap = z - x
    if cost in ("l2_squared", "l2"):
        pull = gap * weights
        square = np.einsum("nd,nd->n", gap, pull)
        if cost == "l2_squared":
            return square, 2 * pull
        distance = np.sqrt(square)
        return distance, pull / np.where(distance > 0, distance, 1)[:, None]
    pull = np.sign(gap) * weights
    distance = np.einsum("nd,nd->n", gap, pull)
    if cost == "l1":
        return distance, pull
    pull *= 2 * distance[:, None]
    return distance * distance, pull


class Wgan:
    """Generator and critic under training.

    Parameters
    ----------
    weights : array (d,)
        Of the features in the cost.
    options : GanOptions
    rng : Generator
        Draws the initial parameters, the generator's first.
    """

    def __init__(self, weights: np.ndarray, options: GanOptions, rng: np.random.Generator) -> None:
        features, width = len(weights), options.width
        self._generator, self._critic = (
            Trained(glorot((features, width, width, outputs), rng), options.learning_rate)
            for outputs in (features, 1)
        )
        self._transport_weight, self._clip = np.float32(options.transport_weight), np.float32(options.clip)
        self._cost, self._residual = options.cost, options.residual
        self._weights = weights.astype(np.float32)
        self._up = np.full((options.batch, 1), 1 / options.batch, np.float32)

    @property
    def generator(self) -> Dense:
        """The generator, float32; trained in place."""
        return self._generator.net

    @property
    def critic(self) -> Dense:
        """The critic, float32; trained in place."""
        return self._critic.net

    def counterparts(self, x: np.ndarray) -> np.ndarray:
        """G(x) (n, d) float64 for any number of people."""
        return predict(self.generator, x, residual=self._residual)

    def generate(self, x: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """G(x) (n, d) float32 for a batch or a few, and what a step needs of how it came about."""
        out, hidden = self.generator.forward(x)
        return (out + x if self._residual else out), hidden

    def critic_step(self, real: np.ndarray, generated: np.ndarray) -> float:
        """Update on the real batch, update on the generated one, clip; return the critic's loss."""
        score_real = self._critic_update(real, self._up)
        score_generated = self._critic_update(generated, -self._up)
        np.clip(self._critic.parameters, -self._clip, self._clip, out=self._critic.parameters)
        return score_real - score_generated

    def _critic_update(self, people: np.ndarray, slope: np.ndarray) -> float:
        scores, hidden = self.critic.forward(people)
        self._critic.descend(slope, hidden)
        return _mean(scores)

    def generator_step(self, x: np.ndarray) -> float:
        """Update the generator on the source batch `x`; return its loss."""
        z, hidden = self.generate(x)
        scores, of_critic = self.critic.forward(z)
        cost, slope = moving_cost(x, z, self._cost, self._weights)
        slope *= self._transport_weight / np.float32(len(x))
        slope += self.critic.backward(self._up, of_critic)
        self._generator.descend(slope, hidden)
        return _mean(scores) + float(self._transport_weight) * _mean(cost)


def _mean(values: np.ndarray) -> float:
    return float(np.add.reduce(values, axis=None)) / len(values)
