"""Networks with ReLU layers in NumPy float32: prediction for everyone, gradients written out by hand.

All parameters of a network lie in one flat vector, so that an optimiser step is a handful of vector
operations. Training buffers are allocated once; nothing is allocated inside a step.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from audits.transport.maps.protocol import by_blocks, one_thread

__all__ = ["RMSProp", "TrainingNetwork", "glorot", "layers", "predict", "size"]

Layers = list[tuple[np.ndarray, np.ndarray]]


def size(widths: Sequence[int]) -> int:
    """Count the parameters of a network with layers of these `widths`, input and output included."""
    return sum((above + 1) * below for above, below in itertools.pairwise(widths))


def layers(flat: np.ndarray, widths: Sequence[int]) -> Layers:
    """View the flat vector (p,) as weights (in, out) and biases (out,), layer by layer."""
    views, start = [], 0
    for above, below in itertools.pairwise(widths):
        end = start + above * below
        views.append((flat[start:end].reshape(above, below), flat[end : end + below]))
        start = end + below
    return views


def glorot(widths: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Draw parameters (p,) float32: weights within ±√(6 / (in + out)), biases 0 (Glorot, Bengio 2010)."""
    flat = np.zeros(size(widths), dtype=np.float32)
    for weights, _ in layers(flat, widths):
        bound = np.sqrt(6.0 / sum(weights.shape))
        weights[:] = rng.uniform(-bound, bound, weights.shape)
    return flat


@one_thread
def predict(flat: np.ndarray, widths: Sequence[int], x: np.ndarray, *, residual: bool = False) -> np.ndarray:
    """Run the network on the rows of `x` (n, d) in blocks; `residual` adds the rows to its output."""
    views = layers(flat, widths)

    def step(rows: np.ndarray) -> np.ndarray:
        signal = rows.astype(np.float32)
        for depth, (weights, bias) in enumerate(views):
            signal = signal @ weights
            signal += bias
            if depth < len(views) - 1:
                np.maximum(signal, 0, out=signal)
        return signal + rows if residual else signal

    return by_blocks(x, step, widths[-1])


class RMSProp:
    """RMSProp on one flat vector: ``v ← ρ v + (1 − ρ) g²``, ``p ← p − rate · g / (√v + ε)``."""

    def __init__(
        self, parameters: np.ndarray, rate: float, *, decay: float = 0.9, epsilon: float = 1e-7
    ) -> None:
        self.parameters = parameters
        self.rate, self.decay, self.epsilon = np.float32(rate), np.float32(decay), np.float32(epsilon)
        self.mean_square = np.zeros_like(parameters)
        self._scratch = np.empty_like(parameters)

    def step(self, gradient: np.ndarray) -> None:
        """Descend along `gradient` (p,)."""
        scratch = self._scratch
        np.multiply(gradient, gradient, out=scratch)
        scratch *= np.float32(1) - self.decay
        self.mean_square *= self.decay
        self.mean_square += scratch
        np.sqrt(self.mean_square, out=scratch)
        scratch += self.epsilon
        np.divide(gradient, scratch, out=scratch)
        scratch *= self.rate
        self.parameters -= scratch


class TrainingNetwork:
    """Two hidden ReLU layers and a linear output, with buffers for batches of up to `rows` rows.

    Parameters
    ----------
    flat : array (p,) float32
        Parameters; changed in place by an optimiser.
    widths : (input, hidden, hidden, output)
    rows : int
        Largest batch.
    """

    def __init__(self, flat: np.ndarray, widths: Sequence[int], rows: int) -> None:
        _, first, second, out = widths
        self.flat, self.gradient = flat, np.zeros_like(flat)
        self._layers, self._gradients = layers(flat, widths), layers(self.gradient, widths)
        self._h1, self._h2 = np.empty((rows, first), np.float32), np.empty((rows, second), np.float32)
        self._out = np.empty((rows, out), np.float32)
        self._g1, self._g2 = np.empty_like(self._h1), np.empty_like(self._h2)
        # comparing with an array of zeros runs twice as fast as comparing with the scalar
        self._zeros = np.zeros((rows, max(first, second)), np.float32)
        self._ones = np.ones(rows, np.float32)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Outputs (n, out) for `x` (n, d); a view that the next call overwrites."""
        n = len(x)
        (w1, b1), (w2, b2), (w3, b3) = self._layers
        h1, h2, out = self._h1[:n], self._h2[:n], self._out[:n]
        np.matmul(x, w1, out=h1)
        h1 += b1
        np.maximum(h1, self._zeros[:n, : h1.shape[1]], out=h1)
        np.matmul(h1, w2, out=h2)
        h2 += b2
        np.maximum(h2, self._zeros[:n, : h2.shape[1]], out=h2)
        np.matmul(h2, w3, out=out)
        out += b3
        return out

    def backward(self, x: np.ndarray, slope: np.ndarray) -> None:
        """Fill `gradient` from the loss's `slope` (n, out) at the outputs of ``forward(x)``, just called."""
        g1, g2 = self._hidden_slopes(slope)
        ones, h1, h2 = self._ones[: len(x)], self._h1[: len(x)], self._h2[: len(x)]
        for inputs, slopes, (weights, bias) in zip(
            (x, h1, h2), (g1, g2, slope), self._gradients, strict=True
        ):
            np.matmul(inputs.T, slopes, out=weights)
            np.dot(ones, slopes, out=bias)

    def input_slope(self, slope: np.ndarray) -> np.ndarray:
        """Slope (n, d) of the loss at the inputs of the last ``forward``; `gradient` is left alone."""
        return self._hidden_slopes(slope)[0] @ self._layers[0][0].T

    def _hidden_slopes(self, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = len(slope)
        (_, _), (w2, _), (w3, _) = self._layers
        h1, h2, g1, g2 = self._h1[:n], self._h2[:n], self._g1[:n], self._g2[:n]
        if slope.shape[1] == 1:
            np.multiply(slope, w3.T, out=g2)
        else:
            np.matmul(slope, w3.T, out=g2)
        g2 *= h2 > 0
        np.matmul(g2, w2.T, out=g1)
        g1 *= h1 > 0
        return g1, g2
