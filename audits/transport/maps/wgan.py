"""The two players of FlipTest's Wasserstein GAN and their steps, with gradients written out by hand.

Equation 1 of the paper: the generator G lowers ``mean D(G(x)) + λ mean c(x, G(x))`` and the critic D lowers
``mean D(x') − mean D(G(x))``, so the critic scores real people of the target group low and generated ones
high. (The public code has the opposite sign on both, which is the same game.)

By hand, since a pass takes 2 ms of processor time so and 9.5 ms by torch (batches of 64, two hidden
layers of 128), and there are 20,001 of them.
"""

from __future__ import annotations

import numpy as np

from audits.transport.maps.networks import RMSProp, TrainingNetwork, glorot, predict
from audits.transport.maps.options import GanOptions

__all__ = ["Wgan", "moving_cost"]


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
        features, width, batch = len(weights), options.width, options.batch
        self.widths = (features, width, width, features)
        critic_widths = (features, width, width, 1)
        self._generator = TrainingNetwork(glorot(self.widths, rng), self.widths, batch * options.critic_steps)
        self._critic = TrainingNetwork(glorot(critic_widths, rng), critic_widths, batch)
        self._descend_generator = RMSProp(self._generator.flat, options.learning_rate)
        self._descend_critic = RMSProp(self._critic.flat, options.learning_rate)
        self._transport_weight, self._clip = np.float32(options.transport_weight), np.float32(options.clip)
        self._cost, self._residual = options.cost, options.residual
        self._weights = weights.astype(np.float32)
        self._up = np.full((batch, 1), 1 / batch, np.float32)
        self._down = -self._up

    @property
    def generator(self) -> np.ndarray:
        """Parameters of the generator (p,) float32; trained in place."""
        return self._generator.flat

    @property
    def critic(self) -> np.ndarray:
        """Parameters of the critic (q,) float32; trained in place."""
        return self._critic.flat

    def counterparts(self, x: np.ndarray) -> np.ndarray:
        """G(x) (n, d) float64 for any number of people."""
        return predict(self.generator, self.widths, x, residual=self._residual)

    def generate(self, x: np.ndarray) -> np.ndarray:
        """G(x) (n, d) float32 for at most `critic_steps` batches; overwritten by the next call."""
        out = self._generator.forward(x)
        if self._residual:
            out += x
        return out

    def critic_step(self, real: np.ndarray, generated: np.ndarray) -> float:
        """Update on the real batch, update on the generated one, clip; return the critic's loss."""
        score_real = self._critic_update(real, self._up)
        score_generated = self._critic_update(generated, self._down)
        np.clip(self.critic, -self._clip, self._clip, out=self.critic)
        return score_real - score_generated

    def _critic_update(self, people: np.ndarray, slope: np.ndarray) -> float:
        score = float(np.add.reduce(self._critic.forward(people), axis=None)) / len(people)
        self._critic.backward(people, slope)
        self._descend_critic.step(self._critic.gradient)
        return score

    def generator_step(self, x: np.ndarray) -> float:
        """Update the generator on the source batch `x`; return its loss."""
        z = self.generate(x)
        score = float(np.add.reduce(self._critic.forward(z), axis=None)) / len(x)
        cost, slope = moving_cost(x, z, self._cost, self._weights)
        loss = score + float(self._transport_weight) * float(np.add.reduce(cost)) / len(x)
        slope *= self._transport_weight / np.float32(len(x))
        slope += self._critic.input_slope(self._up)
        self._generator.backward(x, slope)
        self._descend_generator.step(self._generator.gradient)
        return loss
