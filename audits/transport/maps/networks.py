"""Networks with ReLU layers in NumPy float32: first weights, prediction for everyone, a step of training."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from audits.models.networks.dense import Dense, in_one
from audits.transport.maps.protocol import by_blocks, one_thread

_DECAY, _EPSILON = np.float32(0.9), np.float32(1e-7)  # ρ and ε of RMSProp


def glorot(widths: Sequence[int], rng: np.random.Generator) -> Dense:
    """Draw a float32 network: weights within ±√(6 / (in + out)), biases 0 (Glorot, Bengio 2010)."""
    weights, biases = [], []
    for above, below in itertools.pairwise(widths):
        bound = np.sqrt(6.0 / (above + below))
        weights.append(rng.uniform(-bound, bound, (above, below)).astype(np.float32))
        biases.append(np.zeros(below, np.float32))
    return Dense(tuple(weights), tuple(biases))


@one_thread()
def predict(net: Dense, x: np.ndarray, *, residual: bool = False) -> np.ndarray:
    """Run a float32 network on the rows of `x` (n, d) in blocks; `residual` adds the rows to its output."""

    def step(rows: np.ndarray) -> np.ndarray:
        moved = net.outputs(rows.astype(np.float32))
        return moved + rows if residual else moved

    return by_blocks(x, step, net.weights[-1].shape[1])


class Trained:
    """A network under training by RMSProp: ``v ← ρ v + (1 − ρ) g²``, ``p ← p − rate · g / (√v + ε)``.

    Attributes
    ----------
    net : Dense
        Trained in place.
    parameters : array (p,)
        All its numbers in one vector, so that a step is a handful of vector operations.
    """

    def __init__(self, net: Dense, rate: float) -> None:
        self.net, self.parameters = in_one(net)
        self._slopes, self._gradient = in_one(net)
        self._rate, self._mean_square = np.float32(rate), np.zeros_like(self.parameters)

    def descend(self, slope: np.ndarray, hidden: tuple[np.ndarray, ...]) -> None:
        """Descend from the loss's `slope` (n, k) at the outputs that ``net.forward`` gave with `hidden`."""
        self.net.parameter_slopes(slope, hidden, self._slopes)
        gradient, square = self._gradient, self._mean_square
        step = gradient * gradient
        step *= np.float32(1) - _DECAY
        square *= _DECAY
        square += step
        np.sqrt(square, out=step)
        step += _EPSILON
        np.divide(gradient, step, out=step)
        step *= self._rate
        self.parameters -= step
